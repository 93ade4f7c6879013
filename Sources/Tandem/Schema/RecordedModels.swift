import BigInt
import Foundation
import Synchronization

/// The definitions of the models that a store records, without their Swift types.
///
/// They stand in for the definitions that `@Model` generates, so all code below the typed API works with them. The
/// record lacks defaults and the cases of enums: a new object needs all values that can't be nil, and a property of an
/// enum takes any raw value.
enum RecordedModels {
    /// Returns the definitions of all models of a record.
    static func definitions(_ record: SchemaRecord) -> [ModelDefinition] {
        let targets = RecordedTargets(Set(record.models.map(\.name)))
        let definitions = record.models.map { model in
            ModelDefinition(
                recorded: model.name, table: model.table, wireName: model.wireName ?? model.table,
                localOnly: model.isLocalOnly, indexes: model.indexes,
                properties: model.properties.map { property in
                    var property = property
                    // Texts without valid keys are read, sorted and compared as plain texts.
                    if !model.hasValidKeys { property.folding = .none }
                    return RecordedProperty(property: property, targets: targets).definition
                })
        }
        targets.resolve(definitions)
        return definitions
    }
}

/// The targets of the references of recorded models, by name. It does not retain the definitions, which retain it.
final class RecordedTargets: Sendable {
    private struct Weak {
        weak var definition: ModelDefinition?
    }

    private let names: Set<String>
    private let definitions = Mutex<[String: Weak]>([:])

    init(_ names: Set<String>) {
        self.names = names
    }

    func resolve(_ all: [ModelDefinition]) {
        definitions.withLock { definitions in
            for definition in all { definitions[definition.name] = Weak(definition: definition) }
        }
    }

    /// Returns the target with a name, or `nil` if the store has no such model.
    func target(_ name: String) -> ModelTarget? {
        guard names.contains(name) else { return nil }
        return .named(name) {
            self.definitions.withLock { $0[name]?.definition }
                // The store that the definitions belong to no longer exists.
                ?? ModelDefinition(
                    recorded: name, table: name, wireName: name, localOnly: false, indexes: [], properties: [])
        }
    }
}

/// The definition of a recorded property.
private struct RecordedProperty {
    let property: SchemaRecord.Property
    let targets: RecordedTargets

    var definition: PropertyDefinition {
        switch property.kind {
        case .bool: stored(Bool.self)
        case .integer(let bits, let isSigned): integer(bits: bits, isSigned: isSigned)
        case .unsigned64: stored(UInt64.self)
        case .double: stored(Double.self)
        case .float: stored(Float.self)
        case .string: stored(String.self)
        case .data: stored(Data.self)
        case .date: stored(Date.self)
        case .uuid: stored(UUID.self)
        case .url: stored(URL.self)
        case .decimal: stored(Decimal.self)
        case .bigInt: stored(BigInt.self)
        case .bigUInt: stored(BigUInt.self)
        case .attachment: stored(Attachment.self)
        case .collection(let name): collection(name)
        case .json: coded(OpaqueJSON.codec(property.kind))
        case .reference(let name): coded(RecordedReference.codec(property.kind, target: targets.target(name)))
        case .references(let name): coded(RecordedReference.listCodec(property.kind, target: targets.target(name)))
        }
    }

    private func collection(_ name: String) -> PropertyDefinition {
        guard let type = RecordedType.named(name) else { return coded(OpaqueJSON.codec(property.kind)) }
        return stored(type)
    }

    private func integer(bits: Int, isSigned: Bool) -> PropertyDefinition {
        switch (bits, isSigned) {
        case (8, true): stored(Int8.self)
        case (16, true): stored(Int16.self)
        case (32, true): stored(Int32.self)
        case (8, false): stored(UInt8.self)
        case (16, false): stored(UInt16.self)
        case (32, false): stored(UInt32.self)
        default: stored(Int64.self)
        }
    }

    private func stored<T: PropertyValue>(_ type: T.Type) -> PropertyDefinition { coded(Codec.of(type)) }

    private func coded<T>(_ codec: Codec<T>) -> PropertyDefinition {
        property.isOptional ? make(codec.optional()) : make(codec)
    }

    private func make<T>(_ codec: Codec<T>) -> PropertyDefinition {
        PropertyDefinition(
            property.name, codec: codec, column: property.column, wireName: property.wireName ?? property.name,
            folding: property.folding, indexed: property.isIndexed, unique: property.isUnique,
            foldedUnique: property.isUniqueFolded ?? false, localOnly: property.isLocalOnly,
            onDelete: property.deleteRule ?? .nullify)
    }
}

/// The Swift types of collections, by the names in ``PropertyKind/collection(_:)``.
enum RecordedType {
    /// Returns the type with a name, or `nil` if it is not a type of this version of Tandem.
    static func named(_ name: String) -> (any PropertyValue.Type)? { named(name, depth: 0) }

    /// - Parameter depth: The number of types around this one. The name in a damaged file may have any number.
    private static func named(_ name: String, depth: Int) -> (any PropertyValue.Type)? {
        guard depth <= ExactJSON.maximumDepth else { return nil }
        if let inner = wrapped(name, prefix: "Set<", suffix: ">") {
            return named(inner, depth: depth + 1).map { set(of: $0) }
        }
        if let inner = wrapped(name, prefix: "[String: ", suffix: "]") {
            return named(inner, depth: depth + 1).map { dictionary(of: $0) }
        }
        if let inner = wrapped(name, prefix: "[", suffix: "]") {
            return named(inner, depth: depth + 1).map { array(of: $0) }
        }
        return plain[name]
    }

    /// Returns the type of the elements of an array or a set, or `nil` for other types.
    static func elements(of name: String) -> (any PropertyValue.Type)? {
        guard wrapped(name, prefix: "[String: ", suffix: "]") == nil else { return nil }
        return (wrapped(name, prefix: "Set<", suffix: ">") ?? wrapped(name, prefix: "[", suffix: "]")).flatMap(
            named(_:))
    }

    private static let plain: [String: any PropertyValue.Type] = {
        let types: [any PropertyValue.Type] = [
            Bool.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self,
            Double.self, Float.self, String.self, Data.self, Date.self, UUID.self, URL.self, Decimal.self, BigInt.self,
            BigUInt.self, Attachment.self,
        ]
        return Dictionary(types.map { ($0.__kind.description, $0) }, uniquingKeysWith: { first, _ in first })
    }()

    private static func wrapped(_ name: String, prefix: String, suffix: String) -> String? {
        guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return nil }
        return String(name.dropFirst(prefix.count).dropLast(suffix.count))
    }

    private static func array<T: PropertyValue>(of type: T.Type) -> any PropertyValue.Type { [T].self }
    private static func set<T: PropertyValue>(of type: T.Type) -> any PropertyValue.Type { Set<T>.self }
    private static func dictionary<T: PropertyValue>(of type: T.Type) -> any PropertyValue.Type { [String: T].self }
}

/// The codecs of references to recorded models.
private enum RecordedReference {
    static func codec(_ kind: PropertyKind, target: ModelTarget?) -> Codec<LocalID> {
        Codec(
            kind: kind, isOptional: false, append: { $1.append(text: $0.rawValue) },
            read: { LocalID(try $0.text($1)) },
            fromJSON: { if case .text(let text) = $0 { LocalID(text) } else { nil } }, target: target)
    }

    static func listCodec(_ kind: PropertyKind, target: ModelTarget?) -> Codec<[LocalID]> {
        Codec(
            kind: kind, isOptional: false, append: { $0.map(\.rawValue).__append(to: $1) },
            read: { try [String].__read($0, column: $1).map { LocalID($0) } },
            fromJSON: { [String](__json: $0)?.map { LocalID($0) } }, target: target)
    }
}

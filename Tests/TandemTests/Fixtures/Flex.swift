import BigInt
import Foundation
import Testing

@testable import Tandem

/// Models whose properties are given at run time.
///
/// One test can therefore open a store with several versions of a model. The values are in the stored form.
enum Flex {
    struct Person: FlexModel {
        var values: [StorageValue] = []
        var __state = ObjectState()
        init() {}
    }
    struct Human: FlexModel {
        var values: [StorageValue] = []
        var __state = ObjectState()
        init() {}
    }
    struct Card: FlexModel {
        var values: [StorageValue] = []
        var __state = ObjectState()
        init() {}
    }
    struct Brand: FlexModel {
        var values: [StorageValue] = []
        var __state = ObjectState()
        init() {}
    }

    @TaskLocal static var definitions: [String: ModelDefinition] = [:]
}

/// A model with `==` and `hash` by state. It is never encoded.
protocol FlexModel: Model where Columns == FlexColumns<Self> {
    var values: [StorageValue] { get set }
    init()
}

struct FlexColumns<Root: Model>: ModelColumns {
    init() {}
}

extension FlexModel {
    static var __definition: ModelDefinition { Flex.definitions["\(Self.self)"]! }

    /// Makes an object.
    init(_ values: StorageValue..., id: LocalID) {
        self.init()
        self.values = values
        __state = ObjectState(localID: id)
    }

    init(__row row: RowDecoder) throws {
        self.init()
        __state = try row.state
        values = Self.__definition.properties.indices.map { row.storageValue(row.column($0)) }
    }

    func __append(to row: RowEncoder) {
        for value in values { row.append(value) }
    }

    init(from decoder: any Decoder) throws {
        self.init()
        __state = try ObjectState(from: decoder)
    }

    func encode(to encoder: any Encoder) throws { try __state.encode(to: encoder) }
    static func == (lhs: Self, rhs: Self) -> Bool { lhs.__state == rhs.__state && lhs.values == rhs.values }
    func hash(into hasher: inout Hasher) { hasher.combine(__state) }

    /// Returns a version of the model.
    static func version(
        _ properties: PropertyDefinition..., indexes: [IndexDefinition] = [], table: String? = nil,
        localOnly: Bool = false, formerNames: [String] = []
    ) -> ModelDefinition {
        version(properties, indexes: indexes, table: table, localOnly: localOnly, formerNames: formerNames)
    }

    static func version(
        _ properties: [PropertyDefinition], indexes: [IndexDefinition] = [], table: String? = nil,
        localOnly: Bool = false, formerNames: [String] = []
    ) -> ModelDefinition {
        ModelDefinition(
            Self.self, name: "\(Self.self)", table: table, localOnly: localOnly, formerNames: formerNames,
            indexes: indexes, properties: properties)
    }
}

extension TestFolder {
    /// Opens the folder's store with versions of models, runs a block, and closes it.
    @discardableResult
    func open<T>(
        _ versions: ModelDefinition..., checks: Bool = true, _ body: (Store) throws -> T = { _ in }
    ) throws -> T {
        try open(versions, checks: checks, configure: { _ in }, body)
    }

    /// Opens the folder's store with versions of models and a configuration with migration steps, runs a block, and
    /// closes it.
    @discardableResult
    func migrate<T>(
        _ versions: ModelDefinition..., configure: (inout Store.Configuration) -> Void,
        _ body: (Store) throws -> T = { _ in }
    ) throws -> T {
        try open(versions, checks: true, configure: configure, body)
    }

    private func open<T>(
        _ versions: [ModelDefinition], checks: Bool, configure: (inout Store.Configuration) -> Void,
        _ body: (Store) throws -> T
    ) throws -> T {
        var configuration = Store.Configuration()
        configuration.now = { Date(timeIntervalSinceReferenceDate: 1000) }
        configure(&configuration)
        let definitions = Dictionary(uniqueKeysWithValues: versions.map { ($0.name, $0) })
        return try Flex.$definitions.withValue(definitions) {
            let store = try kind.open(at: file(), versions.compactMap(\.type), configuration: configuration)
            defer { store.close() }
            let result = try body(store)
            if checks { try store.expectSound() }
            return result
        }
    }

    /// Returns the bytes of the store's file, and checks that no other file is beside it.
    func storeBytes() throws -> [String: Data] {
        try contents().filter { $0.key.hasPrefix("store.tandem") }
    }
}

extension Store {
    /// Returns a column's values by the objects' local IDs.
    func column(_ name: String, of table: String) throws -> [String: StorageValue] {
        Dictionary(
            uniqueKeysWithValues: try sql("SELECT \"localID\", \(name.quotedSQL) FROM \(table.quotedSQL)").map {
                ($0[0].string!, $0[1])
            })
    }

    /// Returns all rows of a query, each as its values.
    func rows(_ query: String) throws -> [[StorageValue]] { try sql(query).map(\.values) }
}

extension PropertyDefinition {
    /// Returns a text property.
    static func text(
        _ name: String, column: String? = nil, folding: Folding = .none, indexed: Bool = false, unique: Bool = false,
        localOnly: Bool = false, from formerNames: String..., default text: String? = nil
    ) -> PropertyDefinition {
        let codec: Codec<String> = Codec.of(String.self)
        let makeDefault: (@Sendable () -> String)? = if let text { { text } } else { nil }
        return PropertyDefinition(
            name, codec: codec, column: column, folding: folding, indexed: indexed, unique: unique,
            localOnly: localOnly, formerNames: formerNames, default: makeDefault)
    }

    static func int(_ name: String, default value: Int? = nil) -> PropertyDefinition {
        let codec: Codec<Int> = Codec.of(Int.self)
        let makeDefault: (@Sendable () -> Int)? = if let value { { value } } else { nil }
        return PropertyDefinition(name, codec: codec, default: makeDefault)
    }
}

import Foundation

/// A property of a model: its names, its type and its attributes. Written by `@Model`.
///
/// A class, since who reads or writes an object goes through its properties, and a copy of one would be a copy of all
/// its names and closures.
public final class PropertyDefinition: Sendable {
    /// How a text property is folded.
    public enum Folding: String, Hashable, Sendable, Codable {
        case none
        /// Sorted by its folded twin.
        case sorted
        /// Sorted by its folded twin, and found by `matches`.
        case searched
    }

    /// The property's name in Swift.
    public let name: String
    /// The column's name in the table.
    public let column: String
    /// The property's name on the wire.
    public let wireName: String
    public let kind: PropertyKind
    public let isOptional: Bool
    public let folding: Folding
    public let isIndexed: Bool
    /// Whether two live objects may not have the same value.
    public let isUnique: Bool
    /// Whether the folded texts are compared for that.
    public let isUniqueFolded: Bool
    /// Kept here only: never sent, and its changes make no operation.
    public let isLocalOnly: Bool
    /// Names that the property had in earlier versions of the schema.
    public let formerNames: [String]
    /// What deleting the object referred to does to this one.
    public let deleteRule: DeleteRule
    /// The model that the property links to.
    let target: (@Sendable () -> any Model.Type)?

    /// Appends the default value, if there is one.
    package let appendDefault: (@Sendable (RowBuffer) -> Void)?
    /// Appends a value made from JSON; `false` if it is none of the property's type.
    let appendJSON: @Sendable (JSONNode, RowBuffer) -> Bool
    /// Appends a value of the property's Swift type; `false` if it is none.
    let appendAny: @Sendable (Any, RowBuffer) -> Bool
    /// Which node's own value is the stored form, if one is: of most values no row has to be made.
    let direct: DirectForm?
    /// Reads the column, to check that a stored value is one of the property's type.
    let check: @Sendable (RowReader, Int32) throws -> Void
    /// Whether two stored forms are of equal values, for types with several forms of one value: in the JSON of a
    /// `Codable` value, the elements of a set are in no order. All else has to be the same. `nil` for other types.
    private let equality: (@Sendable (StorageValue, StorageValue) -> Bool)?

    /// Creates a definition. Called by the code that `@Model` writes.
    public init<Value>(
        _ name: String,
        _ codec: Codec<Value>,
        column: String? = nil,
        wireName: String? = nil,
        folding: Folding = .none,
        indexed: Bool = false,
        unique: Bool = false,
        foldedUnique: Bool = false,
        localOnly: Bool = false,
        formerNames: [String] = [],
        onDelete: DeleteRule = .nullify,
        default makeDefault: (@Sendable () -> Value)? = nil
    ) {
        self.name = name
        self.column = column ?? name
        self.wireName = wireName ?? name
        self.kind = codec.kind
        self.isOptional = codec.isOptional
        self.folding = folding
        self.isIndexed = indexed
        self.isUnique = unique
        self.isUniqueFolded = foldedUnique
        self.isLocalOnly = localOnly
        self.formerNames = formerNames
        self.deleteRule = onDelete
        self.target = codec.target
        self.direct = DirectForm(codec)
        if let makeDefault {
            self.appendDefault = { codec.append(makeDefault(), $0) }
        } else if codec.isOptional {
            self.appendDefault = { $0.appendNull() }
        } else {
            self.appendDefault = nil
        }
        self.appendJSON = { node, row in
            guard let value = codec.fromJSON(node) else { return false }
            codec.append(value, row)
            return true
        }
        self.appendAny = { any, row in
            guard let value = any as? Value else { return false }
            codec.append(value, row)
            return true
        }
        self.check = { row, column in _ = try codec.read(row, column) }
        if case .json = codec.kind {
            self.equality = { lhs, rhs in
                // A type's own `==` may leave parts of its values out, and texts are equal in several forms.
                let haveSameElements = ExactJSON.haveSameElements(lhs, rhs)
                guard let lhs = try? BoundRow.reading(lhs, { try codec.read($0, BoundRow.column) }),
                    let rhs = try? BoundRow.reading(rhs, { try codec.read($0, BoundRow.column) })
                else { return false }
                return Self.areEqual(lhs, rhs) && haveSameElements
            }
        } else {
            self.equality = nil
        }
    }

    private static func areEqual(_ lhs: Any, _ rhs: Any) -> Bool {
        func compare<T: Equatable>(_ lhs: T) -> Bool { (rhs as? T) == lhs }
        guard let lhs = lhs as? any Equatable else { return false }
        return compare(lhs)
    }

    /// Whether two stored forms are of one value.
    func isSame(_ lhs: StorageValue, _ rhs: StorageValue) -> Bool {
        lhs == rhs || (equality?(lhs, rhs) ?? false)
    }

    /// Whether one value can have several stored forms.
    var hasSeveralForms: Bool { equality != nil }

    /// The first of some stored forms that is of a value's, else the value's own. Attachments are looked at one by one:
    /// see ``attachments(_:like:)``.
    func form(_ value: StorageValue, like known: StorageValue?...) -> StorageValue {
        if holdsAttachments { return attachments(value, like: known.compactMap(\.self)) }
        guard hasSeveralForms else { return value }
        return known.lazy.compactMap(\.self).first { self.isSame($0, value) } ?? value
    }

    /// The column of the sort twin, the case-folded text.
    var sortColumn: String? { folding == .none ? nil : "__sort_\(column)" }

    /// The column of the search twin, the text folded for `matches`.
    var searchColumn: String? { folding == .searched ? "__search_\(column)" : nil }

    /// The column of a unique property that its index has.
    var uniqueColumn: String { isUniqueFolded ? sortColumn ?? column : column }

    /// Whether the column itself has a unique index.
    var hasUniqueColumn: Bool { isUnique && uniqueColumn == column }

    var isToOne: Bool {
        if case .reference = kind { true } else { false }
    }

    var isToMany: Bool {
        if case .references = kind { true } else { false }
    }
}

/// What a value's stored form and its node have in common.
enum DirectForm {
    case text, integer, bool, real, blob

    /// By the property's type itself: an enum is none of its raw values' type.
    init?<Value>(_ codec: Codec<Value>) {
        let type: Any.Type = Value.self
        if type == String.self || type == String?.self {
            self = .text
        } else if type == Int.self || type == Int?.self || type == Int64.self || type == Int64?.self {
            self = .integer
        } else if type == Bool.self || type == Bool?.self {
            self = .bool
        } else if type == Double.self || type == Double?.self || type == Date.self || type == Date?.self {
            self = .real
        } else if type == Data.self || type == Data?.self {
            self = .blob
        } else if codec.target != nil, case .reference = codec.kind {
            self = .text
        } else {
            return nil
        }
    }

    /// The stored form of a node's value; `nil` if it has to be made.
    func storageValue(of node: JSONNode) -> StorageValue? {
        switch (self, node) {
        case (.text, .text(let text)): .text(text)
        case (.integer, .integer(let value)): .integer(value)
        case (.bool, .bool(let value)): .integer(value ? 1 : 0)
        case (.real, .real(let value)) where !value.isNaN: .real(value)
        case (.blob, .blob(let bytes)): .blob(bytes)
        default: nil
        }
    }
}

/// An index over one or several properties.
public struct IndexDefinition: Hashable, Sendable, Codable {
    /// The properties, by their names in Swift.
    public let properties: [String]
    /// Whether two live objects may not have the same values in all of them.
    public let isUnique: Bool

    public init(_ properties: [String], unique: Bool = false) {
        self.properties = properties
        self.isUnique = unique
    }
}

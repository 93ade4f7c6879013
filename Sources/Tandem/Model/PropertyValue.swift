/// A type that a model's property can have: it is written to a column, and read from one, without change.
///
/// Conforming types: `Bool`, all integers, `Double`, `Float`, `String`, `Data`, `Date`, `UUID`, `URL`, `Decimal`,
/// `BigInt`, `BigUInt`, ``Reference``, and arrays, sets and dictionaries with string keys of these; ``Attachment``, and
/// arrays of it. Besides, a property can be an enum with a raw value of one of these types, any `Codable` value, and an optional of each.
///
/// How each is stored is described in <doc:StorageFormat>.
public protocol PropertyValue: Hashable, Sendable {
    /// What the property is, for the schema.
    static var __kind: PropertyKind { get }

    /// Appends the stored form.
    func __append(to row: RowBuffer)

    /// Reads the stored form of a value that is not nil.
    ///
    /// - Throws: ``InvalidStoredValue`` if the column holds something else.
    static func __read(_ row: RowReader, _ column: Int32) throws -> Self

    /// The value as a node of exact JSON, for collections.
    var __json: JSONNode { get }

    /// Reads a node of JSON: one that ``__json`` made, or the form a person would write (a number or a string).
    /// `nil` if it is no value of this type.
    init?(__json node: JSONNode)
}

/// A column holds what its property's type cannot be read from.
public struct InvalidStoredValue: Error, Sendable {
    /// The column's index in the row.
    public let column: Int32
    /// What is wrong with it.
    public let reason: String

    public init(column: Int32, reason: String) {
        self.column = column
        self.reason = reason
    }
}

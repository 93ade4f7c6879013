/// A type for a model's property, which is written to a column and read back without change.
///
/// Conforming types:
/// - `Bool`, all integers, `Double`, `Float`, `String`, `Data`, `Date`, `UUID`, `URL`, `Decimal`, `BigInt` and
///   `BigUInt`;
/// - ``Reference``, ``Attachment`` and arrays of attachments;
/// - arrays, sets and dictionaries with string keys of these.
///
/// A property can also be an enum with a raw value of one of these types. It can also be any `Codable` value, and an
/// optional of each.
///
/// <doc:StorageFormat> describes how each type is stored.
public protocol PropertyValue: Hashable, Sendable {
    /// The kind of the property in the schema.
    static var __kind: PropertyKind { get }

    /// Appends the stored form of the value.
    func __append(to row: RowEncoder)

    /// Reads the stored form of a value that is not nil.
    ///
    /// - Throws: ``InvalidStoredValue`` if the column holds another kind of value.
    static func __read(_ row: RowDecoder, column: Int32) throws -> Self

    /// The value as a node of exact JSON, for collections.
    var __json: JSONNode { get }

    /// Creates a value from a JSON node. Returns `nil` if the node is not a value of this type.
    ///
    /// The node is a result of ``__json``, or the form that a person would write. The latter is, for example, a number
    /// or a string.
    init?(__json node: JSONNode)
}

/// An error thrown if a column's content can't be read as its property's type.
public struct InvalidStoredValue: Error, Sendable {
    /// The column's index in the row.
    public let column: Int32
    /// The reason, as the second half of a sentence.
    public let reason: String

    /// Creates an error from a column's index and a reason.
    ///
    /// - Parameters:
    ///   - column: The index of the column in its row.
    ///   - reason: The reason, as a part of a sentence.
    public init(column: Int32, reason: String) {
        self.column = column
        self.reason = reason
    }
}

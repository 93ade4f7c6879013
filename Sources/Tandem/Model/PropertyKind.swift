/// The kind of a property, which determines how its column is stored, compared and migrated.
///
/// The store records it by name, so that a change of type is detected when the store is opened.
public enum PropertyKind: Hashable, Sendable, Codable {
    /// A Boolean: INTEGER 0 or 1.
    case bool
    /// An integer of up to 64 bits that fits SQLite's INTEGER.
    case integer(bits: Int, signed: Bool)
    /// An unsigned integer of 64 bits: INTEGER up to 2^63-1, from there on a BLOB of 8 big-endian bytes.
    case unsigned64
    /// A `Double`: REAL, or a BLOB for a NaN.
    case double
    /// A `Float`: REAL, or a BLOB for a NaN.
    case float
    /// A text.
    case string
    /// A sequence of bytes.
    case data
    /// A date: REAL, in seconds since 2001-01-01 00:00:00 UTC.
    case date
    /// A UUID: a BLOB of 16 bytes.
    case uuid
    /// A URL, as text.
    case url
    /// A `Decimal`: a BLOB whose order is that of the numbers.
    case decimal
    /// A `BigInt` or an `Int128`: a BLOB whose order is that of the numbers.
    case bigInt
    /// A `BigUInt` or a `UInt128`: a BLOB whose order is that of the numbers.
    case bigUInt
    /// An array, a set or a dictionary of stored values, as JSON.
    case collection(String)
    /// A `Codable` value, as JSON.
    case json(String)
    /// A reference to an object: its local ID.
    case reference(String)
    /// References to several objects, in order: a JSON array of their local IDs.
    case references(String)
    /// A file beside the store. The row holds its description as JSON.
    case attachment
}

extension PropertyKind: CustomStringConvertible {
    /// The name of the Swift type, for messages.
    public var description: String {
        switch self {
        case .bool: "Bool"
        case .integer(let bits, let signed): "\(signed ? "" : "U")Int\(bits)"
        case .unsigned64: "UInt64"
        case .double: "Double"
        case .float: "Float"
        case .string: "String"
        case .data: "Data"
        case .date: "Date"
        case .uuid: "UUID"
        case .url: "URL"
        case .decimal: "Decimal"
        case .bigInt: "BigInt"
        case .bigUInt: "BigUInt"
        case .collection(let name), .json(let name): name
        case .reference(let model): "Reference<\(model)>"
        case .references(let model): "[Reference<\(model)>]"
        case .attachment: "Attachment"
        }
    }

    /// Returns whether the type's values are stored in the storage class of a value.
    func isStored(as value: StorageValue) -> Bool {
        switch (self, value) {
        case (.bool, .integer), (.integer, .integer), (.unsigned64, .integer), (.unsigned64, .blob): true
        // A NaN and -0.0 are blobs. SQLite may return a whole number as an integer.
        case (.double, .real), (.double, .integer), (.double, .blob), (.float, .real), (.float, .integer),
            (.float, .blob), (.date, .real), (.date, .integer), (.date, .blob):
            true
        case (.string, .text), (.url, .text), (.collection, .text), (.json, .text), (.reference, .text),
            (.references, .text), (.attachment, .text):
            true
        case (.data, .blob), (.uuid, .blob), (.decimal, .blob), (.bigInt, .blob), (.bigUInt, .blob): true
        default: false
        }
    }

    /// Whether it is a floating-point number, whose NaN is stored as a BLOB that sorts after all numbers.
    var isFloating: Bool {
        switch self {
        case .double, .float, .date: true
        default: false
        }
    }

    /// Whether values can be long. Long columns come last in a row, so that other columns are read without them.
    var isLong: Bool {
        switch self {
        case .data, .collection, .json, .references, .attachment: true
        default: false
        }
    }
}

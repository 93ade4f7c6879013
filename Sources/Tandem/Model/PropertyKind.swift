/// What a property is, as far as its column is concerned: how it is stored, compared and migrated.
///
/// Kept in the store by name, so that a change of type is noticed when the store is opened.
public enum PropertyKind: Hashable, Sendable, Codable {
    case bool
    /// An integer of up to 64 bits that fits SQLite's INTEGER.
    case integer(bits: Int, signed: Bool)
    /// An unsigned integer of 64 bits: INTEGER up to 2^63-1, from there on a BLOB of 8 big-endian bytes.
    case unsigned64
    case double
    case float
    case string
    case data
    case date
    case uuid
    case url
    case decimal
    case bigInt
    case bigUInt
    /// An array, a set or a dictionary of stored values, as JSON.
    case collection(String)
    /// A `Codable` value, as JSON.
    case json(String)
    /// A reference to one object: its local ID.
    case reference(String)
    /// References to several objects, in order: a JSON array of their local IDs.
    case references(String)
    /// A file that lies beside the store: what the row holds of it, as JSON.
    case attachment
}

extension PropertyKind: CustomStringConvertible {
    /// The Swift type's name, for messages.
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

    /// Whether a value is of a class that the type's values are stored in.
    func isStored(as value: StorageValue) -> Bool {
        switch (self, value) {
        case (.bool, .integer), (.integer, .integer), (.unsigned64, .integer), (.unsigned64, .blob): true
        // A NaN, and -0.0, are blobs; SQLite may hand a whole number over as an integer.
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

    /// Whether a floating-point number, whose NaN is stored as a BLOB that sorts after all numbers.
    var isFloating: Bool {
        switch self {
        case .double, .float, .date: true
        default: false
        }
    }

    /// Whether the values can be long: such columns stand last in a row, so that the others are read without them.
    var isLong: Bool {
        switch self {
        case .data, .collection, .json, .references, .attachment: true
        default: false
        }
    }
}

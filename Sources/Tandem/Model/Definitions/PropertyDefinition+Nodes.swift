import BigInt
import Foundation

// Conversion of a property's values between their stored form and JSON nodes, from which requests are written. See
// ``PropertyValue/__json``.

extension PropertyDefinition {
    /// Returns the node of a stored value. Numbers that are stored as bytes become texts, and dates become seconds
    /// since 2001.
    ///
    /// - Throws: An error if the value does not have this property's type.
    package func node(of value: StorageValue) throws -> JSONNode {
        switch (kind, value) {
        case (_, .null): return .null
        case (.bool, .integer(let value)): return .bool(value != 0)
        case (.integer, .integer(let value)), (.unsigned64, .integer(let value)): return .integer(value)
        case (.unsigned64, .blob(let bytes)) where bytes.count == 8:
            return .text(String(bytes.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }))
        case (.double, .real(let value)), (.float, .real(let value)), (.date, .real(let value)): return .real(value)
        case (.double, .blob), (.float, .blob), (.date, .blob): return .real(.nan)
        case (.string, .text(let text)), (.url, .text(let text)), (.reference, .text(let text)): return .text(text)
        case (.data, .blob(let bytes)): return .blob(bytes)
        case (.uuid, .blob(let bytes)) where bytes.count == 16:
            return .text(UUID(bytes).uuidString.lowercased())
        case (.decimal, .blob(let bytes)):
            return .text(try bytes.withUnsafeBytes { try OrderedDecimal.decode($0) }.description)
        case (.bigInt, .blob(let bytes)):
            return .text(String(try bytes.withUnsafeBytes { try OrderedBigInt.decode($0) }))
        case (.bigUInt, .blob(let bytes)):
            return .text(String(try bytes.withUnsafeBytes { try OrderedBigInt.decodeUnsigned($0) }))
        case (.collection, .text(var text)), (.references, .text(var text)), (.attachment, .text(var text)):
            return try text.withUTF8 { try ExactJSON.parse($0) }
        case (.json, .text(var text)): return try text.withUTF8 { try ExactJSON.parseWire($0) }
        default: throw InvalidEncoding("\(kind)", code: .malformed, problem: "the stored value does not have this type")
        }
    }

    /// Returns the stored form of a node's value, or `nil` if it does not have this property's type.
    ///
    /// - Parameter row: A reusable buffer. Its content is overwritten.
    package func storageValue(of node: JSONNode, by row: RowEncoder = RowEncoder()) -> StorageValue? {
        if let value = inlineEncoding?.storageValue(of: node) { return value }
        row.removeAll()
        guard appendJSON(node, row), row.failure == nil else { return nil }
        return row.value(at: 0)
    }
}

/// The form in which a value's stored form and its JSON node are the same.
enum InlineEncoding {
    case text, integer, bool, real, blob

    /// Creates the form from the property's type itself, because an enum does not have the type of its raw values.
    init?<Value>(_ codec: Codec<Value>) {
        let type: Any.Type = Value.self
        if type == String.self || type == String?.self {
            self = .text
        } else if type == Int64.self || type == Int64?.self {
            self = .integer
        } else if type == Int.self || type == Int?.self {
            // On a watch, a stored value may exceed Int, and must be checked.
            guard Int.bitWidth == Int64.bitWidth else { return nil }
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

    /// Returns the stored form of a node's value, or `nil` if it needs a conversion.
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

extension UUID {
    fileprivate init(_ bytes: [UInt8]) {
        self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}

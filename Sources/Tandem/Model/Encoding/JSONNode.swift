import Foundation

/// A value in a stored collection, as `ExactJSON` writes and reads it.
///
/// Two nodes are equal if their texts are equal. This is stricter than the values' own `==`. `-0.0` differs from `0.0`,
/// and a NaN equals a NaN with the same payload. Strings are compared by their UTF-8 and not by canonical equivalence.
/// An object equals another with the same members in the same order; `ExactJSON.parse(_:)` returns them sorted.
public enum JSONNode: Sendable {
    // No case is `indirect`: the arrays provide the indirection, and boxes would cost an allocation per integer.
    /// JSON's `null`.
    case null
    /// A Boolean.
    case bool(Bool)
    /// An integer of 64 bits.
    case integer(Int64)
    /// A floating-point number.
    case real(Double)
    /// A string.
    case text(String)
    /// A sequence of bytes.
    case blob([UInt8])
    /// An array.
    case array([JSONNode])
    /// An object, with its members in order.
    case object([(key: String, value: JSONNode)])
}

extension JSONNode: Equatable {
    /// Returns whether two values are equal.
    public static func == (lhs: JSONNode, rhs: JSONNode) -> Bool {
        switch (lhs, rhs) {
        case (.null, .null): true
        case (.bool(let lhs), .bool(let rhs)): lhs == rhs
        case (.integer(let lhs), .integer(let rhs)): lhs == rhs
        case (.real(let lhs), .real(let rhs)): lhs.bitPattern == rhs.bitPattern
        case (.text(let lhs), .text(let rhs)): UTF8Order.compare(lhs, rhs) == 0
        case (.blob(let lhs), .blob(let rhs)): lhs == rhs
        case (.array(let lhs), .array(let rhs)): lhs == rhs
        case (.object(let lhs), .object(let rhs)):
            lhs.count == rhs.count
                && zip(lhs, rhs).allSatisfy { UTF8Order.compare($0.key, $1.key) == 0 && $0.value == $1.value }
        default: false
        }
    }
}

extension JSONNode {
    /// The elements of an array; none for `null`; otherwise the node itself.
    package var elements: [JSONNode] {
        switch self {
        case .null: []
        case .array(let nodes): nodes
        default: [self]
        }
    }

    /// The value of an object in the store's own notation, if another program passed it on: a blob, or a number that
    /// JSON can't represent. Any other node is returned unchanged.
    var unmarked: JSONNode {
        guard case .object(let members) = self, members.count == 1, case .text(var text) = members[0].value else {
            return self
        }
        return text.withUTF8 { utf8 in
            switch members[0].key {
            case "$blob": Base64.decode(utf8).map { .blob($0) } ?? self
            case "$real": JSONParser.hexBits(utf8).map { .real(Double(bitPattern: $0)) } ?? self
            default: self
            }
        }
    }

    /// The node with blobs as base64 texts, in which form `JSONDecoder` reads data.
    var blobsAsText: JSONNode {
        switch self {
        case .blob(let bytes): .text(Data(bytes).base64EncodedString())
        case .array(let nodes): .array(nodes.map(\.blobsAsText))
        case .object(let members): .object(members.map { ($0.key, $0.value.blobsAsText) })
        default: self
        }
    }
}

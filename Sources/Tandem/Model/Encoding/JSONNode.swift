/// A value inside a stored collection, as `ExactJSON` writes and reads it.
///
/// Two nodes are equal when they are written alike. This is stricter than the values' own `==`: `-0.0` differs from
/// `0.0`, a NaN equals itself if the payload is the same, and strings are compared by their UTF-8 and not by canonical
/// equivalence. An object equals another one with the same members in the same order; `ExactJSON.parse(_:)` returns
/// them sorted.
public enum JSONNode: Sendable {
    // No case is `indirect`: the arrays are the indirection, and boxes would cost an allocation for every integer.
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
    case array([JSONNode])
    case object([(key: String, value: JSONNode)])
}

extension JSONNode: Equatable {
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
    /// What an object of the store's own notation stands for, where another program has handed it on: a blob or a
    /// number that JSON has no form for. The node itself if it is no such object.
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

    /// The same with blobs as base64, as `JSONDecoder` reads data.
    var blobsAsText: JSONNode {
        switch self {
        case .blob(let bytes):
            var text: [UInt8] = []
            Base64.append(bytes, to: &text)
            return .text(String(decoding: text, as: UTF8.self))
        case .array(let nodes): return .array(nodes.map(\.blobsAsText))
        case .object(let members): return .object(members.map { ($0.key, $0.value.blobsAsText) })
        default: return self
        }
    }
}

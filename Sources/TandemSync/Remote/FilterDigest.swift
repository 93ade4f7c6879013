import Crypto
import Foundation

/// A digest that identifies a stored filter. Two filters have the same digest only if they are written identically.
///
/// The hashed text contains the kind of each part and the length of each text. So different filters have different
/// texts, except for a property and a system property of the same name.
struct FilterDigest {
    private var text: [UInt8] = []

    /// Returns the SHA-256 of a filter, or of an empty text without a filter.
    static func bytes(of filter: RemoteFilter?) -> [UInt8] {
        var digest = FilterDigest()
        if let filter { digest.append(filter) }
        return Array(SHA256.hash(data: digest.text))
    }

    private mutating func append(_ filter: RemoteFilter) {
        switch filter {
        case .constant(let value): append(value ? "true" : "false")
        case .not(let inner):
            append("not")
            append(inner)
        case .all(let parts): append("all", parts: parts)
        case .any(let parts): append("any", parts: parts)
        case .isNull(let member): append("null", member.name)
        case .comparison(let member, let comparison, let value):
            append("compare", member.name, name(of: comparison))
            append(value)
        case .members(let member, let comparison, let other):
            append("members", member.name, name(of: comparison), other.name)
        case .among(let member, let values):
            append("among", member.name, "\(values.count)")
            for value in values { append(value) }
        case .text(let member, let test, let text): append("text", member.name, name(of: test), text)
        }
    }

    private mutating func append(_ kind: String, parts: [RemoteFilter]) {
        append(kind, "\(parts.count)")
        for part in parts { append(part) }
    }

    private mutating func append(_ value: RemoteFilter.Value) {
        switch value {
        case .bool(let value): append("bool", value ? "1" : "0")
        case .integer(let value): append("integer", "\(value)")
        case .real(let value): append("real", "\(value.bitPattern)")
        case .text(let text): append("string", text)
        case .time(let time): append("time", "\(time.seconds)", "\(time.nanoseconds)")
        }
    }

    private mutating func append(_ words: String...) {
        for word in words {
            text += Array("\(word.utf8.count):".utf8)
            text += Array(word.utf8)
        }
    }

    // These names are independent of the cases' names: a renamed case must not change a stored digest.
    private func name(of comparison: RemoteFilter.Comparison) -> String {
        switch comparison {
        case .equal: "=="
        case .notEqual: "!="
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        }
    }

    private func name(of test: RemoteFilter.TextTest) -> String {
        switch test {
        case .prefix: "prefix"
        case .suffix: "suffix"
        case .contains: "contains"
        }
    }
}

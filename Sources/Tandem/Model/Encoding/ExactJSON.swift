import Foundation

/// An encoding of stored collections as JSON text that returns exactly the original values.
///
/// The text is standard JSON, so that SQLite's JSON functions and people can read a stored collection. A value that
/// JSON can't represent is an object with a single key, which begins with a dollar sign:
///
/// | value | text |
/// |---|---|
/// | `.integer(3)` | `3` |
/// | `.real(3)`, `.real(-0.0)` | `3.0`, `-0.0` |
/// | `.real(.infinity)`, `.real(.nan)` | `{"$real":"7ff0000000000000"}`, `{"$real":"7ff8000000000000"}` |
/// | `.blob([1, 2])` | `{"$blob":"AQI="}` |
/// | the key `$blob` of a user | `$$blob` |
///
/// For example:
///
/// ```swift
/// var text: [UInt8] = []
/// try ExactJSON.write(.array([.integer(1), .real(1), .text("é")]), to: &text)  // [1,1.0,"é"]
/// let node = try text.withUnsafeBufferPointer(ExactJSON.parse)
/// ```
///
/// Equal nodes have equal text. There is no white space, keys are sorted by their UTF-8 bytes, and numbers have a
/// single notation. Two collections can therefore be compared by their stored bytes.
///
/// A number with a point or an exponent is a real, any other an integer. Numbers are never rounded silently. An integer
/// beyond `Int64`, which other programs may write, is rejected and does not become a real.
package enum ExactJSON {
    /// The maximum nesting depth of arrays and objects. The notation for blobs and NaNs does not count.
    static let maximumDepth = 128

    /// Appends the text of `node`.
    ///
    /// - Complexity: O(*n*) in the length of the text. An object whose keys are not sorted adds O(*k* log *k*) for its
    ///   *k* keys.
    /// - Throws: ``InvalidEncoding`` if ``parse(_:)`` would not accept the tree's text. The code is `tooDeep` beyond
    ///   ``maximumDepth``, and `duplicateKey` if an object has two members with the same key. `out` is then unchanged.
    static func write(_ node: JSONNode, to out: inout [UInt8]) throws {
        let start = out.count
        do {
            try write(node, depth: 0, to: &out)
        } catch {
            out.removeSubrange(start...)
            throw error
        }
    }

    /// Returns a JSON array of texts.
    static func array(of texts: some Sequence<String>) -> String {
        var bytes: [UInt8] = []
        // An array of texts has no keys and is not too deep, so writing it does not throw.
        try? write(.array(texts.map { .text($0) }), to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the node that `utf8` represents.
    ///
    /// It accepts any JSON text, with white space, and with members in any order. Members are returned sorted by the
    /// UTF-8 bytes of their keys.
    ///
    /// - Complexity: O(*n*) in the length of the text, and O(*k* log *k*) as in ``write(_:to:)``.
    /// - Throws: ``InvalidEncoding`` if the text is not JSON by RFC 8259, including invalid UTF-8 and lone surrogates;
    ///   if it has an unknown key with a single dollar sign; if a number does not fit its type; if an object has a key
    ///   twice; if it is nested deeper than ``maximumDepth``.
    static func parse(_ utf8: UnsafeBufferPointer<UInt8>) throws -> JSONNode {
        var parser = JSONParser(utf8)
        return try parser.parseDocument()
    }

    /// Returns whether two texts of Foundation's encoder differ only in the order of array elements.
    static func haveSameElements(_ lhs: StorageValue, _ rhs: StorageValue) -> Bool {
        func sorted(_ node: JSONNode) -> JSONNode {
            func text(_ node: JSONNode) -> [UInt8] {
                var out: [UInt8] = []
                try? write(node, to: &out)
                return out
            }
            return switch node {
            case .array(let elements):
                .array(
                    elements.map(sorted).map { ($0, text($0)) }
                        .sorted { $0.1.lexicographicallyPrecedes($1.1) }.map(\.0))
            case .object(let members): .object(members.map { ($0.key, sorted($0.value)) })
            default: node
            }
        }
        func form(_ value: StorageValue) -> [UInt8]? {
            guard case .text(var json) = value, let node = json.withUTF8({ try? parseForeign($0) }) else { return nil }
            var out: [UInt8] = []
            return (try? write(sorted(node), to: &out)).map { out }
        }
        guard let lhs = form(lhs), let rhs = form(rhs) else { return false }
        return lhs == rhs
    }

    /// Returns the node of a text that another program has written.
    ///
    /// In such a text a dollar sign has no meaning, and `-0` is a floating-point number. An integer that does not fit
    /// 64 bits becomes the text of its digits. Big integers and decimals can be read from that text.
    static func parseForeign(_ utf8: UnsafeBufferPointer<UInt8>) throws -> JSONNode {
        var parser = JSONParser(utf8, isForeign: true)
        return try parser.parseDocument()
    }

    /// Returns the node of a text from a server, as ``parseForeign(_:)`` does, without losing digits. A number that
    /// `Double` would not return unchanged also becomes the text of its digits.
    ///
    /// - Throws: The errors of ``parse(_:)``, and ``InvalidEncoding`` if a number has more than `maximumDigits`
    ///   characters.
    package static func parseWire(_ utf8: UnsafeBufferPointer<UInt8>, maximumDigits: Int = 10_000) throws -> JSONNode {
        var parser = JSONParser(utf8, isForeign: true, keepsDigits: true, maximumDigits: maximumDigits)
        return try parser.parseDocument()
    }

    /// Appends the text of `node` in the form that ``parseForeign(_:)`` reads: keys are not escaped.
    ///
    /// - Throws: The errors of ``write(_:to:)``.
    package static func writeForeign(_ node: JSONNode, to out: inout [UInt8]) throws {
        try write(node, depth: 0, isForeign: true, to: &out)
    }

    static let dollar = UInt8(ascii: "$")
}

// MARK: - Writing

extension ExactJSON {
    private static func write(
        _ node: JSONNode, depth: Int, isForeign: Bool = false, to out: inout [UInt8]
    ) throws(InvalidEncoding) {
        switch node {
        case .null: append("null", to: &out)
        case .bool(true): append("true", to: &out)
        case .bool(false): append("false", to: &out)
        case .integer(let value): out.append(contentsOf: String(value).utf8)
        case .real(let value): write(value, to: &out)
        case .text(let value): write(value, to: &out)
        case .blob(let bytes):
            append("{\"$blob\":\"", to: &out)
            out.append(contentsOf: Data(bytes).base64EncodedString().utf8)
            append("\"}", to: &out)
        case .array(let elements):
            try checkDepth(depth)
            out.append(UInt8(ascii: "["))
            var isFirst = true
            for element in elements {
                if !isFirst { out.append(UInt8(ascii: ",")) }
                isFirst = false
                try write(element, depth: depth + 1, isForeign: isForeign, to: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .object(let members):
            try checkDepth(depth)
            out.append(UInt8(ascii: "{"))
            var isFirst = true
            for (key, value) in try sorted(members) {
                if !isFirst { out.append(UInt8(ascii: ",")) }
                isFirst = false
                write(key, to: &out, escapingDollar: !isForeign)
                out.append(UInt8(ascii: ":"))
                try write(value, depth: depth + 1, isForeign: isForeign, to: &out)
            }
            out.append(UInt8(ascii: "}"))
        }
    }

    private static func checkDepth(_ depth: Int) throws(InvalidEncoding) {
        guard depth < maximumDepth else {
            throw InvalidEncoding("JSON", code: .tooDeep, problem: "there are more than \(maximumDepth) levels")
        }
    }

    /// Returns `members` sorted by the UTF-8 bytes of their keys, which must be distinct.
    ///
    /// Adding a dollar sign to all keys that begin with a dollar sign does not change the order. So the keys of the
    /// text are sorted as well.
    static func sorted(
        _ members: [(key: String, value: JSONNode)]
    ) throws(InvalidEncoding) -> [(key: String, value: JSONNode)] {
        var members = members
        if !isStrictlyAscending(members) {
            members.sort { UTF8Order.compare($0.key, $1.key) < 0 }
            try checkDistinct(members)
        }
        return members
    }

    /// Throws if sorted members have the same key twice.
    static func checkDistinct(_ sorted: [(key: String, value: JSONNode)]) throws(InvalidEncoding) {
        guard isStrictlyAscending(sorted) else {
            throw InvalidEncoding("JSON", code: .duplicateKey, problem: "an object has the same key twice")
        }
    }

    static func isStrictlyAscending(_ members: [(key: String, value: JSONNode)]) -> Bool {
        for index in members.indices.dropFirst()
        where UTF8Order.compare(members[index - 1].key, members[index].key) >= 0 {
            return false
        }
        return true
    }

    private static func write(_ value: Double, to out: inout [UInt8]) {
        if value.isFinite {
            // The shortest text that reads back as the same value. It always has a point or an exponent.
            out.append(contentsOf: value.description.utf8)
            return
        }
        append("{\"$real\":\"", to: &out)
        for shift in stride(from: 60, through: 0, by: -4) {
            out.append(hexDigit(UInt8(truncatingIfNeeded: value.bitPattern >> UInt64(shift)) & 0xF))
        }
        append("\"}", to: &out)
    }

    private static func write(_ string: String, to out: inout [UInt8], escapingDollar: Bool = false) {
        out.append(UInt8(ascii: "\""))
        var string = string
        string.withUTF8 { utf8 in
            if escapingDollar, utf8.first == dollar { out.append(dollar) }
            var start = 0
            for index in utf8.indices {
                let byte = utf8[index]
                if byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { continue }
                out.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start..<index]))
                start = index + 1
                writeEscaped(byte, to: &out)
            }
            out.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start...]))
        }
        out.append(UInt8(ascii: "\""))
    }

    private static func writeEscaped(_ byte: UInt8, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): out.append(byte)
        case 0x08: out.append(UInt8(ascii: "b"))
        case 0x09: out.append(UInt8(ascii: "t"))
        case 0x0A: out.append(UInt8(ascii: "n"))
        case 0x0C: out.append(UInt8(ascii: "f"))
        case 0x0D: out.append(UInt8(ascii: "r"))
        default:
            append("u00", to: &out)
            out.append(hexDigit(byte >> 4))
            out.append(hexDigit(byte & 0xF))
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + (value - 10)
    }

    private static func append(_ text: StaticString, to out: inout [UInt8]) {
        out.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}

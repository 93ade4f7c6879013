import Foundation
import Tandem

/// A converter of a plain value between its exact node and the wire's node.
///
/// The value is that of a property or of a collection's element.
enum WireElement {
    /// The reason why a value can't be sent.
    struct Problem: Error {
        let message: String

        init(_ message: String) {
            self.message = message
        }
    }

    static func write(_ node: JSONNode, as kind: PropertyKind, fractionDigits: Int) throws(Problem) -> JSONNode {
        switch (kind, node) {
        case (.integer, .integer(let value)), (.unsigned64, .integer(let value)):
            return value.magnitude <= UInt64(WireFormat.greatestNumber) ? node : .text(String(value))
        case (.date, .real(let interval)):
            let date = Date(timeIntervalSinceReferenceDate: interval)
            guard let time = WireTimestamp(date, fractionDigits: fractionDigits) else {
                throw Problem("The date is not in the years 1 to 9999.")
            }
            return .text(time.text)
        case (.double, .real(let value)):
            guard value.isFinite else { throw Problem("JSON has no form for NaN and infinity.") }
            return node
        case (.float, .real(let value)):
            guard value.isFinite else { throw Problem("JSON has no form for NaN and infinity.") }
            // These are the digits of the number as a `Float`: 0.1, and not 0.10000000149011612.
            return .real(Double(Float(value).description) ?? value)
        case (.float, .blob): throw Problem("JSON has no form for NaN and infinity.")
        case (.decimal, .text("NaN")): throw Problem("A decimal that is not a number can't be sent.")
        case (.data, .blob(let bytes)): return .text(Data(bytes).base64EncodedString())
        case (.uuid, .text(let text)): return .text(text.lowercased())
        case (.url, .text(let text)):
            guard !text.utf8.contains(0) else { throw Problem("A URL that is relative to another can't be sent.") }
            return node
        case (.bool, .bool), (.unsigned64, .text), (.string, .text), (.decimal, .text), (.bigInt, .text),
            (.bigUInt, .text), (.reference, .text):
            return node
        case (.attachment, .object): return WireAttachment.write(node)
        default: throw Problem("The stored value is not a valid \(kind).")
        }
    }

    /// Decodes a wire node to the exact node; `nil` if it does not have this kind.
    ///
    /// The property's own type checks whether an integer fits and a text is a URL.
    static func read(_ node: JSONNode, as kind: PropertyKind) -> JSONNode? {
        switch kind {
        case .bool:
            switch node {
            case .bool, .integer(0), .integer(1): node
            default: nil
            }
        case .integer, .unsigned64, .bigInt, .bigUInt: readInteger(node)
        case .double: readReal(node).map { .real($0) }
        case .float: readReal(node).map { Float($0) }.flatMap { $0.isFinite ? .real(Double($0)) : nil }
        case .decimal: readDecimal(node)
        case .string, .url: isText(node) ? node : nil
        case .reference: if case .text(let id) = node, !id.isEmpty { node } else { nil }
        case .uuid: isText(node) ? node : nil
        case .data: if case .text(let text) = node { base64(text).map { .blob($0) } } else { nil }
        case .date:
            if case .text(let text) = node {
                WireTimestamp(text).map { .real($0.date.timeIntervalSinceReferenceDate) }
            } else {
                nil
            }
        case .attachment: WireAttachment.read(node)
        case .collection, .json, .references: nil
        }
    }

    private static func isText(_ node: JSONNode) -> Bool {
        if case .text = node { true } else { false }
    }

    private static func readInteger(_ node: JSONNode) -> JSONNode? {
        switch node {
        case .integer: return node
        case .real(let value): return value == value.rounded() ? node : nil
        case .text(let text):
            let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
            guard !digits.isEmpty, digits.count <= WireFormat.maximumDigits,
                digits.allSatisfy({ (0x30...0x39).contains($0) })
            else { return nil }
            return node
        default: return nil
        }
    }

    /// Decodes a number, or a string of a number. Drops digits that a `Double` does not hold, because servers write
    /// zeros there.
    private static func readReal(_ node: JSONNode) -> Double? {
        switch node {
        case .real(let value): return value
        case .integer(let value): return Double(value)
        case .text(let text):
            guard isNumber(text), let value = Double(text), value.isFinite else { return nil }
            return value
        default: return nil
        }
    }

    private static func readDecimal(_ node: JSONNode) -> JSONNode? {
        let text: String
        switch node {
        case .integer(let value): text = String(value)
        case .real(let value): text = value.description
        case .text(let digits): text = digits
        default: return nil
        }
        // Foundation rounds numbers of more than 38 digits. Past the range of exponents it returns zero, or NaN.
        guard isNumber(text), let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")),
            !value.isNaN, DecimalDigits(value.description) == DecimalDigits(text)
        else { return nil }
        return .text(text)
    }

    /// Returns whether a text is a JSON number within the length limit.
    private static func isNumber(_ text: String) -> Bool {
        guard text.utf8.count <= WireFormat.maximumDigits else { return false }
        var scanner = TimeScanner(text)
        _ = scanner.skip("-")
        guard !scanner.digits().isEmpty else { return false }
        if scanner.skip("."), scanner.digits().isEmpty { return false }
        if scanner.skip("e") || scanner.skip("E") {
            if !scanner.skip("-") { _ = scanner.skip("+") }
            guard !scanner.digits().isEmpty else { return false }
        }
        return scanner.isAtEnd
    }

    /// Base64 with its padding or without.
    private static func base64(_ text: String) -> [UInt8]? {
        let missing = text.utf8.last == UInt8(ascii: "=") ? 0 : (4 - text.utf8.count % 4) % 4
        guard missing < 3 else { return nil }
        let whole = missing == 0 ? text : text + String(repeating: "=", count: missing)
        return Data(base64Encoded: whole).map { Array($0) }
    }
}

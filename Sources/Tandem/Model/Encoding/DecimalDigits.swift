/// The digits of a number's text without leading and trailing zeros, and the position of the point. All notations of a
/// number have equal digits.
package struct DecimalDigits: Equatable {
    private(set) var isNegative = false
    private(set) var digits: [UInt8] = []
    /// The power of ten of the last digit.
    private(set) var exponent = 0

    /// - Parameter text: A number in the notation of JSON or `Double.description`.
    package init(_ text: String) {
        var fractionDigits = 0
        var hasPoint = false
        var power: Substring.UTF8View?
        for (offset, byte) in text.utf8.enumerated() {
            switch byte {
            case UInt8(ascii: "-"): isNegative = true
            case UInt8(ascii: "."): hasPoint = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                digits.append(byte)
                if hasPoint { fractionDigits += 1 }
            default: power = text.utf8.dropFirst(offset + 1)
            }
            if power != nil { break }
        }
        exponent = power.map(Self.exponent) ?? 0
        exponent -= fractionDigits
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent += 1
        }
        digits = Array(digits.drop { $0 == UInt8(ascii: "0") })
        if digits.isEmpty { exponent = 0 }
    }

    /// Returns the exponent after an `e`. An exponent far beyond the range of doubles and decimals is replaced by a
    /// limit. The limit does not occur in their descriptions, so the two differ, and it leaves room to move the point.
    private static func exponent(_ text: Substring.UTF8View) -> Int {
        let limit = 1 << 40
        guard let exponent = Int(String(Substring(text))) else {
            return text.first == UInt8(ascii: "-") ? -limit : limit
        }
        return max(-limit, min(limit, exponent))
    }
}

extension Double {
    /// Returns whether the shortest text of this number has the digits of another text, so that nothing was rounded
    /// away.
    func hasDigits(of text: String) -> Bool {
        DecimalDigits(description) == DecimalDigits(text)
    }
}

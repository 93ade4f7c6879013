/// The digits of a number's text, without the zeros around them, and where the point stands: what two spellings of
/// one number have in common.
package struct DecimalDigits: Equatable {
    private(set) var isNegative = false
    private(set) var digits: [UInt8] = []
    /// The power of ten of the last digit.
    private(set) var exponent = 0

    /// - Parameter text: A number as JSON or `Double.description` writes it.
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
        // An exponent that no integer holds stands in no description of a double, and so makes the two differ.
        exponent = power.map { Int(String(Substring($0))) ?? .max / 2 } ?? 0
        exponent -= fractionDigits
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent += 1
        }
        digits = Array(digits.drop { $0 == UInt8(ascii: "0") })
        if digits.isEmpty { exponent = 0 }
    }
}

extension Double {
    /// Whether the shortest text of this number has the digits of another text: whether nothing was rounded away.
    func hasDigits(of text: String) -> Bool {
        DecimalDigits(description) == DecimalDigits(text)
    }
}

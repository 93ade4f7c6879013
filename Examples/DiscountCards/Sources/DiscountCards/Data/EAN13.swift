/// A card's number under the bar code: twelve digits and a check digit.
struct EAN13: Hashable, Sendable {
    /// All thirteen digits.
    let digits: String

    /// Parses a typed or scanned number. Returns `nil` unless it has thirteen digits and a correct check digit. Spaces
    /// and hyphens between the digits are ignored.
    init?(_ text: String) {
        let digits = text.unicodeScalars.filter { $0 != " " && $0 != "-" }
        let values = digits.compactMap { "0"..."9" ~= $0 ? Int($0.value) - 48 : nil }
        guard digits.count == 13, values.count == 13, Self.checkDigit(of: values.prefix(12)) == values[12] else {
            return nil
        }
        self.digits = values.map(String.init).joined()
    }

    /// Creates a number from twelve digits.
    init(payload: UInt64) {
        precondition(payload < 1_000_000_000_000, "An EAN-13 must have twelve digits and a check digit.")
        let text = String(payload)
        let digits = String(repeating: "0", count: 12 - text.count) + text
        self.digits = digits + String(Self.checkDigit(of: digits.utf8.map { Int($0) - 48 }))
    }

    /// Returns a number for a member's card. Its first digit is 2, which shops use for their own cards. The same seed
    /// gives the same number.
    static func member(seed: UInt64) -> EAN13 {
        EAN13(payload: 200_000_000_000 + seed % 100_000_000_000)
    }

    /// The digits as printed under the bars: 2 012345 678905.
    var printed: String {
        "\(digits.prefix(1)) \(digits.dropFirst().prefix(6)) \(digits.suffix(6))"
    }

    /// Returns the digit that makes the weighted sum a multiple of ten. The weights alternate between 1 and 3 from the
    /// left.
    private static func checkDigit(of digits: some Sequence<Int>) -> Int {
        let sum = digits.enumerated().reduce(0) { $0 + $1.element * ($1.offset.isMultiple(of: 2) ? 1 : 3) }
        return (10 - sum % 10) % 10
    }
}

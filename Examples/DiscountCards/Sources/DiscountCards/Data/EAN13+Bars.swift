extension EAN13 {
    /// The 95 modules of the bar code, from the left: `true` is a bar.
    ///
    /// The patterns are those of ISO/IEC 15420: three guards, and seven modules a digit. The first digit has no bars of
    /// its own. It determines which of the six left digits use set B.
    var modules: [Bool] {
        let values = digits.utf8.map { Int($0) - 48 }
        let parity = Self.parities[values[0]]
        let left = (1...6).flatMap { place in
            let odd = Self.odd[values[place]]
            // Set B is set C from right to left, and set C is set A with bars and spaces exchanged.
            return Self.bits(parity[place - 1] ? String(odd.reversed().map { $0 == "1" ? "0" : "1" }) : odd)
        }
        let right = (7...12).flatMap { place in Self.bits(Self.odd[values[place]]).map { !$0 } }
        return Self.bits("101") + left + Self.bits("01010") + right + Self.bits("101")
    }

    private static func bits(_ text: String) -> [Bool] { text.map { $0 == "1" } }

    /// The patterns of set A.
    private static let odd = [
        "0001101", "0011001", "0010011", "0111101", "0100011", "0110001", "0101111", "0111011", "0110111", "0001011",
    ]

    /// The digits of the left half that use set B, by the first digit.
    private static let parities: [[Bool]] = [
        "000000", "001011", "001101", "001110", "010011", "011001", "011100", "010101", "010110", "011010",
    ].map(bits)
}

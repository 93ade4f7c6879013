/// Names of 32 lower-case hexadecimal digits. Such a name can never be a path, whatever its source.
enum HexName {
    static let length = 32

    static func isOne(_ text: some StringProtocol) -> Bool {
        text.utf8.count == length
            && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= $0 || isLetter($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "f")) ~= byte }

    /// All 16 bytes are random. The first digits of UUIDs are alike, and so would be the subfolders' names.
    static func random(using generator: inout some RandomNumberGenerator) -> String {
        (0..<2).map { _ in
            let digits = String(generator.next(), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

/// The SHA-256 of a file's bytes: 32 bytes, written as 64 hexadecimal digits.
///
/// ```swift
/// if attachment.sha256 == FileDigest(hex: expected) { … }
/// ```
public struct FileDigest: Hashable, Sendable {
    /// The 32 bytes.
    public let bytes: [UInt8]

    /// Creates a digest from 32 bytes. Returns `nil` for any other number of bytes.
    public init?(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
        if self.bytes.count != 32 { return nil }
    }

    /// Creates a digest from 64 hexadecimal digits, in either case. Returns `nil` for any other text.
    public init?(hex: String) {
        let digits = hex.utf8.compactMap { digit -> UInt8? in
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
            default: nil
            }
        }
        guard digits.count == 64, hex.utf8.count == 64 else { return nil }
        bytes = stride(from: 0, to: 64, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// The 64 digits, in lower case.
    public var hex: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

extension FileDigest: CustomStringConvertible {
    /// The 64 digits, in lower case.
    public var description: String { hex }
}

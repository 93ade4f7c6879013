/// The text of a UUID in lower case, as 16 bytes. The order of the bytes is that of the texts.
///
/// All generated IDs have this form, so an ID takes 16 bytes in place of 36.
enum PackedUUID {
    /// The number of bytes of the packed form.
    static let packedCount = 16
    /// The number of bytes of the text.
    static let textCount = 36

    /// The offsets of the hyphens in the text.
    private static let hyphens: (Int, Int, Int, Int) = (8, 13, 18, 23)

    /// Packs a text into 16 bytes.
    ///
    /// - Returns: `false` if the text is not a UUID in lower case. Nothing is written then.
    static func pack(_ text: UnsafeRawBufferPointer, to packed: UnsafeMutableRawPointer) -> Bool {
        guard text.count == textCount, let start = text.baseAddress else { return false }
        let hyphen = UInt8(ascii: "-")
        guard text[hyphens.0] == hyphen, text[hyphens.1] == hyphen, text[hyphens.2] == hyphen,
            text[hyphens.3] == hyphen
        else { return false }
        let words = (
            word(start, at: 0),
            half(start, at: 9) | half(start, at: 14) << 32,
            half(start, at: 19) | half(start, at: 24) << 32,
            word(start, at: 28)
        )
        guard let first = bytes(ofDigits: words.0), let second = bytes(ofDigits: words.1),
            let third = bytes(ofDigits: words.2), let fourth = bytes(ofDigits: words.3)
        else { return false }
        packed.storeBytes(of: first.littleEndian, as: UInt32.self)
        packed.storeBytes(of: second.littleEndian, toByteOffset: 4, as: UInt32.self)
        packed.storeBytes(of: third.littleEndian, toByteOffset: 8, as: UInt32.self)
        packed.storeBytes(of: fourth.littleEndian, toByteOffset: 12, as: UInt32.self)
        return true
    }

    /// Writes the text of 16 packed bytes, which has 36 bytes.
    static func unpack(_ packed: UnsafeRawPointer, to text: UnsafeMutableRawPointer) {
        func digits(at offset: Int) -> UInt64 {
            Self.digits(ofBytes: UInt32(littleEndian: packed.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        }
        func store(_ word: UInt64, at offset: Int) {
            text.storeBytes(of: word.littleEndian, toByteOffset: offset, as: UInt64.self)
        }
        func storeHalf(_ word: UInt64, at offset: Int) {
            text.storeBytes(
                of: UInt32(truncatingIfNeeded: word).littleEndian, toByteOffset: offset, as: UInt32.self)
        }
        let (second, third) = (digits(at: 4), digits(at: 8))
        store(digits(at: 0), at: 0)
        storeHalf(second, at: 9)
        storeHalf(second >> 32, at: 14)
        storeHalf(third, at: 19)
        storeHalf(third >> 32, at: 24)
        store(digits(at: 12), at: 28)
        for offset in [hyphens.0, hyphens.1, hyphens.2, hyphens.3] {
            text.storeBytes(of: UInt8(ascii: "-"), toByteOffset: offset, as: UInt8.self)
        }
    }

    /// Returns the text of 16 packed bytes.
    static func text(_ packed: UnsafeRawPointer) -> String {
        String(unsafeUninitializedCapacity: textCount) {
            unpack(packed, to: UnsafeMutableRawPointer($0.baseAddress.unsafelyUnwrapped))
            return textCount
        }
    }

    /// Returns the text of 128 bits.
    static func text(high: UInt64, low: UInt64) -> String {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { text($0.baseAddress.unsafelyUnwrapped) }
    }

    // MARK: Digits

    private static let low: UInt64 = 0x0F0F_0F0F_0F0F_0F0F
    private static let ones: UInt64 = 0x0101_0101_0101_0101

    @inline(__always)
    private static func word(_ start: UnsafeRawPointer, at offset: Int) -> UInt64 {
        UInt64(littleEndian: start.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    @inline(__always)
    private static func half(_ start: UnsafeRawPointer, at offset: Int) -> UInt64 {
        UInt64(UInt32(littleEndian: start.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    }

    /// Returns the four bytes that eight digits denote, or `nil` if a character is not a digit. All digits are
    /// converted at once, each in its own byte of the word.
    @inline(__always)
    private static func bytes(ofDigits text: UInt64) -> UInt32? {
        let letters = text >> 6 & ones
        let values = text & low &+ letters &* 9
        guard values & ~low == 0, characters(values) == text else { return nil }
        var bytes = (values << 4 | values >> 8) & 0x00FF_00FF_00FF_00FF
        bytes = (bytes | bytes >> 8) & 0x0000_FFFF_0000_FFFF
        return UInt32(truncatingIfNeeded: bytes | bytes >> 16)
    }

    @inline(__always)
    private static func digits(ofBytes bytes: UInt32) -> UInt64 {
        var spread = UInt64(bytes)
        spread = (spread | spread << 16) & 0x0000_FFFF_0000_FFFF
        spread = (spread | spread << 8) & 0x00FF_00FF_00FF_00FF
        return characters((spread >> 4 | spread << 8) & low)
    }

    /// Returns the characters of eight values from 0 to 15.
    @inline(__always)
    private static func characters(_ values: UInt64) -> UInt64 {
        let letters = (values &+ ones &* 6) >> 4 & ones
        return values &+ ones &* 0x30 &+ letters &* 0x27
    }
}

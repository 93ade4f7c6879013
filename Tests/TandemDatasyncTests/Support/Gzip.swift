/// Compressed bytes, encoded independently of the tested decoder.
enum Gzip {
    private static let head: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]

    /// Returns a text in gzip's format.
    static func gzip(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        return head + stored(bytes) + littleEndian(crc(bytes)) + littleEndian(UInt32(bytes.count))
    }

    /// Returns a text in zlib's format, which HTTP calls deflate.
    static func deflate(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        var low: UInt32 = 1
        var high: UInt32 = 0
        for byte in bytes {
            low = (low + UInt32(byte)) % 65521
            high = (high + low) % 65521
        }
        return [0x78, 0x01] + stored(bytes) + littleEndian((high << 16 | low).byteSwapped)
    }

    /// An endless stream: its beginning, and thirteen bytes that may be repeated. Each repetition expands to 2,064
    /// spaces.
    static var bomb: (beginning: [UInt8], period: [UInt8]) {
        // A block of fixed codes: a space, then repeated copies of 258 more spaces.
        var bits = Bits()
        bits.put([1, 1, 0])
        bits.put(code: 0x30 + 0x20, length: 8)
        for _ in 0..<32 {
            bits.put(code: 0b1100_0101, length: 8)
            bits.put(code: 0, length: 5)
        }
        return (head + bits.bytes[..<2], Array(bits.bytes[2..<15]))
    }

    private struct Bits {
        var bytes: [UInt8] = []
        private var used = 8

        mutating func put(_ bits: [UInt8]) {
            for bit in bits {
                if used == 8 {
                    bytes.append(0)
                    used = 0
                }
                bytes[bytes.count - 1] |= bit << used
                used += 1
            }
        }

        /// Appends a Huffman code, highest bit first.
        mutating func put(code: Int, length: Int) {
            put((0..<length).reversed().map { UInt8(code >> $0 & 1) })
        }
    }

    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        let length = UInt16(bytes.count)
        return [1, UInt8(length & 0xFF), UInt8(length >> 8), UInt8(~length & 0xFF), UInt8(~length >> 8)] + bytes
    }

    private static func littleEndian(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
    }
}

/// An uncompressed PNG file, as a generated photograph needs it.
///
/// The format is that of RFC 2083 (PNG). The pixels are in stored blocks of RFC 1951 (deflate), in a stream of RFC 1950
/// (zlib).
struct PNGFile {
    private(set) var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// Encodes a picture.
    ///
    /// - Parameter pixels: Red, green and blue of each pixel, row by row from the top: 3 × width × height bytes.
    init(width: Int, height: Int, pixels: [UInt8]) {
        precondition(
            width > 0 && height > 0 && pixels.count == 3 * width * height, "A picture must have all its pixels.")
        // Eight bits per channel, RGB, the only compression and filter methods of the format, not interlaced.
        append("IHDR", data: Self.bigEndian(width) + Self.bigEndian(height) + [8, 2, 0, 0, 0])
        var rows: [UInt8] = []
        rows.reserveCapacity(pixels.count + height)
        for row in 0..<height {
            rows.append(0)  // not filtered
            rows += pixels[row * 3 * width..<(row + 1) * 3 * width]
        }
        append("IDAT", data: Self.stored(rows))
        append("IEND", data: [])
    }

    private mutating func append(_ type: String, data: [UInt8]) {
        let body = Array(type.utf8) + data
        bytes += Self.bigEndian(data.count) + body + Self.bigEndian(Int(Self.crc(body)))
    }

    private static func bigEndian(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    /// Returns a zlib stream of uncompressed blocks.
    private static func stored(_ data: [UInt8]) -> [UInt8] {
        let limit = 65_535
        var stream: [UInt8] = [0x78, 0x01]
        stream.reserveCapacity(data.count + data.count / limit * 5 + 16)
        var (low, high): (UInt32, UInt32) = (1, 0)
        for start in stride(from: 0, to: data.count, by: limit) {
            let block = data[start..<min(data.count, start + limit)]
            let length = UInt16(block.count)
            stream.append(start + limit >= data.count ? 1 : 0)
            for number in [length, ~length] {
                stream.append(UInt8(truncatingIfNeeded: number))
                stream.append(UInt8(truncatingIfNeeded: number >> 8))
            }
            stream += block
            for byte in block {
                low = (low + UInt32(byte)) % 65_521
                high = (high + low) % 65_521
            }
        }
        return stream + bigEndian(Int(high << 16 | low))
    }

    private static let crcTable: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 0 ? value >> 1 : 0xEDB8_8320 ^ value >> 1 }
    }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { crcTable[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ $0 >> 8 }
    }
}

import Foundation

/// A generator of random and of deliberate damage.
struct Mutator {
    var random: SeededRandom

    private mutating func place(_ count: Int) -> Int { Int.random(in: 0..<max(1, count), using: &random) }

    /// Numbers at the limits of file formats.
    private static let hostile: [[UInt8]] = [
        [0], [1], [0x7F], [0x80], [0xFF], [0, 0], [0xFF, 0xFF], [0x7F, 0xFF], [0x80, 0], [0, 0, 0, 0], [0, 0, 0, 1],
        [0xFF, 0xFF, 0xFF, 0xFF], [0x7F, 0xFF, 0xFF, 0xFF], [0x80, 0, 0, 0], [0, 0, 0x10, 0], [2], [5], [10], [13],
        [0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0], Array(repeating: 0xFF, count: 9),
    ]

    /// Overwrites some bytes and keeps the length.
    mutating func overwrite(_ bytes: inout [UInt8], in range: Range<Int>? = nil) {
        guard !bytes.isEmpty else { return }
        let range = range ?? 0..<bytes.count
        for _ in 0..<Int.random(in: 1...8, using: &random) {
            let start = range.lowerBound + place(range.count)
            switch place(4) {
            case 0: bytes[start] ^= 1 << UInt8(place(8))
            case 1: bytes[start] = UInt8(place(256))
            case 2:
                for (offset, byte) in Self.hostile[place(Self.hostile.count)].enumerated()
                where start + offset < range.upperBound { bytes[start + offset] = byte }
            default:
                let from = range.lowerBound + place(range.count)
                let count = min(place(64) + 1, range.upperBound - max(start, from))
                let piece = Array(bytes[from..<from + count])
                bytes.replaceSubrange(start..<start + count, with: piece)
            }
        }
    }

    /// Returns the file with one random kind of damage.
    mutating func damage(_ good: [UInt8]) -> [UInt8] {
        var bytes = good
        switch place(8) {
        case 0: bytes = Array(bytes.prefix(place(bytes.count)))
        case 1: bytes += (0...place(5000)).map { _ in UInt8(place(256)) }
        case 2:
            let (one, two) = (place(bytes.count), place(bytes.count))
            bytes = Array(bytes[..<one]) + Array(bytes[two...])
        case 3: bytes = (0...place(9000)).map { _ in UInt8(place(256)) }
        case 4: bytes = [UInt8](repeating: 0, count: place(3 * good.count))
        case 5:
            // A range of zeros or of noise, as a file system may leave it.
            let start = place(bytes.count)
            let isNoise = Bool.random(using: &random)
            for index in start..<min(bytes.count, start + 1 + place(4096)) {
                bytes[index] = isNoise ? UInt8(place(256)) : 0
            }
        default: overwrite(&bytes)
        }
        return bytes
    }

    /// Damages the fields of a page that readers rely on: the database's header, a page's header, cell pointers or any
    /// other bytes.
    mutating func spoilPage(_ page: inout [UInt8], number: Int) {
        let start = number == 1 ? 100 : 0
        switch place(5) {
        case 0 where number == 1: overwrite(&page, in: 16..<100)
        case 1: overwrite(&page, in: start..<start + 12)
        case 2: overwrite(&page, in: start + 8..<start + 60)
        case 3:
            // The beginning of a cell: lengths and serial types.
            let cell = Int(page[start + 8]) << 8 | Int(page[start + 9])
            if cell + 12 < page.count { overwrite(&page, in: cell..<cell + 12) } else { overwrite(&page) }
        default: overwrite(&page)
        }
    }
}

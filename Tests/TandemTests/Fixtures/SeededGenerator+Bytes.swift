import Foundation
import TandemTesting

extension SeededGenerator {
    /// Returns a generator with a random seed or that of the environment. It prints the seed with the name of the test.
    static func seeded(_ test: String = #function) -> SeededGenerator {
        let seed = SeededGenerator.seed(from: "TANDEM_SEED")
        print("\(test): TANDEM_SEED=\(seed)")
        return SeededGenerator(seed: seed)
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
    }

    /// Returns damaged bytes: with flipped bits, a lost tail, added bytes or a changed beginning.
    mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...3, using: &self) {
            switch Int.random(in: 0..<5, using: &self) {
            case 0 where !bytes.isEmpty:
                bytes[Int.random(in: bytes.indices, using: &self)] ^= 1 << UInt8.random(in: 0..<8, using: &self)
            case 1: bytes.removeLast(Int.random(in: 0...bytes.count, using: &self))
            case 2: bytes += self.bytes(Int.random(in: 0...4, using: &self))
            case 3 where !bytes.isEmpty: bytes[0] = UInt8.random(in: 0...255, using: &self)
            case 4 where bytes.count > 5:
                for index in 1..<5 { bytes[index] = UInt8.random(in: 0...255, using: &self) }
            default:
                let place = Int.random(in: 0...bytes.count, using: &self)
                bytes.insert(UInt8.random(in: 0...255, using: &self), at: place)
            }
        }
        return bytes
    }
}

/// Compares as SQLite compares blobs: by `memcmp`, then by length.
func blobOrder(_ lhs: [UInt8], _ rhs: [UInt8]) -> Int {
    let order = memcmp(lhs, rhs, min(lhs.count, rhs.count))
    return (order != 0 ? Int(order) : lhs.count - rhs.count).signum()
}

func hex(_ bytes: [UInt8]) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
}

func unhex(_ text: String) -> [UInt8] {
    let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue.map(UInt8.init) }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

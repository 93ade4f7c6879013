import BigInt
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct OrderedBigIntTests {
    @Test(
        arguments: [
            ("0", "80"), ("1", "8101"), ("-1", "7efe"), ("255", "81ff"), ("256", "820100"), ("-255", "7e00"),
            ("-256", "7dfeff"), ("9223372036854775807", "887fffffffffffffff"),
            ("-9223372036854775808", "777fffffffffffffff"), ("9223372036854775808", "888000000000000000"),
            ("-9223372036854775809", "777ffffffffffffffe"), ("18446744073709551615", "88ffffffffffffffff"),
            ("18446744073709551616", "89010000000000000000"), ("-18446744073709551616", "76feffffffffffffffff"),
            ("340282366920938463463374607431768211455", "90ffffffffffffffffffffffffffffffff"),
        ])
    func `the bytes of integers do not change`(decimal: String, expected: String) throws {
        let value = try #require(BigInt(decimal))
        #expect(hex(encode(value)) == expected)
        #expect(try decode(unhex(expected)) == value)
    }

    @Test func `magnitudes of 120 bytes and more have the long form`() throws {
        let short = BigInt(1) << (118 * 8)
        let long = BigInt(1) << (119 * 8)
        let zeros = String(repeating: "00", count: 119)
        #expect(hex(encode(short)) == "f701" + String(repeating: "00", count: 118))
        #expect(hex(encode(long)) == "f80000007801" + zeros)
        #expect(hex(encode(-long)) == "07ffffff87fe" + String(repeating: "ff", count: 119))
        #expect(try decode(encode(long)) == long)
        #expect(try decode(encode(-long)) == -long)
    }

    @Test func `values next to powers of two sort as their encodings do`() throws {
        var values: Set<BigInt> = [0]
        let bits = Array(0...136) + Array(stride(from: 144, through: 880, by: 8)) + Array(928...992)
        for exponent in bits + [8 * 255, 8 * 256, 8 * 257, 8 * 65535, 8 * 65536] {
            for offset in -1...1 {
                values.insert((BigInt(1) << exponent) + BigInt(offset))
                values.insert(-(BigInt(1) << exponent) + BigInt(offset))
            }
        }
        values.insert(BigInt(10).power(10_000))
        values.insert(-BigInt(10).power(10_000))
        let sorted = values.sorted()
        let encoded = sorted.map(encode)
        for (value, bytes) in zip(sorted, encoded) { #expect(try decode(bytes) == value) }
        var wrong = 0
        for i in encoded.indices {
            for j in encoded.indices where blobOrder(encoded[i], encoded[j]) != (i - j).signum() { wrong += 1 }
        }
        #expect(wrong == 0)
    }

    @Test func `random pairs are restored and have the order of their encodings`() throws {
        var random = SeededGenerator.seeded()
        var wrong = 0
        for _ in 0..<(isSoak ? 100_000 : 20_000) {
            let lhs = randomValue(&random)
            let rhs: BigInt
            switch Int.random(in: 0..<4, using: &random) {
            case 0: rhs = -lhs
            case 1: rhs = lhs + BigInt(Int.random(in: -2...2, using: &random))
            default: rhs = randomValue(&random)
            }
            let left = encode(lhs)
            let right = encode(rhs)
            let order = lhs < rhs ? -1 : lhs == rhs ? 0 : 1
            if blobOrder(left, right) != order { wrong += 1 }
            if try decode(left) != lhs { wrong += 1 }
        }
        #expect(wrong == 0)
    }

    @Test func `sorting encodings sorts values`() throws {
        var random = SeededGenerator.seeded()
        let values = (0..<20_000).map { _ in randomValue(&random) }
        let byBytes = try values.map(encode).sorted { blobOrder($0, $1) < 0 }.map(decode)
        #expect(byBytes == values.sorted())
    }

    @Test func `no encoding is a prefix of another one`() throws {
        var random = SeededGenerator.seeded()
        let encoded = Set((0..<20_000).map { _ in encode(randomValue(&random)) }).sorted { blobOrder($0, $1) < 0 }
        // In sorted order, a prefix comes right before the value that begins with it.
        let count = zip(encoded, encoded.dropFirst()).filter { $1.starts(with: $0) }.count
        #expect(count == 0)
    }

    @Test func `each Int64 is restored`() throws {
        var random = SeededGenerator.seeded()
        let corners: [Int64] = [0, 1, -1, .max, .min, .max - 1, .min + 1, 255, 256, -255, -256, 65535, 65536]
        let values =
            corners
            + (0..<20_000).map { _ in
                Int64.random(in: .min ... .max, using: &random) >> Int64.random(in: 0..<64, using: &random)
            }
        for value in values { #expect(try decode(encode(BigInt(value))) == BigInt(value)) }
    }

    @Test func `a BigUInt has the bytes of the BigInt`() throws {
        var random = SeededGenerator.seeded()
        for _ in 0..<5_000 {
            let value = randomValue(&random).magnitude
            var bytes: [UInt8] = []
            OrderedBigInt.append(value, to: &bytes)
            #expect(bytes == encode(BigInt(value)))
            #expect(try bytes.withUnsafeBytes(OrderedBigInt.decodeUnsigned) == value)
        }
    }

    @Test func `a negative encoding is not a BigUInt`() {
        for value in [BigInt(-1), BigInt(Int64.min), -(BigInt(1) << 2000)] {
            let bytes = encode(value)
            #expect { try bytes.withUnsafeBytes(OrderedBigInt.decodeUnsigned) } throws: {
                ($0 as? InvalidEncoding)?.code == .outOfRange
            }
        }
    }

    @Test func `zero with a minus sign is zero`() {
        var value = BigInt(0)
        value.sign = .minus
        #expect(hex(encode(value)) == "80")
    }

    @Test func `an encoding is appended to the existing bytes`() {
        var bytes: [UInt8] = [1, 2, 3]
        OrderedBigInt.append(BigInt(-256), to: &bytes)
        #expect(hex(bytes) == "0102037dfeff")
    }

    @Test(
        arguments: [
            ("", .truncated), ("7f", .notCanonical), ("8100", .notCanonical), ("7eff", .notCanonical),
            ("820001", .notCanonical), ("81", .truncated), ("8000", .trailingBytes), ("810100", .trailingBytes),
            ("f9", .malformed), ("ff", .malformed), ("00", .malformed), ("06", .malformed), ("f8", .truncated),
            ("f8000000", .truncated), ("f80000000101", .notCanonical), ("f8ffffffff01", .truncated),
            ("0700000000fe", .truncated), ("f800000000", .notCanonical),
        ] as [(String, InvalidEncoding.Code)])
    func `bytes that are not the encoding of an integer are refused`(bytes: String, code: InvalidEncoding.Code) {
        #expect { try decode(unhex(bytes)) } throws: { ($0 as? InvalidEncoding)?.code == code }
    }

    @Test func `random bytes are refused or are the encoding of the decoded value`() throws {
        var random = SeededGenerator.seeded()
        for round in 0..<(isSoak ? 100_000 : 20_000) {
            let bytes =
                round % 4 == 0
                ? random.bytes(Int.random(in: 0...24, using: &random)) : random.damaged(encode(randomValue(&random)))
            do {
                let value = try decode(bytes)
                #expect(encode(value) == bytes)
            } catch is InvalidEncoding {}
            do {
                let value = try bytes.withUnsafeBytes(OrderedBigInt.decodeUnsigned)
                #expect(encode(BigInt(value)) == bytes)
            } catch is InvalidEncoding {}
        }
    }

    private func encode(_ value: BigInt) -> [UInt8] {
        var bytes: [UInt8] = []
        OrderedBigInt.append(value, to: &bytes)
        return bytes
    }

    private func decode(_ bytes: [UInt8]) throws -> BigInt {
        try bytes.withUnsafeBytes(OrderedBigInt.decode)
    }

    private func randomValue(_ random: inout SeededGenerator) -> BigInt {
        let bits =
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<70: Int.random(in: 0...136, using: &random)
            case 70..<85: Int.random(in: 137...928, using: &random)
            case 85..<97: Int.random(in: 118 * 8 - 9...122 * 8, using: &random)
            case 97..<99: Int.random(in: 977...8_000, using: &random)
            default: Int.random(in: 0..<100, using: &random) == 0 ? 33_219 : 64
            }
        let magnitude = BigUInt.randomInteger(withMaximumWidth: bits, using: &random)
        return BigInt(sign: Bool.random(using: &random) ? .plus : .minus, magnitude: magnitude)
    }
}

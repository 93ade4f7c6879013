import BigInt
import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct OrderedDecimalTests {
    @Test(
        arguments: [
            ("0", "80"), ("1", "818014"), ("-1", "7e7feb"), ("12.50", "81811964"), ("-12.5", "7e7ee69b"),
            ("0.01", "817e14"), ("100", "818214"), ("123", "8182193c"), ("99.99", "8181c7c6"), ("1e-128", "810014"),
            ("340282366920938463463374607431768211455e127", "82254505a5498b29bba97f5d439579953f99a5175b64"),
        ])
    func `the bytes of decimals do not change`(decimal: String, expected: String) throws {
        let value = try #require(Decimal(string: decimal))
        #expect(hex(encode(value)) == expected)
        #expect(try decode(unhex(expected)) == value)
    }

    @Test func `a value that is not a number is restored and sorts after all numbers`() throws {
        #expect(hex(encode(.nan)) == "ff")
        #expect(try decode([0xFF]).isNaN)
        #expect(blobOrder(encode(.nan), encode(.greatestFiniteMagnitude)) > 0)
    }

    @Test func `extreme values are restored`() throws {
        let values: [Decimal] = [
            .greatestFiniteMagnitude, .leastFiniteMagnitude, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .pi,
            .leastNormalMagnitude, Decimal(UInt64.max), Decimal(Int64.min), Decimal(),
        ]
        for value in values {
            let decoded = try decode(encode(value))
            #expect(decoded == value)
            #expect(decoded.description == value.description)
        }
    }

    @Test func `equal decimals have equal bytes, with any trailing zeros`() throws {
        let bytes = encode(Decimal(1))
        var power: UInt64 = 1
        for zeros in 0..<19 {
            let value = DecimalParts(isNegative: false, exponent: -zeros, high: 0, low: power).decimal(isCompact: false)
            #expect(value == 1)
            #expect(encode(value) == bytes)
            power *= 10
        }
    }

    @Test func `the memory of a decimal has the known layout on Linux`() {
        #if os(Linux)
            // Stored bytes do not depend on the layout. If this fails, Foundation has changed and decimals have become
            // slow.
            #expect(DecimalParts.layoutIsKnown)
        #endif
    }

    @Test func `a decimal has the same parts in memory and in its description`() throws {
        var random = SeededGenerator.seeded()
        for _ in 0..<3_000 {
            let parts = randomParts(&random)
            guard !parts.isZero else { continue }
            let value = parts.decimal(isCompact: false)
            #expect(DecimalParts(memoryOf: value) == parts)
            #expect(DecimalParts(descriptionOf: value) == parts)
            #expect(parts.decimalFromText() == value)
        }
    }

    @Test func `random pairs are restored and have the order of their encodings`() throws {
        var random = SeededGenerator.seeded()
        var wrong: [String] = []
        for _ in 0..<(isSoak ? 100_000 : 20_000) {
            let lhs = randomParts(&random)
            var rhs = randomParts(&random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                rhs = lhs
                rhs.low = max(1, lhs.low) &+ UInt64.random(in: 0...2, using: &random) &- 1
            case 1: rhs.exponent = max(-128, min(127, lhs.exponent + Int.random(in: -2...2, using: &random)))
            default: break
            }
            let left = lhs.decimal(isCompact: false)
            let leftBytes = encode(left)
            let rightBytes = encode(rhs.decimal(isCompact: false))
            if blobOrder(leftBytes, rightBytes) != order(lhs, rhs) { wrong.append("order of \(lhs), \(rhs)") }
            if try decode(leftBytes) != left { wrong.append("round trip of \(lhs)") }
        }
        #expect(wrong == [])
    }

    @Test func `sorting encodings sorts prices as Foundation does`() throws {
        var random = SeededGenerator.seeded()
        let values = (0..<10_000).map { _ in
            Decimal(Int.random(in: -1_000_000...1_000_000, using: &random)) / Decimal(1000)
        }
        let byBytes = try values.map(encode).sorted { blobOrder($0, $1) < 0 }.map(decode)
        #expect(byBytes == values.sorted())
    }

    @Test(
        arguments: [
            ("", .truncated), ("8000", .trailingBytes), ("ffff", .trailingBytes), ("8180", .truncated),
            ("81", .truncated), ("818015", .truncated), ("81801400", .trailingBytes), ("818000", .notCanonical),
            ("818002", .notCanonical), ("81801500", .notCanonical), ("8180c8", .malformed), ("822614", .malformed),
            ("830014", .malformed), ("000000", .malformed), ("822550", .outOfRange), ("8100151e", .outOfRange),
            ("8180" + String(repeating: "c7", count: 19) + "c6", .outOfRange),
        ] as [(String, InvalidEncoding.Code)])
    func `bytes that are not the encoding of a decimal are refused`(bytes: String, code: InvalidEncoding.Code) {
        #expect { try decode(unhex(bytes)) } throws: { ($0 as? InvalidEncoding)?.code == code }
    }

    @Test func `random bytes are refused or are the encoding of the decoded value`() throws {
        var random = SeededGenerator.seeded()
        for round in 0..<(isSoak ? 100_000 : 20_000) {
            var bytes: [UInt8]
            if round % 3 == 0 {
                bytes = random.bytes(Int.random(in: 0...24, using: &random))
                if bytes.count > 1, Bool.random(using: &random) { bytes[0] = 0x81 }
            } else {
                bytes = random.damaged(encode(randomParts(&random).decimal(isCompact: false)))
            }
            do {
                let value = try decode(bytes)
                #expect(encode(value) == bytes)
            } catch is InvalidEncoding {}
        }
    }

    private func encode(_ value: Decimal) -> [UInt8] {
        var bytes: [UInt8] = []
        OrderedDecimal.append(value, to: &bytes)
        return bytes
    }

    private func decode(_ bytes: [UInt8]) throws -> Decimal {
        try bytes.withUnsafeBytes(OrderedDecimal.decode)
    }

    /// Compares by exact arithmetic. Foundation's comparison has known faults, so the test does not use it.
    private func order(_ lhs: DecimalParts, _ rhs: DecimalParts) -> Int {
        func scaled(_ parts: DecimalParts) -> BigInt {
            let magnitude = BigUInt(words: [UInt(parts.low), UInt(parts.high)])
            return BigInt(sign: parts.isNegative ? .minus : .plus, magnitude: magnitude)
        }
        let common = min(lhs.exponent, rhs.exponent)
        let left = scaled(lhs) * BigInt(10).power(lhs.exponent - common)
        let right = scaled(rhs) * BigInt(10).power(rhs.exponent - common)
        return left < right ? -1 : left == right ? 0 : 1
    }

    private func randomParts(_ random: inout SeededGenerator) -> DecimalParts {
        let small = Int.random(in: 0..<3, using: &random)
        return DecimalParts(
            isNegative: Bool.random(using: &random),
            exponent: small == 0 ? Int.random(in: -4...4, using: &random) : Int.random(in: -128...127, using: &random),
            high: small < 2 ? 0 : random.next() >> UInt64.random(in: 0..<64, using: &random),
            low: random.next() >> UInt64.random(in: 0..<64, using: &random))
    }
}

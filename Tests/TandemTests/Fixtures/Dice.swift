import BigInt
import Foundation

/// A generator of random values from a seed, so that a random failure can be reproduced.
struct Dice: RandomNumberGenerator {
    private var state: UInt64
    let seed: UInt64

    init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    /// Returns a generator with a random seed or that of `TANDEM_SEED`. It prints the seed so that a failure can be
    /// reproduced.
    static func seeded(_ test: String) -> Dice {
        let seed =
            ProcessInfo.processInfo.environment["TANDEM_SEED"].flatMap { UInt64($0) }
            ?? UInt64.random(in: 0..<1_000_000)
        print("\(test): TANDEM_SEED=\(seed)")
        return Dice(seed: seed)
    }

    /// SplitMix64.
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &self) }
    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
    mutating func bool() -> Bool { chance(50) }
    mutating func element<T>(of list: [T]) -> T { list[below(list.count)] }
    mutating func maybe<T>(_ make: (inout Dice) -> T) -> T? { chance(30) ? nil : make(&self) }
    mutating func list<T>(_ make: (inout Dice) -> T) -> [T] { (0..<below(4)).map { _ in make(&self) } }

    mutating func map<T>(_ make: (inout Dice) -> T) -> [String: T] {
        Dictionary((0..<below(4)).map { _ in (text(), make(&self)) }, uniquingKeysWith: { first, _ in first })
    }

    mutating func integer<T: FixedWidthInteger>() -> T {
        switch below(4) {
        case 0: element(of: [T.min, T.max, 0, 1, T.max / 2, T.max / 2 + 1])
        case 1: T(truncatingIfNeeded: below(200) - 100)
        default: T(truncatingIfNeeded: next())
        }
    }

    static let doubles: [Double] = [
        0, -0.0, .infinity, -.infinity, .nan, -.nan, .signalingNaN, Double(bitPattern: 0xFFF8_0000_DEAD_BEEF),
        .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .leastNormalMagnitude, .greatestFiniteMagnitude, 0.1, 1 / 3,
        9_007_199_254_740_992, -1e300,
    ]

    mutating func double() -> Double {
        switch below(3) {
        case 0: element(of: Self.doubles)
        case 1: Double(below(2000) - 1000) / 8
        default: Double(bitPattern: next())
        }
    }

    mutating func float() -> Float {
        switch below(3) {
        case 0:
            element(of: [
                0, -0.0, .infinity, -.infinity, .nan, .signalingNaN, Float(bitPattern: 0xFFC1_2345),
                .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1,
            ])
        case 1: Float(below(2000) - 1000) / 8
        default: Float(bitPattern: UInt32(truncatingIfNeeded: next()))
        }
    }

    mutating func date() -> Date { Date(timeIntervalSinceReferenceDate: double()) }

    static let texts = [
        "", "\u{0}", "a\u{0}b", "\u{0}\u{0}", "é", "e\u{301}", "Ω", "\u{2126}", "Å", "\u{212B}", "a", "A", "Пятёрочка",
        "пятерочка", "ΓΑΛΑΞΊΑΣ", "스타벅스", "大润发", "かめや", "🇫🇷👩‍👩‍👧", "\u{FFFD}", "\u{10FFFF}", "\u{FFFF}", "\u{E000}",
        "\"\\\n\t'",
        "$blob", "NaN", "null", "ａ",
    ]

    mutating func text() -> String {
        switch below(3) {
        case 0: return element(of: Self.texts)
        case 1: return element(of: Self.texts) + element(of: Self.texts)
        default:
            var text = ""
            for _ in 0..<below(12) {
                if let scalar = Unicode.Scalar(UInt32(below(chance(20) ? 0x110000 : 0x500))) {
                    text.unicodeScalars.append(scalar)
                }
            }
            return text
        }
    }

    mutating func data() -> Data { Data((0..<below(20)).map { _ in UInt8(truncatingIfNeeded: next()) }) }

    mutating func uuid() -> UUID {
        var bytes = (next(), next())
        return withUnsafeBytes(of: &bytes) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }

    mutating func url() -> URL {
        let base = URL(string: "https://example.org/a/b?c=d#e")!
        return element(of: [
            base, URL(string: "mailto:ada@example.org")!, URL(string: "../x?y", relativeTo: base)!,
            URL(string: "z", relativeTo: URL(string: "w/", relativeTo: base))!, URL(fileURLWithPath: "/tmp/ä b"),
            URL(string: "https://example.org/\(below(1000))")!,
        ])
    }

    mutating func decimal() -> Decimal {
        switch below(4) {
        case 0: return element(of: [0, .nan, .greatestFiniteMagnitude, .leastFiniteMagnitude, .leastNonzeroMagnitude])
        case 1: return Decimal(sign: bool() ? .plus : .minus, exponent: below(60) - 30, significand: Decimal(next()))
        default: return Decimal(below(20000) - 10000) / 100
        }
    }

    mutating func bigInt() -> BigInt {
        let magnitude: BigUInt
        switch below(4) {
        case 0: magnitude = BigUInt(below(3))
        case 1: magnitude = BigUInt(next())
        default: magnitude = BigUInt.randomInteger(withMaximumWidth: 1 + below(300), using: &self)
        }
        return BigInt(sign: bool() ? .plus : .minus, magnitude: magnitude)
    }

    mutating func place() -> Place {
        Place(
            name: text(), latitude: element(of: [0, -0.0, 0.1, -89.99, 1e300, .infinity]),
            tags: maybe { $0.map { $0.integer() } })
    }
}

import BigInt
import Foundation
import Tandem
import TandemTesting

/// A property type with random values, of which extreme ones are frequent.
protocol RandomValue: PropertyValue {
    static func random(_ random: inout SeededGenerator) -> Self
}

extension SeededGenerator {
    mutating func oneOf<T>(_ values: [T]) -> T { values.randomElement(using: &self)! }
    mutating func chance(_ numerator: Int, in denominator: Int) -> Bool {
        Int.random(in: 0..<denominator, using: &self) < numerator
    }
}

extension Bool: RandomValue {
    static func random(_ random: inout SeededGenerator) -> Bool { Bool.random(using: &random) }
}

extension RandomValue where Self: FixedWidthInteger {
    static func random(_ random: inout SeededGenerator) -> Self {
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            let edges: [Self] = [Self.min, Self.max, 0, 1, Self.max - 1, Self.min + 1]
            return random.oneOf(edges)
        case 1: return Self(truncatingIfNeeded: Int.random(in: -3...3, using: &random))
        default: return Self(truncatingIfNeeded: random.next())
        }
    }
}

extension Int: RandomValue {}
extension Int8: RandomValue {}
extension Int16: RandomValue {}
extension Int32: RandomValue {}
extension Int64: RandomValue {}
extension UInt: RandomValue {}
extension UInt8: RandomValue {}
extension UInt16: RandomValue {}
extension UInt32: RandomValue {}
extension UInt64: RandomValue {}
extension Int128: RandomValue {}
extension UInt128: RandomValue {}

extension Double: RandomValue {
    static func random(_ random: inout SeededGenerator) -> Double {
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            random.oneOf([
                0, -0.0, 1, -1, .nan, -.nan, .signalingNaN, Double(nan: 77, signaling: false), .infinity, -.infinity,
                .leastNonzeroMagnitude, .greatestFiniteMagnitude, -.leastNormalMagnitude, .pi,
            ])
        case 1: Double(Int.random(in: -1000...1000, using: &random)) / 4
        default: Double(bitPattern: random.next())
        }
    }
}

extension Float: RandomValue {
    static func random(_ random: inout SeededGenerator) -> Float {
        random.chance(1, in: 3)
            ? random.oneOf([0, -0.0, .nan, -.nan, .signalingNaN, .infinity, -.infinity, .leastNonzeroMagnitude])
            : Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
    }
}

extension String: RandomValue {
    static let randomWords = [
        "", "a", "\u{0}", "a\u{0}b", "é", "e\u{301}", "Пятёрочка", "ПЯТЁРОЧКА", "İstanbul", "ısı", "Straße", "Γαλαξίας",
        "ŜΑ", "სალამი", "شاي", "スターバックス", "ｽﾀｰ", "星巴克", "한글", "👩‍👩‍👧", "%_*?[]", "'; DROP TABLE \"Quad\"; --", "\\", "\"",
        "Å", "Å", "\u{FEFF}x", "line\nbreak", "\u{10FFFF}", "�",
    ]

    static func random(_ random: inout SeededGenerator) -> String {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: ""
        case 1: random.oneOf(randomWords)
        case 2: random.oneOf(randomWords) + random.oneOf(randomWords)
        default:
            String(
                String.UnicodeScalarView(
                    (0..<Int.random(in: 0...20, using: &random)).compactMap { _ in
                        Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &random))
                    }))
        }
    }
}

extension Data: RandomValue {
    static func random(_ random: inout SeededGenerator) -> Data {
        Data(random.bytes(random.oneOf([0, 0, 1, 3, 200])))
    }
}

extension Date: RandomValue {
    static func random(_ random: inout SeededGenerator) -> Date {
        Date(timeIntervalSinceReferenceDate: Double.random(&random))
    }
}

extension UUID: RandomValue {
    static func random(_ random: inout SeededGenerator) -> UUID {
        let bytes = random.bytes(16)
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}

extension URL: RandomValue {
    static func random(_ random: inout SeededGenerator) -> URL {
        let base = URL(string: "https://example.org/a/b?c=d#e")!
        return random.oneOf([
            base, URL(string: "relative/path?q=%D0%9C", relativeTo: base)!, URL(string: "mailto:x@example.org")!,
            URL(fileURLWithPath: "/tmp/Карта \u{301} 1.png"), URL(string: "//host/x", relativeTo: base)!,
            URL(string: "../up", relativeTo: URL(string: "sub/dir/", relativeTo: base)!)!,
        ])
    }
}

extension Decimal: RandomValue {
    static func random(_ random: inout SeededGenerator) -> Decimal {
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            return random.oneOf([
                0, 1, -1, .nan, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude, .pi,
                Decimal(string: "0.1")!, Decimal(string: "12.50")!, Decimal(string: "12.5")!,
            ])
        case 1: return Decimal(Int.random(in: -1000...1000, using: &random)) / 100
        default:
            let digits = (0..<Int.random(in: 1...38, using: &random)).map { _ in
                String(Int.random(in: 0...9, using: &random))
            }.joined()
            let sign = Bool.random(using: &random) ? "-" : ""
            return Decimal(string: "\(sign)\(digits)e\(Int.random(in: -120...80, using: &random))") ?? 0
        }
    }
}

extension BigInt: RandomValue {
    static func random(_ random: inout SeededGenerator) -> BigInt {
        let magnitude = BigInt(BigUInt.random(&random))
        return Bool.random(using: &random) ? magnitude : -magnitude
    }
}

extension BigUInt: RandomValue {
    static func random(_ random: inout SeededGenerator) -> BigUInt {
        let width = random.oneOf([0, 1, 8, 31, 63, 64, 65, 128, 200, 950, 960, 3000])
        return BigUInt.randomInteger(withMaximumWidth: width, using: &random)
    }
}

extension Array: RandomValue where Element: RandomValue {
    static func random(_ random: inout SeededGenerator) -> [Element] {
        (0..<Int.random(in: 0...4, using: &random)).map { _ in Element.random(&random) }
    }
}

extension Set: RandomValue where Element: RandomValue {
    static func random(_ random: inout SeededGenerator) -> Set<Element> { Set([Element].random(&random)) }
}

extension Dictionary: RandomValue where Key == String, Value: RandomValue {
    static func random(_ random: inout SeededGenerator) -> [String: Value] {
        Dictionary(
            (0..<Int.random(in: 0...3, using: &random)).map { _ in (String.random(&random), Value.random(&random)) },
            uniquingKeysWith: { first, _ in first })
    }
}

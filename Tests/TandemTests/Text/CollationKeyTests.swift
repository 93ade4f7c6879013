import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite("Collation keys", .ownThreads)
struct CollationKeyTests {
    private static let collations: [Collation] = SortLanguage.allCases.flatMap { language in
        [false, true].map { Collation(language: language, isNumeric: $0) }
    }

    /// Letters of contractions and tailorings, with marks that reorder, digits and ignored characters.
    private static let letters: [Unicode.Scalar] =
        Array(
            "aAbcCdDegGhHiIklLnNoOpsStTuyzZøæœđßþñ·ийгкІу0123٣９ёїåčşเกຫ가一".unicodeScalars)
        + [0x300, 0x301, 0x302, 0x306, 0x308, 0x30A, 0x30B, 0x30C, 0x323, 0x326, 0x327, 0x328, 0, 0xAD, 0x200D, 0xFFFE]
        .compactMap { Unicode.Scalar($0) }

    private static func texts(seed: UInt64, count: Int) -> [String] {
        var random = RandomText(seed: seed)
        return (0..<count).map {
            $0 % 2 == 0 ? random.string() : random.generator.string(of: letters, maxCount: 9)
        }
    }

    @Test func `canonically equivalent texts have the same key, and other texts have different keys`() {
        let seed = testSeed()
        for collation in Self.collations {
            var texts: [[UInt8]: [UInt32]] = [:]
            for text in Self.texts(seed: seed, count: 1_000) {
                let key = collation.key(for: text)
                let scalars = FoldingTables.normal.decompose(text.unicodeScalars.map(\.value))
                let decomposed = collation.key(for: String(scalars: scalars))
                let composed = collation.key(for: String(scalars: FoldingTables.normal.compose(scalars)))
                #expect(key == decomposed, "seed \(seed), \(collation): \(text.hex)")
                #expect(key == composed, "seed \(seed), \(collation): \(text.hex)")
                if let other = texts.updateValue(scalars, forKey: key) {
                    #expect(other == scalars, "seed \(seed), \(collation): \(text.hex)")
                }
            }
        }
    }

    @Test func `the keys of a language are those of its collation`() {
        for (collation, number) in zip(Self.collations, 0...) {
            for text in ["", "Лента 10", "ёж", "Åhlén"] + Self.texts(seed: UInt64(number), count: 20) {
                let key = collation.language.sortKey(text, sortsNumbersByValue: collation.isNumeric)
                #expect(key == collation.key(for: text), "\(collation): \(text.hex)")
            }
        }
        #expect(SortLanguage.root.sortKey("Åhlén").lexicographicallyPrecedes(SortLanguage.root.sortKey("Zorn")))
        #expect(SortLanguage.swedish.sortKey("Zorn").lexicographicallyPrecedes(SortLanguage.swedish.sortKey("Åhlén")))
    }

    @Test func `no key is a prefix of another one`() {
        let seed = testSeed()
        for collation in Self.collations {
            var texts = Self.texts(seed: seed, count: 1_000)
            texts += texts.map { String($0.unicodeScalars.dropLast()) }
            texts += texts.map { $0 + "\0" }
            let keys = Set(texts.map { collation.key(for: $0) }).sorted { $0.lexicographicallyPrecedes($1) }
            for (a, b) in zip(keys, keys.dropFirst()) {
                let isPrefix = b.starts(with: a)
                #expect(!isPrefix, "seed \(seed), \(collation): \(a) and \(b)")
            }
        }
    }

    @Test func `a key is appended to the existing bytes`() {
        let seed = testSeed()
        let collation = Collation(language: .root, isNumeric: false)
        for text in Self.texts(seed: seed, count: 1_000) {
            var bytes: [UInt8] = [7, 0]
            collation.appendKey(for: text, to: &bytes)
            #expect(bytes == [7, 0] + collation.key(for: text), "seed \(seed): \(text.hex)")
        }
    }

    @Test func `every scalar has its own key, unless it is canonically equivalent to another one`() {
        let collation = Collation(language: .root, isNumeric: false)
        var keys: [[UInt8]: [UInt32]] = [:]
        var failures: [String] = []
        for scalar in allScalars where scalar.value < 0x3_0000 {
            let decomposed = FoldingTables.normal.decompose([scalar.value])
            let other = keys.updateValue(decomposed, forKey: collation.key(for: String(scalar)))
            if let other, other != decomposed { failures.append(String(scalar).hex) }
        }
        #expect(failures == [])
    }

    @Test func `the keys of common names are short`() {
        let collation = Collation(language: .root, isNumeric: false)
        #expect(collation.key(for: "лента").count == 7)
        #expect(collation.key(for: "Лента").count == 8)
        #expect(collation.key(for: "IKEA").count == 10)
        #expect(collation.key(for: "").count == 2)
        #expect(collation.key(for: String(repeating: "a", count: 10_000)).count == 10_002)
    }

    @Test func `texts longer than the buffers sort by their length`() {
        let collation = Collation(language: .root, isNumeric: false)
        for part in ["é", "Ж", "ﷺ", "一", "\u{378}", "ñ\u{323}", "e\u{323}\u{301}", "Ａ", "𓀀"] {
            for count in [1, 2, 3, 39, 40, 41, 61, 62, 100, 1_000] {
                let shorter = String(repeating: part, count: count)
                let longer = shorter + part
                let isLess = collation.key(for: shorter).lexicographicallyPrecedes(collation.key(for: longer))
                #expect(isLess, "\(part) \(count) times")
            }
        }
    }

    @Test func `100,000 marks in any order have a key`() {
        let marks: [Unicode.Scalar] = [0xF71, 0xF72, 0xF80, 0x301, 0x323, 0xFB2].compactMap { Unicode.Scalar($0) }
        var generator = SeededGenerator(seed: 1)
        let collation = Collation(language: .root, isNumeric: false)
        for kinds in 1...marks.count {
            var text = String.UnicodeScalarView("a".unicodeScalars)
            for _ in 0..<100_000 {
                text.append(marks[Int.random(in: 0..<kinds, using: &generator)])
            }
            #expect(collation.key(for: String(text)).count > 100_000)
        }
    }

    @Test func `numbers are compared by value, with any zeros, script and length`() {
        let collation = Collation(language: .root, isNumeric: true)
        let ascending = ["0", "1", "2", "9", "10", "99", "100", "12345678", "123456789", "1000000000"].map { "n" + $0 }
        for (a, b) in zip(ascending, ascending.dropFirst()) {
            let isLess = collation.key(for: a).lexicographicallyPrecedes(collation.key(for: b))
            #expect(isLess, "\(a) < \(b)")
        }
        // These differ only in the last level.
        let first = collation.key(for: "7").dropLast()
        for text in ["07", "007", "٧", "７", "७"] {
            let key = collation.key(for: text)
            #expect(key.starts(with: first))
            #expect(key != collation.key(for: "7"))
        }
    }

    @Test func `collations are equal if their languages and treatments of numbers are equal`() {
        #expect(Collation(language: .swedish, isNumeric: true) == Collation(language: .swedish, isNumeric: true))
        #expect(Collation(language: .swedish, isNumeric: true) != Collation(language: .swedish, isNumeric: false))
        #expect(Collation(language: .swedish, isNumeric: true) != Collation(language: .danish, isNumeric: true))
        #expect(Set(Self.collations).count == SortLanguage.allCases.count * 2)
    }
}

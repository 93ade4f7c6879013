import TestSupport
import Testing

@testable import Tandem

/// The first bytes of a key, by which folded texts are compared.
@Suite("Levels of collation keys", .ownThreads)
struct CollationLevelsTests {
    private static let texts = [
        "", "a", "A", "á", "Á", "ab", "aB", "a\u{301}b", "áb", "abc", "Лента", "ЛЕНТА", "лёнта", "лентач", "Straße",
        "STRASSE", "ＬＥＮＴＡ", "\u{0}", "a\u{0}b", "\u{AD}", "10", "9", "09", "星巴克", "が", "か", "카페", "กา", "\u{10FFFF}",
        "\u{E0000}x", "ch", "c", "Å", "aa", "İ", "i", "I", "ı", "🇩🇪", "\u{301}", "a\u{301}\u{302}", "ɐʘ",
    ]

    @Test(arguments: SortLanguage.allCases)
    func `a key begins with its levels`(language: SortLanguage) {
        for isNumeric in [false, true] {
            let collation = Collation(language: language, isNumeric: isNumeric)
            for text in Self.texts {
                let key = collation.key(for: text)
                let parts = [Collation.Strength.firstLetter, .letters, .accents].map {
                    collation.keyPrefix(for: text, $0)
                }
                #expect(parts.allSatisfy { key.starts(with: $0) }, "\(text) \(parts) \(key)")
                #expect(parts[1].starts(with: parts[0]) && parts[2].starts(with: parts[1]) && key != parts[2])
            }
        }
    }

    @Test func `texts that differ in case are equal on two levels, and others are not`() {
        let collation = Collation(language: .root, isNumeric: false)
        func areEqual(_ lhs: String, _ rhs: String) -> Bool {
            collation.key(for: rhs).starts(with: collation.keyPrefix(for: lhs, .accents))
        }
        for (lhs, rhs) in [("Лента", "ЛЕНТА"), ("á", "A\u{301}"), ("Straße", "STRASSE"), ("", ""), ("lenta", "ＬＥＮＴＡ")] {
            #expect(areEqual(lhs, rhs) && areEqual(rhs, lhs), "\(lhs) \(rhs)")
        }
        for (lhs, rhs) in [
            ("a", "á"), ("a", "ab"), ("", "a"), ("лента", "лёнта"), ("á", "áb"), ("が", "か"), ("9", "10"),
        ] {
            #expect(!areEqual(lhs, rhs) && !areEqual(rhs, lhs), "\(lhs) \(rhs)")
        }
    }

    @Test(arguments: SortLanguage.allCases)
    func `texts of a section begin with the letter's weight`(language: SortLanguage) {
        let collation = Collation(language: language, isNumeric: false)
        for text in Self.texts {
            let letter = collation.firstLetter(of: text)
            guard !letter.isEmpty else { continue }
            let weight = collation.keyPrefix(for: letter, .firstLetter)
            #expect(collation.firstLetter(of: letter) == letter && !weight.isEmpty)
            #expect(collation.key(for: text).starts(with: weight), "\(text) \(letter)")
        }
    }

    @Test func `the upper bound follows all keys with a prefix`() {
        #expect(Collation.upperBound(ofPrefix: [1, 2]) == [1, 3])
        #expect(Collation.upperBound(ofPrefix: [1, 0xFF]) == [2])
        #expect(Collation.upperBound(ofPrefix: [0xFF, 0xFF]) == nil)
        #expect(Collation.upperBound(ofPrefix: []) == nil)
    }

    @Test(arguments: SortLanguage.allCases)
    func `a collation is read from its argument`(language: SortLanguage) throws {
        for isNumeric in [false, true] {
            let collation = Collation(language: language, isNumeric: isNumeric)
            #expect(Collation(argument: collation.argument) == collation)
            let prefix = FoldedPrefix("a/b\u{0}", collation: collation)
            let read = try #require(FoldedPrefix(argument: prefix.argument))
            #expect(read.text == prefix.text && read.collation == prefix.collation)
        }
        #expect(Collation(argument: "xx") == nil)
    }
}

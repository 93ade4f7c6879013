import TestSupport
import Testing

@testable import Tandem

/// The ranges of sort keys in which an index finds equal texts, prefixes and sections.
@Suite("Ranges of sort keys", .ownThreads)
struct CollationRangesTests {
    private static let texts = [
        "", "a", "A", "á", "Á", "ab", "aB", "a\u{301}b", "áb", "abc", "Лента", "ЛЕНТА", "лёнта", "лентач", "Straße",
        "STRASSE", "ＬＥＮＴＡ", "\u{0}", "a\u{0}b", "\u{AD}", "10", "9", "09", "星巴克", "が", "か", "카페", "\u{10FFFF}",
        "\u{E0000}x", "ch", "c", "Å", "aa", "İ", "i", "I", "ı", "🇩🇪", "\u{301}", "a\u{301}\u{302}", "ɐʘ", "Лента 10",
    ]

    private func contains(_ range: KeyRange, _ text: String, _ collation: Collation) -> Bool {
        collation.key(for: text).withUnsafeBufferPointer { range.contains($0) }
    }

    @Test(arguments: SortLanguage.allCases)
    func `a text is in its own ranges`(language: SortLanguage) {
        for isNumeric in [false, true] {
            let collation = Collation(language: language, isNumeric: isNumeric)
            for text in Self.texts {
                #expect(contains(collation.range(ofLetters: text), text, collation), "\(text) \(isNumeric)")
                #expect(contains(collation.range(ofPrefix: text), text, collation), "\(text) \(isNumeric)")
                #expect(contains(collation.range(ofPrefix: text), text + "ж", collation), "\(text) \(isNumeric)")
                let letter = collation.firstLetter(of: text)
                if let range = collation.range(ofSection: letter) {
                    #expect(contains(range, text, collation), "\(text) \(letter) \(isNumeric)")
                } else {
                    #expect(letter.isEmpty, "\(text) \(letter) \(isNumeric)")
                }
            }
        }
    }

    @Test func `the range of letters has other cases, and no longer texts`() {
        let collation = Collation(language: .root, isNumeric: false)
        for (lhs, rhs) in [("Лента", "ЛЕНТА"), ("á", "A\u{301}"), ("Straße", "STRASSE"), ("", ""), ("c", "C")] {
            #expect(contains(collation.range(ofLetters: lhs), rhs, collation), "\(lhs) \(rhs)")
            #expect(contains(collation.range(ofLetters: rhs), lhs, collation), "\(lhs) \(rhs)")
        }
        for (lhs, rhs) in [("a", "ab"), ("", "a"), ("á", "áb"), ("9", "10"), ("лента", "лентач"), ("c", "d")] {
            #expect(!contains(collation.range(ofLetters: lhs), rhs, collation), "\(lhs) \(rhs)")
            #expect(!contains(collation.range(ofLetters: rhs), lhs, collation), "\(lhs) \(rhs)")
        }
    }

    @Test func `the letters at a prefix's end may begin a letter of several characters`() {
        for (language, prefix, text) in [
            (SortLanguage.czech, "c", "chata"), (.hungarian, "dz", "dzsem"), (.welsh, "l", "llan"), (.root, "เ", "เก"),
        ] {
            let collation = Collation(language: language, isNumeric: false)
            #expect(contains(collation.range(ofPrefix: prefix), text, collation), "\(prefix) \(text)")
        }
    }

    @Test func `the digits at a prefix's end may belong to a longer number`() {
        let collation = Collation(language: .root, isNumeric: true)
        #expect(contains(collation.range(ofPrefix: "Лента 1"), "Лента 10", collation))
        #expect(contains(collation.range(ofPrefix: "1"), "10", collation))
        #expect(!contains(collation.range(ofPrefix: "Лента 1"), "Магнит 1", collation))
    }

    @Test func `a range of a prefix ends before all other bytes`() {
        #expect(KeyRange(prefix: [1, 2]) == KeyRange(lower: [1, 2], upper: [1, 3]))
        #expect(KeyRange(prefix: [1, 0xFF]) == KeyRange(lower: [1, 0xFF], upper: [2]))
        #expect(KeyRange(prefix: [0xFF, 0xFF]) == KeyRange(lower: [0xFF, 0xFF], upper: nil))
        #expect(KeyRange(prefix: []) == KeyRange(lower: [], upper: nil))
    }

    @Test(arguments: SortLanguage.allCases)
    func `a collation and a test are read from their arguments`(language: SortLanguage) throws {
        for isNumeric in [false, true] {
            let collation = Collation(language: language, isNumeric: isNumeric)
            #expect(Collation(argument: collation.argument) == collation)
        }
        #expect(Collation(argument: "xx") == nil)
        for kind in [FoldedTest.Kind.equal, .prefix] {
            let test = FoldedTest(kind, texts: ["a/b\u{0}", "", "Лента"], in: language)
            let read = try #require(FoldedTest(argument: test.argument))
            #expect(read.argument == test.argument && read.kind == kind && read.language == language)
        }
        #expect(FoldedTest(argument: []) == nil)
        #expect(FoldedTest(argument: Array("sv".utf8) + [0, 0, 0, 0, 0, 9, 1]) == nil)
    }

    private func holds(
        _ kind: FoldedTest.Kind, _ texts: [String], _ text: String, _ language: SortLanguage = .root
    ) -> Bool {
        var text = text
        return text.withUTF8 { FoldedTest(kind, texts: texts, in: language).holds($0) }
    }

    @Test func `texts are compared without case, but with accents and width`() {
        #expect(holds(.equal, ["ЛЕНТА"], "лента") && holds(.equal, ["STRASSE"], "Straße"))
        #expect(holds(.equal, ["x", "é", "b"], "E\u{301}") && !holds(.equal, ["x", "b"], "a"))
        #expect(!holds(.equal, ["e"], "é") && !holds(.equal, ["a"], "Ａ") && !holds(.equal, [], ""))
        #expect(holds(.prefix, ["МАГ"], "магнит") && !holds(.prefix, ["е"], "ёлка") && !holds(.prefix, ["аб"], "а"))
    }

    @Test func `bytes that are not valid UTF-8 are compared as replacement characters`() {
        for bytes: [UInt8] in [
            [0x61, 0xFF], [0x61, 0xF4, 0x8F], [0xFF, 0xBF, 0xBF, 0xBF], [0xC3], [0xED, 0xA0, 0x80],
        ] {
            let text = String(decoding: bytes, as: UTF8.self)
            for language in [SortLanguage.root, .turkish] {
                let test = FoldedTest(.equal, texts: [text], in: language)
                let holds = bytes.withUnsafeBufferPointer { test.holds($0) }
                #expect(holds, "\(language): \(bytes)")
            }
        }
    }

    @Test func `I is the capital form of ı in Turkish and Azerbaijani`() {
        for language in [SortLanguage.turkish, .azerbaijani] {
            #expect(holds(.equal, ["istanbul"], "İSTANBUL", language) && holds(.equal, ["ısı"], "ISI", language))
            #expect(holds(.equal, ["i"], "I\u{307}", language) && !holds(.equal, ["i"], "I", language))
        }
        #expect(holds(.equal, ["i"], "I") && !holds(.equal, ["i"], "İ"))
    }
}

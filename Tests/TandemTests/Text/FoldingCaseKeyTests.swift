import TestSupport
import Testing

@testable import Tandem

@Suite("Case key", .ownThreads)
struct FoldingCaseKeyTests {
    static let examples: [(String, String)] = [
        ("Магнит", "магнит"), ("ЁЛКА", "ёлка"), ("е\u{308}", "ё"), ("Straße", "strasse"), ("L'Oréal", "l'oréal"),
        ("E\u{301}", "é"), ("Ångström Å", "ångström å"), ("ΓΑΛΑΞΊΑΣ", "γαλαξίασ"), ("ς", "σ"), ("ᾼ ᾳ", "αι αι"),
        ("ᾳ\u{323}", "α\u{323}ι"), ("ΐ", "ΐ"), ("İ I ı i", "i\u{307} i ı i"), ("ＡＢ", "ａｂ"), ("ﬁ", "fi"),
        ("Ა Ⴀ", "ა ⴀ"), ("ꭰ Ꭰ", "Ꭰ Ꭰ"), ("\u{1112}\u{1161}\u{11AB}", "한"), ("か\u{3099}", "が"), ("ｶﾞ", "ｶﾞ"),
        (" a\t B  ", " a\t b  "), ("a\0B", "a\0b"), ("", ""), ("क़", "क\u{93C}"), ("Я\u{301}\u{323}", "я\u{323}\u{301}"),
        ("\u{10400}", "\u{10428}"), ("中文 ไทย", "中文 ไทย"), ("👩‍👩‍👧", "👩‍👩‍👧"),
    ]

    @Test(arguments: examples) func `texts have the case keys of the rules`(text: String, key: String) {
        let folded = Folding.caseKey(text)
        #expect(hasEqualScalars(folded, key), "\(text) → \(folded) (\(folded.hex)), expected \(key) (\(key.hex))")
        #expect(hasEqualScalars(generalCaseKey(text), key))
        #expect(hasEqualScalars(Folding.caseKey(folded), folded))
    }

    @Test func `names sort by code point, without regard to case`() {
        let names = ["Пятёрочка", "яблоко", "лента", "Ёлка", "Магнит", "zebra", "Zürich", "Ångström", "apple", "ABC"]
        let sorted = names.sorted { ScalarText.isLess(Folding.caseKey($0), Folding.caseKey($1)) }
        #expect(
            sorted == [
                "ABC", "apple", "zebra", "Zürich", "Ångström", "лента", "Магнит", "Пятёрочка", "яблоко", "Ёлка",
            ])
    }
}

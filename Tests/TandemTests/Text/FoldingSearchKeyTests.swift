import TestSupport
import Testing

@testable import Tandem

@Suite("Search key", .ownThreads)
struct FoldingSearchKeyTests {
    static let examples: [(String, String)] = [
        // Latin
        ("L'Oréal", "loreal"), ("L’Oréal", "loreal"), ("L´Oréal", "loreal"), ("L`Oréal", "loreal"),
        ("Straße", "strasse"), ("STRASSE", "strasse"), ("STRAẞE", "strasse"), ("ﬁnal oﬀer", "final offer"),
        ("Ørsted", "orsted"), ("Łódź", "lodz"), ("Đà Nẵng", "da nang"), ("Æon Œuvre", "aeon oeuvre"),
        ("Þórr Óðinn", "thorr odinn"), ("Ħaż-Żebbuġ", "hazzebbug"), ("Ǽ ǿ", "ae o"), ("ŉ", "n"), ("Ĳssel", "ijssel"),
        ("Ǆ ǅ ǆ", "dz dz dz"), ("Å Å", "a a"), ("Azərbaycan", "azerbaycan"), ("Hawaiʻi", "hawaii"),
        // Width, styles and signs
        ("ＳＴＡＲＢＵＣＫＳ", "starbucks"), ("Ｓｅｖｅｎ　＆　ｉ", "seven i"), ("𝔅𝔞𝔯 ℌ Ⅷ ①", "bar h viii 1"),
        ("H₂O x² ª º ™", "h2o x2 a o tm"), ("㎏ №", "kg no"), ("½", "1⁄2"), ("C++ $5 <3 ≠", "c++ $5 <3 ≠"),
        // Greek
        ("Γαλαξίας", "γαλαξιασ"), ("ΓΑΛΑΞΊΑΣ", "γαλαξιασ"), ("ΐ ΰ Ϊ́", "ι υ ι"), ("ᾼ ᾳ ᾴ ῷ", "α α α ω"),
        ("ΟΔΟΣ οδός", "οδοσ οδοσ"), ("ϐ ϑ ϕ ϲ", "β θ φ σ"), ("Ωmega Ω", "ωmega ω"),
        // Cyrillic
        ("Пятёрочка", "пятерочка"), ("ПЯТЕРОЧКА", "пятерочка"), ("Йод и́", "йод и"), ("Ўзбек", "ўзбек"),
        ("й̣ й̣ и́̆", "й й и"), ("Їжак Ґанок Ќ", "іжак ґанок к"), ("ЁЛКИ-ПАЛКИ", "елкипалки"), ("Ѳ Ѵ Ѷ", "ѳ ѵ ѵ"),
        ("ѝ ӣ Ӯ", "и и у"), ("ѝ\u{306} и\u{300}\u{306}", "и и"), ("ӥ\u{323}", "и"),
        // Turkish: all four letters have the same key
        ("İ I ı i", "i i i i"), ("DİYARBAKIR", "diyarbakir"), ("Diyarbakır", "diyarbakir"), ("Iğdır", "igdir"),
        // Hebrew and Arabic
        ("שָׁלוֹם", "שלום"), ("שׁלום", "שלום"), ("מַעֲדָן־טְעִים", "מעדןטעים"), ("אַבּ", "אב"),
        ("مُحَمَّد", "محمد"), ("محـــمد", "محمد"), ("أإآٱا", "ااااا"), ("مستشفى", "مستشفي"), ("کتاب ی", "كتاب ي"),
        ("مؤسسة هيئة", "موسسة هيية"), ("ﻻ ﷺ", "لا صلي الله عليه وسلم"), ("ﹷ", "\u{64E}"), ("٣", "٣"),
        // Georgian, Armenian, Cherokee: case only
        ("ᲗᲑᲘᲚᲘᲡᲘ", "თბილისი"), ("Ⴀⴀ", "ⴀⴀ"), ("ԵՐԵՎԱՆ երևան", "երեվան երեւան"), ("ꭰꭱ ᎠᎡ ꮿᏸ", "ᎠᎡ ᎠᎡ ᏯᏰ"),
        // Scripts whose marks are letters
        ("कॉफ़ी हाउस", "कॉफ\u{93C}ी हाउस"), ("क़", "क\u{93C}"), ("ร้านกาแฟ", "ร้านกาแฟ"), ("กำ", "กํา"),
        ("தமிழ்", "தமிழ்"), ("বাংলা", "বাংলা"), ("ខ្មែរ", "ខ្មែរ"), ("བོད", "བོད"),
        // Japanese and Chinese
        ("ガ か゛ が", "ガ か が"), ("か\u{3099} ハ\u{309A}", "が パ"), ("ﾌｧﾐﾘｰﾏｰﾄ", "ファミリーマート"),
        ("ﾊﾟﾝ ｶﾞｽ", "パン ガス"), ("セブン・イレブン", "セブンイレブン"), ("㌔㍍", "キロメートル"), ("漢字 汉字", "漢字 汉字"),
        ("\u{F900}", "豈"), ("「無印良品」", "無印良品"), ("ひらカタ", "ひらカタ"),
        // Korean
        ("스타벅스", "스타벅스"), ("\u{1109}\u{1173}\u{1110}\u{1161}", "스타"), ("ㄱㅏ", "가"), ("ﾡￂ", "가"),
        // Emoji
        ("👩‍👩‍👧", "👩👩👧"), ("❤️", "❤"), ("👍🏽", "👍🏽"), ("1️⃣", "1\u{20E3}"), ("🇩🇪", "🇩🇪"),
        // White space, punctuation, controls
        ("  a\t\n\u{A0}\u{2003}b  ", "a b"), ("a - b", "a b"), ("- a -", "a"), ("a_b.c/d\\e", "abcde"), ("&!?…—", ""),
        ("", ""), (" \u{3000}\u{2028} ", ""), ("soft\u{AD}hy\u{200B}phen\u{FEFF}", "softhyphen"),
        ("a\0b\u{1F}c", "abc"),
        ("a\u{85}b\u{1680}c", "a b c"), ("می‌خواهم", "ميخواهم"),
        // Marks without a letter
        ("\u{301}", "\u{301}"), ("\u{301}a\u{301}", "\u{301}a"), ("a \u{301}b", "a \u{301}b"), ("中\u{301}", "中\u{301}"),
        ("5\u{301}", "5\u{301}"), ("e-\u{301}", "e"), ("´ ¨ ΅", ""), ("中΅x", "中x"),
        ("\u{301}\u{323}", "\u{323}\u{301}"),
        ("กा\u{301}", "กा\u{301}"), ("aा\u{301}", "aा\u{301}"), ("中\u{345}", "中"),
    ]

    @Test(arguments: examples) func `texts have the search keys of the rules`(text: String, key: String) {
        let folded = Folding.searchKey(text)
        #expect(hasEqualScalars(folded, key), "\(text) → \(folded) (\(folded.hex)), expected \(key) (\(key.hex))")
        #expect(hasEqualScalars(generalSearchKey(text), key))
        #expect(hasEqualScalars(Folding.searchKey(folded), folded))
    }

    @Test(
        arguments: [
            ("й", "и"), ("ў", "у"), ("が", "か"), ("パ", "ハ"), ("ґ", "г"), ("щ", "ш"), ("ä", "b"), ("ة", "ه"), ("か", "カ"),
            ("ม่", "ม"), ("कि", "क"), ("가", "각"), ("ם", "מ"), ("一", "二"), ("с", "c"), ("$", "€"),
        ])
    func `different letters have different keys`(a: String, b: String) {
        #expect(!hasEqualScalars(Folding.searchKey(a), Folding.searchKey(b)))
    }

    @Test(
        arguments: [
            ("Пятёрочка", "пятероч"), ("Пятёрочка", "ПЯТЁР"), ("L'Oréal", "loreal"), ("L'Oréal Paris", "l'oreal"),
            ("ＳＴＡＲＢＵＣＫＳ", "starbucks"), ("Straße", "strasse"), ("STRASSE", "straße"), ("Γαλαξίας", "γαλαξιας"),
            ("ΓΑΛΑΞΊΑΣ", "Γαλαξίας"), ("ΓΑΛΑΞΊΑΣ", "γαλαξίασ"), ("İstanbul", "istanbul"), ("Isparta", "ısparta"),
            ("Coca-Cola", "coca cola"), ("Coca-Cola", "cocacola"), ("Ｈ＆Ｍ", "h&m"), ("ｶﾞｽﾄ", "ガスト"), ("مُحَمَّد", "محمد"),
        ])
    func `a stored text is found by a typed text`(text: String, typed: String) {
        #expect(SearchNeedle(typed).matches(searchKey: Folding.searchKey(text)))
    }

    @Test func `the byte form appends to the existing bytes`() {
        var out = Array("x ".utf8)
        Array("  Ё".utf8).withUnsafeBufferPointer { Folding.appendSearchKey(of: $0, to: &out) }
        #expect(String(decoding: out, as: UTF8.self) == "x е")
        UnsafeBufferPointer<UInt8>(start: nil, count: 0).withMemoryRebound(to: UInt8.self) {
            Folding.appendSearchKey(of: $0, to: &out)
            Folding.appendCaseKey(of: $0, to: &out)
        }
        #expect(out.count == 4)
    }

    @Test(arguments: [1, 2, 3, 5, 7, 11])
    func `a long text is folded as its pieces are, at any end of the buffer`(padding: Int) {
        let pieces = ["Ёлка ", "e\u{301} ", "ﷺ", "\u{1112}\u{1161}\u{11AB}", "  -  ", "и\u{306}", "👩‍👩‍👧", "x"]
        let text = String(repeating: "a", count: padding) + String(repeating: pieces.joined(), count: 200)
        #expect(hasEqualScalars(Folding.searchKey(text), generalSearchKey(text)))
        #expect(hasEqualScalars(Folding.caseKey(text), generalCaseKey(text)))
        let marks = "e" + String(repeating: "\u{301}\u{323}", count: 50_000)
        #expect(Folding.searchKey(marks) == "e")
        #expect(Folding.caseKey(marks).unicodeScalars.count == 100_000)
    }
}

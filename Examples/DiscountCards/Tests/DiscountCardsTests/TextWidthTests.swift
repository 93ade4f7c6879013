import Testing

@testable import DiscountCards

@Suite struct TextWidthTests {
    @Test(arguments: [
        ("", 0), ("Lidl", 4), ("Пятёрочка", 9), ("L'Ore\u{301}al", 7), ("ローソン", 8), ("ﾊﾈﾊﾈ", 4), ("ＨＡＮＡ", 8),
        ("서울", 4), ("\u{1112}\u{1161}\u{11AB}", 2), ("น้ำผึ้ง", 4), ("כַּרְמֶל", 4), ("كَرْمَة", 4),
        ("⭐️", 2), ("👩‍👩‍👧", 2), ("🇩🇪", 2),
        ("•", 1), ("…", 1), ("★", 1),
    ])
    func `text has its width on a terminal`(text: String, columns: Int) {
        #expect(TextWidth.columns(text) == columns)
    }

    @Test(arguments: [
        ("Lidl", 4, "Lidl"), ("Lidl", 3, "Li…"), ("ローソン", 8, "ローソン"), ("ローソン", 7, "ローソ…"), ("ローソン", 6, "ロー…"),
    ])
    func `text is cut at whole characters within a number of columns`(text: String, limit: Int, cut: String) {
        #expect(text.cut(toColumns: limit) == cut)
    }

    @Test func `text is padded by its width, not its length`() {
        #expect("京都".padded(toColumns: 6) == "京都  ")
        #expect("7".padded(toColumns: 3, onLeft: true) == "  7")
        #expect("long".padded(toColumns: 2) == "long")
    }

    @Test func `text is wrapped at spaces, by its width`() {
        #expect("one two three".wrapped(toColumns: 7) == "one two\nthree")
        #expect("京都 大阪 ab".wrapped(toColumns: 9) == "京都 大阪\nab")
        #expect("toolong a".wrapped(toColumns: 3) == "toolong\na")
    }

    @Test func `control and bidirectional characters are replaced`() {
        #expect("a\u{1B}[2Jb\r\n\u{202E}c".printable == "a\u{FFFD}[2Jb\u{FFFD}\u{FFFD}\u{FFFD}c")
        #expect("Пятёрочка 🇩🇪".printable == "Пятёрочка 🇩🇪")
    }
}

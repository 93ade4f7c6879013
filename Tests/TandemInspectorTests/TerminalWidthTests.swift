import TestSupport
import Testing

@testable import TandemInspector

@Suite(.ownThreads) struct TerminalWidthTests {
    @Test(
        arguments: [
            ("", 0), ("abc", 3), ("Лента", 5), ("東京", 4), ("ｶﾅ", 2), ("e\u{301}", 1), ("👩‍👩‍👧", 2), ("🇩🇪", 2), ("1️⃣", 2),
            ("한글", 4), ("\u{1112}\u{1161}\u{11AB}", 2), ("a\u{200D}b", 2), ("Ｆ", 2),
        ])
    func `the width counts columns of a terminal`(text: String, width: Int) {
        #expect(TerminalWidth.columns(text) == width)
    }

    @Test func `a cut text fits, and never splits a character`() {
        #expect("東京ストア".cut(toColumns: 6) == "東京…")
        #expect("東京ストア".cut(toColumns: 5) == "東京…")
        #expect("東京ストア".cut(toColumns: 4) == "東…")
        #expect("東京".cut(toColumns: 4) == "東京")
        #expect("東".padded(toColumns: 4) == "東  " && "1".padded(toColumns: 3, onLeft: true) == "  1")
    }

    @Test func `characters on which a terminal would act are replaced`() {
        #expect("a\u{1B}[2J\u{7}\n\u{202E}b\u{9B}".printable == "a\u{FFFD}[2J\u{FFFD}\u{FFFD}\u{FFFD}b\u{FFFD}")
        #expect("Лента 東京".printable == "Лента 東京")
    }
}

import TestSupport
import Testing

@testable import Tandem

@Suite("Search needle", .ownThreads)
struct SearchNeedleTests {
    @Test func `a needle has the folded words and their lengths in scalars`() {
        let needle = SearchNeedle("  Кафе\u{301}  L'Oréal - 한국 \u{1F468} ")
        #expect(needle.words == ["кафе", "loreal", "한국", "👨"])
        #expect(needle.scalarCounts == [4, 6, 2, 1])
        #expect(!needle.isEmpty)
    }

    @Test(arguments: ["", "  ", "-", "' '", "\u{AD}", "´"]) func `a needle without words finds nothing`(text: String) {
        let needle = SearchNeedle(text)
        #expect(needle.isEmpty)
        #expect(needle.words.isEmpty)
        #expect(!needle.matches(searchKey: ""))
        #expect(!needle.matches(searchKey: "anything"))
    }

    @Test(
        arguments: [
            ("star coffee", true), ("coffee star", true), ("ee st", true), ("coffee tea", false), ("starbucksc", false),
            ("bucks", true), ("starbucks coffee", true), ("s", true), ("starbucks coffee house", false), ("ffee", true),
        ])
    func `every word must occur, in any order`(typed: String, isFound: Bool) {
        #expect(SearchNeedle(typed).matches(searchKey: "starbucks coffee") == isFound)
    }

    @Test func `words are found at the start, in the middle and at the end, and longer words are not found`() {
        for word in ["а", "аб", "абв", "б", "бв", "в", "абвг"] {
            #expect(SearchNeedle(word).matches(searchKey: "абв") == (word != "абвг"))
        }
        #expect(!SearchNeedle("я").matches(searchKey: ""))
    }

    @Test func `needles with equal folded words are equal`() {
        #expect(SearchNeedle("STRASSE") == SearchNeedle("straße "))
        #expect(SearchNeedle("a b") != SearchNeedle("b a"))
        #expect(Set([SearchNeedle("Ё"), SearchNeedle("е\u{308}")]).count == 1)
    }
}

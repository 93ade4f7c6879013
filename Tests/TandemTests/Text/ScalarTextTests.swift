import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite("Scalar text", .ownThreads)
struct ScalarTextTests {
    @Test func `canonically equivalent texts are different texts`() {
        #expect("\u{212B}" == "\u{C5}")
        #expect(!ScalarText.isEqual("\u{212B}", "\u{C5}"))
        #expect(!ScalarText.isEqual("é", "e\u{301}"))
        #expect(ScalarText.isEqual("é", "é"))
        #expect(ScalarText.isEqual("", ""))
        #expect(!ScalarText.isEqual("a", "a\0"))
    }

    @Test func `the order is that of the bytes`() {
        #expect(ScalarText.isLess("", "a"))
        #expect(!ScalarText.isLess("a", "a"))
        #expect(ScalarText.isLess("a", "a\0"))
        #expect(ScalarText.isLess("Z", "a"))
        #expect(ScalarText.isLess("е", "ё"))
        #expect(ScalarText.isLess("e\u{301}", "é"))
        #expect(ScalarText.isLess("\u{FFFF}", "\u{10000}"))
        #expect(ScalarText.isLess("\u{D7FF}", "\u{E000}"))
    }

    @Test func `suffix and containment compare scalars, and every text contains the empty text`() {
        #expect(ScalarText.hasSuffix("e\u{301}", "\u{301}"))
        #expect(ScalarText.contains("ae\u{301}b", "e"))
        #expect(ScalarText.contains("a\0b", "\0b"))
        #expect(!ScalarText.hasSuffix("a", "ba"))
        #expect(!ScalarText.contains("abc", "ac"))
        for text in ["", "a", "é"] {
            #expect(ScalarText.hasSuffix(text, ""))
            #expect(ScalarText.contains(text, ""))
        }
    }

    @Test func `containment agrees with a search at each position, on random text`() {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            let text = random.string(of: ["a", "б", "b"], maxCount: 8)
            let part = random.string(of: ["a", "б", "b"], maxCount: 3)
            let bytes = Array(text.utf8)
            let wanted = Array(part.utf8)
            let expected = (0...bytes.count).contains { bytes[$0...].starts(with: wanted) }
            #expect(ScalarText.contains(text, part) == expected, "seed \(seed): \(text), \(part)")
            #expect(ScalarText.isLess(text, part) == bytes.lexicographicallyPrecedes(wanted), "seed \(seed)")
            let isSuffix = bytes.reversed().starts(with: wanted.reversed())
            #expect(ScalarText.hasSuffix(text, part) == isSuffix, "seed \(seed)")
        }
    }

    @Test func `hashes differ between canonically equivalent texts and between ends of texts`() {
        func hash(_ texts: String...) -> Int {
            var hasher = Hasher()
            for text in texts { ScalarText.hash(text, into: &hasher) }
            return hasher.finalize()
        }
        #expect(hash("é") == hash("é"))
        #expect(hash("é") != hash("e\u{301}"))
        #expect(hash("ab", "c") != hash("a", "bc"))
    }

    @Test(
        arguments: [
            ("a", "b"), ("лен", "лео"), ("a\u{D7FF}", "a\u{E000}"), ("a\u{10FFFF}", "b"), ("\u{7F}", "\u{80}"),
            ("\u{FFFF}", "\u{10000}"), ("e\u{301}", "e\u{302}"), ("a\0", "a\u{1}"),
            ("\u{D7FF}\u{10FFFF}\u{10FFFF}", "\u{E000}"), ("\u{7FF}", "\u{800}"),
        ])
    func `the upper bound of a prefix is the next text that does not begin with it`(prefix: String, bound: String) {
        #expect(ScalarText.prefixUpperBound(prefix) == Array(bound.utf8))
    }

    @Test(arguments: ["", "\u{10FFFF}", "\u{10FFFF}\u{10FFFF}"])
    func `a prefix without greater texts has no upper bound`(prefix: String) {
        #expect(ScalarText.prefixUpperBound(prefix) == nil)
    }

    @Test func `a prefix and its bound enclose exactly the texts with that prefix`() {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        let letters: [Unicode.Scalar] = [
            "a", "b", "\u{7F}", "\u{80}", "\u{D7FF}", "\u{E000}", "\u{FFFF}", "\u{10FFFF}",
        ]
        for _ in 0..<20_000 {
            let prefix = random.string(of: letters, maxCount: 2)
            let other = random.string(of: letters, maxCount: 4)
            let bytes = Array(other.utf8)
            let isBelow = ScalarText.prefixUpperBound(prefix).map { bytes.lexicographicallyPrecedes($0) } ?? true
            let isInRange = !ScalarText.isLess(other, prefix) && isBelow
            #expect(isInRange == bytes.starts(with: prefix.utf8), "seed \(seed): \(prefix.hex), \(other.hex)")
        }
    }
}

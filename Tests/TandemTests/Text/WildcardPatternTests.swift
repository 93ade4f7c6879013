import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite("Wildcard pattern", .ownThreads)
struct WildcardPatternTests {
    static let examples: [(String, String, Bool)] = [
        ("", "", true), ("", "a", false), ("*", "", true), ("*", "abc", true), ("?", "", false), ("?", "я", true),
        ("?", "яя", false), ("a*", "abc", true), ("a*", "Abc", false), ("*c", "abc", true), ("*c", "abcd", false),
        ("a?c", "abc", true), ("a?c", "ac", false), ("*b*", "abc", true), ("*b*", "ac", false),
        ("a*b*c", "a12b34c", true),
        ("a*b*c", "acb", false), ("**", "x", true), ("*?*", "", false), ("*?*", "x", true), ("??*", "я", false),
        ("Пят?р*", "Пятёрочка", true), ("пят*", "Пятёрочка", false), ("?", "e\u{301}", false), ("??", "e\u{301}", true),
        ("?", "👍", true), (#"\*"#, "*", true), (#"\*"#, "a", false), (#"100\*?"#, "100*x", true), (#"\?"#, "?", true),
        (#"\?"#, "x", false), (#"\\"#, #"\"#, true), (#"a\"#, #"a\"#, true), (#"\я*"#, "яблоко", true),
        ("a\0*", "a\0b", true), ("a?b", "a\0b", true), ("*\0", "x\0", true), ("*aab", "aaaab", true),
        ("*ab?cd*", "ababacdabxcd", true), ("*?я", "яя", true), ("*?я", "я", false), ("a*?", "a", false),
    ]

    @Test(arguments: examples)
    func `patterns match whole texts, scalar by scalar`(pattern: String, text: String, matches: Bool) {
        #expect(WildcardPattern(pattern).matches(text) == matches)
    }

    @Test(
        arguments: [
            ("", ""), ("abc", "abc"), ("ab*c", "ab"), ("*", ""), ("я?", "я"), (#"a\*b*"#, "a*b"), (#"a\"#, #"a\"#),
            (#"\?"#, "?"), ("a\0b?", "a\0b"),
        ])
    func `the literal prefix ends at the first wildcard`(pattern: String, prefix: String) {
        #expect(ScalarText.isEqual(WildcardPattern(pattern).literalPrefix, prefix))
    }

    @Test func `matching agrees with the plain recursive definition, on random patterns`() {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        func oracle(_ pattern: ArraySlice<Unicode.Scalar>, _ text: ArraySlice<Unicode.Scalar>) -> Bool {
            guard let first = pattern.first else { return text.isEmpty }
            let rest = pattern.dropFirst()
            switch first {
            case "*": return oracle(rest, text) || (!text.isEmpty && oracle(pattern, text.dropFirst()))
            case "?": return !text.isEmpty && oracle(rest, text.dropFirst())
            case "\\" where !rest.isEmpty: return rest.first == text.first && oracle(rest.dropFirst(), text.dropFirst())
            default: return text.first == first && oracle(rest, text.dropFirst())
            }
        }
        for _ in 0..<30_000 {
            let pattern = random.string(of: ["a", "я", "*", "*", "?", "\\"], maxCount: 7)
            let text = random.string(of: ["a", "a", "я", "*", "\0"], maxCount: 9)
            let expected = oracle(Array(pattern.unicodeScalars)[...], Array(text.unicodeScalars)[...])
            let compiled = WildcardPattern(pattern)
            #expect(compiled.matches(text) == expected, "seed \(seed): \(pattern) on \(text)")
            if expected { #expect(text.utf8.starts(with: compiled.literalPrefix.utf8), "seed \(seed)") }
        }
    }

    @Test(.timeLimit(.minutes(10))) func `a pattern of many stars ends in time`() {
        let text = String(repeating: "a", count: 20_000)
        #expect(!WildcardPattern(String(repeating: "*a", count: 100) + "*b").matches(text))
    }
}

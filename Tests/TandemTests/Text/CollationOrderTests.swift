import Foundation
import TestSupport
import Testing

@testable import Tandem

@Suite("Collation order", .ownThreads)
struct CollationOrderTests {
    /// Texts in the order of a language.
    struct Example: CustomTestStringConvertible, Sendable {
        let language: SortLanguage
        var isNumeric = false
        let texts: [String]
        var testDescription: String { "\(language)\(isNumeric ? ", numeric" : ""): \(texts.joined(separator: " < "))" }
    }

    static let examples: [Example] = [
        // The root: accents after letters, case after accents.
        Example(
            language: .root, texts: ["", " ", "_", "-", ",", "!", ".", "$", "0", "9", "a", "A", "á", "Á", "ab", "b"]),
        Example(language: .root, texts: ["cote", "coté", "côte", "côté", "coter"]),
        Example(language: .root, texts: ["ad", "æ", "af", "Ångström", "z", "α", "Ω", "а", "я", "א", "가", "あ", "一"]),
        Example(language: .root, texts: ["елка", "ёлка", "елки", "Ёлки", "жук", "и", "й", "к"]),
        Example(language: .root, texts: ["black bird", "black-bird", "blackbird"]),
        Example(language: .root, texts: ["Лента 10", "Лента 2"]),
        Example(language: .root, isNumeric: true, texts: ["Лента 02", "Лента 2", "Лента 010", "Лента 10"]),
        // The languages.
        Example(language: .swedish, texts: ["Ahlén", "Über", "Yxa", "Zorn", "Åhlén", "Æ", "Ärla", "Ø", "Öhman"]),
        Example(language: .danish, texts: ["Bo", "bo", "Zoo", "Æble", "Ärla", "Øl", "Öl", "Ål", "Aalborg"]),
        Example(language: .norwegian, texts: ["bo", "Bo", "Zoo", "Æble", "Øl", "Öl", "Ål", "Aalesund"]),
        Example(language: .finnish, texts: ["d", "đ", "e", "y", "ü", "z", "å", "ä", "ö"]),
        Example(language: .estonian, texts: ["s", "š", "z", "ž", "t", "u", "w", "õ", "ä", "ö", "ü", "x", "y"]),
        Example(language: .spanish, texts: ["chico", "cuna", "llama", "luna", "nube", "ñu", "oso"]),
        Example(language: .spanishTraditional, texts: ["cuna", "chico", "día", "luna", "llama", "mar", "nube", "ñu"]),
        Example(
            language: .turkish, texts: ["c", "ç", "d", "g", "ğ", "h", "ı", "I", "i", "İ", "j", "o", "ö", "s", "ş"]),
        Example(language: .azerbaijani, texts: ["e", "ə", "f", "g", "ğ", "h", "x", "ı", "i", "k", "q", "l", "z", "w"]),
        Example(language: .ukrainian, texts: ["г", "ґ", "д", "е", "є", "и", "і", "ї", "й", "ь", "ю", "я", "a"]),
        Example(language: .belarusian, texts: ["е", "ё", "ж", "у", "ў", "ф", "z"]),
        Example(language: .russian, texts: ["ёлка", "елки", "ель", "яма", "a"]),
        Example(language: .kazakh, texts: ["е", "ё", "у", "ұ", "ү", "ф", "ы", "і", "ь", "a"]),
        Example(language: .polish, texts: ["a", "ą", "b", "c", "ć", "l", "ł", "m", "o", "ó", "z", "ź", "ż"]),
        Example(language: .czech, texts: ["c", "č", "d", "h", "ch", "Ch", "CH", "i", "r", "ř", "s", "š", "z", "ž"]),
        Example(language: .slovak, texts: ["a", "ä", "b", "h", "chata", "i", "o", "ô", "p"]),
        Example(language: .hungarian, texts: ["c", "cukor", "csap", "d", "dzsem", "e", "o", "ó", "ö", "ő", "p", "ü"]),
        Example(language: .romanian, texts: ["a", "ă", "â", "b", "i", "î", "s", "ș", "t", "ț", "u"]),
        Example(language: .croatian, texts: ["c", "č", "ć", "d", "dž", "đ", "e", "l", "lj", "m", "nj", "o", "а", "α"]),
        Example(language: .lithuanian, texts: ["c", "č", "d", "i", "y", "ik", "yl", "s", "š", "z", "ž"]),
        Example(language: .latvian, texts: ["c", "č", "d", "g", "ģ", "h", "k", "ķ", "l", "ļ", "n", "ņ", "z", "ž"]),
        Example(language: .icelandic, texts: ["a", "á", "b", "d", "ð", "e", "é", "z", "æ", "ö", "å"]),
        Example(
            language: .welsh,
            texts: ["c", "cz", "ch", "d", "dz", "dd", "f", "ff", "g", "ng", "h", "l", "ll", "r", "rh"]),
        Example(
            language: .vietnamese,
            texts: ["a", "à", "ả", "ã", "á", "ạ", "ă", "â", "b", "d", "đ", "e", "ê", "o", "ô", "ơ"]),
        Example(language: .germanPhonebook, texts: ["Ad", "Ae", "Ä", "Af", "Muell", "Müll", "Mug", "Oe", "Ö", "Of"]),
        Example(language: .slovenian, texts: ["c", "č", "ć", "d", "đ", "s", "š", "z", "ž"]),
        Example(language: .albanian, texts: ["c", "ç", "d", "dh", "e", "ë", "f", "l", "ll", "m", "z", "zh"]),
        Example(language: .serbian, texts: ["а", "я", "a", "z"]),
        Example(language: .macedonian, texts: ["г", "д", "ѓ", "е", "к", "л", "ћ", "ќ", "у"]),
        Example(language: .greek, texts: ["α", "ω", "a", "z", "а"]),
    ]

    @Test(arguments: examples) func `texts are in the order of the language`(example: Example) {
        let collation = Collation(language: example.language, isNumeric: example.isNumeric)
        for (a, b) in zip(example.texts, example.texts.dropFirst()) {
            let isLess = collation.key(for: a).lexicographicallyPrecedes(collation.key(for: b))
            #expect(isLess, "\(a) < \(b)")
        }
    }

    @Test func `every language has an example, and differs from the root`() {
        #expect(Set(Self.examples.map(\.language)) == Set(SortLanguage.allCases))
        let root = Collation(language: .root, isNumeric: false)
        for language in SortLanguage.allCases where language != .root {
            let own = Collation(language: language, isNumeric: false)
            let texts = Self.examples.filter { $0.language == language }.flatMap(\.texts)
            let differs = texts.contains { own.key(for: $0) != root.key(for: $0) }
            #expect(differs, "\(language)")
        }
    }

    @Test func `the raw values, which are stored in files, do not change`() {
        #expect(
            SortLanguage.allCases.map(\.rawValue).sorted() == [
                "az", "be", "cs", "cy", "da", "de-phonebook", "el", "es", "es-traditional", "et", "fi", "hr", "hu",
                "is",
                "kk", "lt", "lv", "mk", "no", "pl", "ro", "root", "ru", "sk", "sl", "sq", "sr", "sv", "tr", "uk", "vi",
            ])
    }

    @Test func `texts are in the order of ICU's keys`() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("collation-vectors.txt")
        var collation = Collation(language: .root, isNumeric: false)
        var last: (text: String, key: [UInt8])?
        var count = 0
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            if line.hasPrefix("@") {
                let parts = line.dropFirst().split(separator: " ")
                let language = try #require(SortLanguage(rawValue: String(parts[0])))
                collation = Collation(language: language, isNumeric: parts[1] == "numeric")
                last = nil
                continue
            }
            // A line with an equals sign has the key of the line before it.
            let isEqual = line.hasPrefix("=")
            let scalars = line.drop { $0 == "=" }.split(separator: " ").compactMap { UInt32($0, radix: 16) }
            let text = String(scalars: scalars)
            let key = collation.key(for: text)
            if let last {
                let isRight = isEqual ? last.key == key : last.key.lexicographicallyPrecedes(key)
                #expect(isRight, "\(collation.language): \(last.text.hex) before \(text.hex)")
            }
            last = (text, key)
            count += 1
        }
        #expect(count > 4_000)
    }
}

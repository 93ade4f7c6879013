import Foundation
import TestSupport
import Testing

@testable import Tandem

@Suite("First letters of a collation", .ownThreads)
struct CollationLetterTests {
    @Test(
        arguments: [
            (SortLanguage.root, "ёлка", "Е"), (.root, "Ель", "Е"), (.root, "йод", "Й"), (.root, "Ångström", "A"),
            (.root, "ærlig", "A"), (.root, "ﬁn", "F"), (.root, "ß", "S"), (.root, "７up", "7"), (.root, "٧", "7"),
            (.root, "½", "1"), (.root, "'t Zusje", "'"), (.root, "&pizza", "&"), (.root, " x", " "), (.root, "一番", "一"),
            (.root, "⼀", "一"), (.root, "㐀", "㐀"), (.root, "", ""), (.root, "\0\u{AD}", ""), (.root, "\0ab", "A"),
            (.root, "ωμέγα", "Ω"), (.root, "\u{378}x", "\u{378}"), (.root, "\u{10FFFF}", "\u{10FFFF}"),
            (.root, "e\u{301}", "E"), (.root, "เกาะ", "ก"), (.root, "ひ", "ひ"), (.root, "ピ", "ひ"),
            (.swedish, "Ångström", "Å"), (.swedish, "ängel", "Ä"), (.swedish, "æ", "Ä"), (.swedish, "élan", "E"),
            (.swedish, "a\u{30A}", "Å"),
            (.danish, "aalborg", "Å"), (.danish, "østers", "Ø"), (.turkish, "istanbul", "İ"), (.turkish, "ısı", "I"),
            (.turkish, "IĞDIR", "I"), (.czech, "chata", "CH"), (.czech, "cena", "C"), (.czech, "čaj", "Č"),
            (.spanish, "ñu", "Ñ"), (.spanish, "llama", "L"), (.spanishTraditional, "llama", "LL"),
            (.russian, "ёлка", "Е"), (.belarusian, "ёлка", "Ё"), (.ukrainian, "їжак", "Ї"), (.ukrainian, "ґанок", "Ґ"),
            (.croatian, "ljeto", "LJ"), (.croatian, "ǆep", "DŽ"), (.hungarian, "szia", "SZ"), (.welsh, "ddoe", "DD"),
            (.germanPhonebook, "Ärzte", "A"), (.lithuanian, "yla", "I"), (.icelandic, "ágúst", "Á"),
        ])
    func `texts are in the section of their first letter`(language: SortLanguage, text: String, letter: String) {
        let found = Collation(language: language, isNumeric: false).firstLetter(of: text)
        #expect(found.hex == letter.hex)
    }

    @Test func `all numbers are in one section if they are compared by value`() {
        let collation = Collation(language: .root, isNumeric: true)
        #expect(collation.firstLetter(of: "7up") == "0–9")
        #expect(collation.firstLetter(of: "١٠") == "0–9")
        #expect(collation.firstLetter(of: "seven") == "S")
    }

    @Test(.enabled(if: BrandNames.areHere)) func `sections are contiguous in the order of the keys`() {
        for language in SortLanguage.allCases {
            // The order of numbers is the same in all languages.
            for isNumeric in isSoak || language == .root ? [false, true] : [false] {
                let collation = Collation(language: language, isNumeric: isNumeric)
                let names = BrandNames.all.map { (key: collation.key(for: $0), text: $0) }
                    .sorted { $0.key.lexicographicallyPrecedes($1.key) }
                var seen: Set<String> = []
                var last: String?
                for (_, text) in names {
                    let letter = collation.firstLetter(of: text)
                    if letter != last {
                        let isNew = seen.insert(letter).inserted
                        #expect(isNew, "\(language): \(letter) of \(text)")
                    }
                    last = letter
                }
                #expect(seen.count > 100)
            }
        }
    }

    @Test func `a letter is in its own section`() {
        for language in [SortLanguage.root, .swedish, .czech, .turkish, .ukrainian] {
            let collation = Collation(language: language, isNumeric: false)
            for scalar in allScalars where scalar.value < 0x3_0000 {
                let letter = collation.firstLetter(of: String(scalar))
                let again = collation.firstLetter(of: letter)
                #expect(letter == again, "\(language): \(String(scalar).hex)")
            }
        }
    }
}

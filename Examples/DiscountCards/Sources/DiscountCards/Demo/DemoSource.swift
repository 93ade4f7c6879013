import Foundation
import Tandem

/// The demo's data: brands, and searches for them.
struct DemoSource {
    /// A search that the demo types.
    struct Search {
        let words: String
        /// A note about the search's result.
        let note: String
    }

    /// A selection of cards that shows how names are sorted.
    struct SortSample {
        let title: String
        let predicate: (Card.Columns) -> Tandem.Predicate<Card>
    }

    /// The origin of the names, as a sentence.
    let origin: String
    let entries: [BrandEntry]
    let searches: [Search]
    let sortSamples: [SortSample]

    /// The first search in Cyrillic letters.
    var cyrillicWords: String {
        searches.first { $0.words.unicodeScalars.allSatisfy { $0 == " " || "а"..."я" ~= $0 } }?.words ?? ""
    }

    /// Returns the brands of a file, else those of the shared data, else generated ones.
    static func find(_ file: String?) throws -> DemoSource {
        if let file { return try brands(from: file) }
        for folder in sharedFolders {
            let path = folder.appendingPathComponent("data/brands.tsv").standardizedFileURL.path
            if FileManager.default.fileExists(atPath: path) { return try brands(from: path) }
        }
        return .madeUp
    }

    /// The folder in `TANDEM_SHARED`, else the folder `shared` beside the checkout of this build.
    private static var sharedFolders: [URL] {
        if let path = ProcessInfo.processInfo.environment["TANDEM_SHARED"], !path.isEmpty {
            return [URL(fileURLWithPath: path)]
        }
        // NB: Examples/DiscountCards/Sources/DiscountCards/Demo/DemoSource.swift, six steps below the checkout.
        let checkout = (0..<6).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        return [checkout.deletingLastPathComponent().appendingPathComponent("shared")]
    }

    private static func brands(from path: String) throws -> DemoSource {
        let entries = try BrandFile.read(path)
        return DemoSource(
            origin: "\(entries.count.grouped) brand names from \(path)",
            entries: entries,
            searches: [
                Search(words: "cafe", note: "accents do not count"),
                Search(words: "muller", note: "anywhere in a word"),
                Search(words: "loknstore", note: "nor does punctuation"),
                Search(words: "пятероч", note: "Cyrillic: ё is е"),
                Search(words: "аптека склад", note: "all words must be there"),
                Search(words: "γαλαξιας", note: "Greek, without the accent"),
                Search(words: "σκλαβ", note: "a few letters are enough"),
                Search(words: "ローソン", note: "Japanese"),
                Search(words: "ﾛｰｿﾝ", note: "the same, typed in half width"),
                Search(words: "京", note: "Chinese: one letter is enough"),
                Search(words: "스타", note: "Korean: two letters"),
                Search(words: "აფთ", note: "Georgian"),
                Search(words: "بنك", note: "Arabic"),
                Search(words: "מרק", note: "Hebrew"),
                Search(words: "звонарева", note: "by the owner's name"),
            ],
            sortSamples: [
                .names(beginningWith: ["bab", "Bab", "BAB"]),
                .names(beginningWith: ["ок", "Ок", "ОК"]),
            ])
    }

    private static var madeUp: DemoSource {
        let entries = MadeUpBrands.entries(15_000)
        return DemoSource(
            origin: "no brands.tsv here, so \(entries.count.grouped) made-up names in \(WordList.all.count) scripts",
            entries: entries,
            searches: [
                Search(words: "orvea cafe", note: "neither accents nor punctuation count"),
                Search(words: "strassenlat", note: "ß is ss"),
                Search(words: "hanabi", note: "nor does width"),
                Search(words: "березкино орел", note: "Cyrillic: ё is е"),
                Search(words: "ежик", note: "a few letters are enough"),
                Search(words: "μελισσακι", note: "Greek, without the accent"),
                Search(words: "星見", note: "Japanese: two letters"),
                Search(words: "ハネハネ", note: "Japanese: stored in half width"),
                Search(words: "麦", note: "Chinese: one letter is enough"),
                Search(words: "달빛", note: "Korean: two letters"),
                Search(words: "ბროწ", note: "Georgian"),
                Search(words: "الرمان", note: "Arabic"),
                Search(words: "ינשוף", note: "Hebrew"),
                Search(words: "звонарева", note: "by the owner's name"),
            ],
            sortSamples: [
                SortSample(title: "Bookshops in Казань") {
                    $0.shop.hasPrefix("Книги ") && $0.shop.hasSuffix(" Казань")
                }
            ])
    }
}

extension DemoSource.SortSample {
    static func names(beginningWith spellings: [String]) -> Self {
        Self(title: "Names that begin with " + spellings.joined(separator: ", ")) { card in
            spellings.reduce(.false) { $0 || card.shop.hasPrefix($1) }
        }
    }
}

import Foundation
import TestSupport
import Testing

@testable import Tandem

/// Real names in 14 scripts; see `shared/data/README.md`.
private let brandsFile: URL = {
    if let shared = ProcessInfo.processInfo.environment["TANDEM_SHARED"] {
        return URL(fileURLWithPath: shared).appendingPathComponent("data/brands.tsv")
    }
    var folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    while folder.path != "/", !FileManager.default.fileExists(atPath: folder.path + "/Package.swift") {
        folder.deleteLastPathComponent()
    }
    return folder.deletingLastPathComponent().appendingPathComponent("shared/data/brands.tsv")
}()

@Suite(
    "Folding of brand names",
    .ownThreads,
    .enabled(if: FileManager.default.fileExists(atPath: brandsFile.path), "shared/data/brands.tsv is not here"))
struct BrandNamesTests {
    let names: [String]

    init() throws {
        names = try String(contentsOf: brandsFile, encoding: .utf8).split(separator: "\n").dropFirst()
            .map { String($0.prefix { $0 != "\t" }) }
    }

    @Test("Both ways agree and keys are their own keys")
    func keys() {
        for name in names {
            let sort = Folding.sortKey(name)
            let search = Folding.searchKey(name)
            #expect(hasEqualScalars(sort, generalSortKey(name)))
            #expect(hasEqualScalars(search, generalSearchKey(name)))
            #expect(hasEqualScalars(Folding.sortKey(sort), sort))
            #expect(hasEqualScalars(Folding.searchKey(search), search))
            #expect(!search.isEmpty, "\(name) has an empty key")
        }
    }

    @Test("Each name is found by each of its words, as written, in capitals, decomposed")
    func words() {
        for name in names {
            let key = Folding.searchKey(name)
            for word in name.split(whereSeparator: \.isWhitespace).map(String.init) {
                for typed in [word, word.uppercased(), word.lowercased(), word.decomposedStringWithCanonicalMapping] {
                    let needle = SearchNeedle(typed)
                    #expect(needle.isEmpty || needle.matches(searchKey: key), "\(typed) in \(name)")
                }
            }
        }
    }
}

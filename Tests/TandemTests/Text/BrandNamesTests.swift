import TestSupport
import Testing

@testable import Tandem

@Suite(
    "Folding of brand names",
    .ownThreads,
    .enabled(if: BrandNames.areHere, "shared/data/brands.tsv is not here"))
struct BrandNamesTests {
    let names = BrandNames.all

    init() throws { try #require(!names.isEmpty) }

    @Test func `the fast and the general path agree, and keys are their own keys`() {
        for name in names {
            let sort = Folding.caseKey(name)
            let search = Folding.searchKey(name)
            #expect(hasEqualScalars(sort, generalCaseKey(name)))
            #expect(hasEqualScalars(search, generalSearchKey(name)))
            #expect(hasEqualScalars(Folding.caseKey(sort), sort))
            #expect(hasEqualScalars(Folding.searchKey(search), search))
            #expect(!search.isEmpty, "\(name) has an empty key")
        }
    }

    @Test func `each name is found by each of its words, as written, in either case and decomposed`() {
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

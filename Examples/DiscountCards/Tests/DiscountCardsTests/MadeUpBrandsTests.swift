import Testing

@testable import DiscountCards

@Suite struct MadeUpBrandsTests {
    @Test func `fifteen thousand names are different, in twelve scripts, and equal in each run`() {
        let entries = MadeUpBrands.entries(15_000)
        #expect(Set(entries.map(\.name)).count == 15_000)
        #expect(WordList.all.count == 12)
        #expect(entries == MadeUpBrands.entries(15_000))
    }

    @Test(arguments: WordList.all)
    func `each list has fourteen shops, six kinds and fifteen cities without duplicates`(list: WordList) {
        #expect(Set(list.shops).count == 14 && list.shops.count == 14, "\(list.script)")
        #expect(Set(list.kinds).count == 6 && list.kinds.count == WordList.categories.count, "\(list.script)")
        #expect(Set(list.cities).count == 15 && list.cities.count == 15, "\(list.script)")
    }
}

import Testing

@testable import TandemMacros

@Suite struct NearNameTests {
    @Test(arguments: [
        ("", "", 0), ("shop", "shop", 0), ("shop", "shopp", 1), ("shop", "shp", 1), ("shop", "ship", 1),
        ("barcode", "barcdoe", 1), ("kitten", "sitting", 3), ("", "abc", 3), ("магазин", "магазни", 1),
    ])
    func `the distance counts insertions, deletions, replacements and swaps`(left: String, right: String, count: Int) {
        #expect(NearName.distance(left, right) == count)
        #expect(NearName.distance(right, left) == count)
    }

    @Test func `the nearest name is found regardless of case`() {
        #expect(NearName.find("Shop", among: ["ship", "shop"]) == "shop")
        #expect(NearName.find("barcdoe", among: ["code", "barcode"]) == "barcode")
    }

    @Test func `a distant name is not proposed`() {
        #expect(NearName.find("code", among: ["shop", "points"]) == nil)
        #expect(NearName.find("a", among: []) == nil)
    }
}

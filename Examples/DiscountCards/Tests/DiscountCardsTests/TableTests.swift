import Testing

@testable import DiscountCards

@Suite struct TableTests {
    private let table: Table = {
        var table = Table(.init(title: "Shop", isFlexible: true), .init(title: "Points", isNumber: true))
        table.append("ローソンストア100", "7")
        table.append("Lidl", "1,234")
        return table
    }()

    @Test func `columns are as wide as their contents`() {
        #expect(table.widths(fitting: nil) == [17, 6])
        #expect(table.widths(fitting: 25) == [17, 6])
    }

    @Test func `only flexible columns are cut on a narrow screen, down to a limit`() {
        #expect(table.widths(fitting: 20) == [12, 6])
        #expect(table.widths(fitting: 3) == [8, 6])
    }
}

import Testing

@testable import DiscountCards

@Suite struct TableTests {
    private let table: Table = {
        var table = Table(.init(title: "Shop", isFlexible: true), .init(title: "Points", isNumber: true))
        table.append("ローソンストア100", "7")
        table.append("Lidl", "1,234")
        return table
    }()

    @Test func `columns are as wide as what stands in them`() {
        #expect(table.widths(fitting: nil) == [17, 6])
        #expect(table.widths(fitting: 25) == [17, 6])
    }

    @Test func `where the screen is too narrow, only the flexible column gives way, down to a limit`() {
        #expect(table.widths(fitting: 20) == [12, 6])
        #expect(table.widths(fitting: 3) == [8, 6])
    }
}

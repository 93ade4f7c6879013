import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct ReportedTablesTests {
    private final class Table {}

    @Test func `each table is looked up once`() {
        var reported = ReportedTables<Table>()
        var found: [String: Table?] = [:]
        func report(_ name: String) -> Table? {
            // Each call has the name at another address.
            reported.table(Array(name.utf8CString)) { name in
                #expect(found[name] == nil)
                let table = name.hasPrefix("__") ? nil : Table()
                found[name] = .some(table)
                return table
            }
        }
        let names = ["Card", "Card2", "__operations", "Кар", "Карта"] + (0..<20).map { "Model\($0)" }
        for name in names + names.reversed() + names {
            let table = report(name)
            #expect(table === found[name]!)
            #expect((table == nil) == (name == "__operations"))
            _ = report("Card")
        }
        #expect(found.count == names.count)
    }
}

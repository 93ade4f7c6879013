import TandemSync
import TestSupport
import Testing

@Suite(.ownThreads) struct RowSetTests {
    @Test func `each row is added once`() {
        var rows = RowSet()
        let all = Set((0..<5000).map { Int64($0 * 7) } + [.max, .min, -1])
        for row in all { rows.insert(row) }
        #expect(rows.count == all.count)
        var taken: [Int64] = []
        while !rows.isEmpty {
            let some = rows.removeFirst(1000)
            #expect(some.count >= 1000 || rows.isEmpty)
            taken += some
        }
        #expect(taken.count == all.count && Set(taken) == all)
        #expect(rows.removeFirst(5).isEmpty)
    }
}

import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// A row index, which finds rows by their rowids.
@Suite(.ownThreads) struct RowIndexTests {
    @Test(arguments: [1, 3, 1_000_003] as [Int64])
    func `rows are found after any changes`(step: Int64) throws {
        var maker = RowFactory(.seeded())
        var rows = Dictionary(
            uniqueKeysWithValues: (1...700).map { (Int64($0) * step, maker.row(rowID: Int64($0) * step)) })
        var tree = RowTree(sorted: rows.values.sorted(by: LiveRow.isBefore))
        let index = RowIndex()
        index.reset(tree, rowIDs: step...700 * step)
        var next = Int64(701)
        for _ in 0..<300 {
            // Like the engine, remove the rows that the index returns.
            let removed = rows.values.filter { _ in maker.below(60) == 0 }.compactMap { index.row($0.rowID) }
            var inserted = removed.filter { _ in maker.below(2) == 0 }.map {
                maker.row(rowID: $0.rowID, localID: $0.localID)
            }
            for _ in 0..<maker.below(20) {
                inserted.append(maker.row(rowID: next * step))
                next += 1
            }
            for row in removed { rows[row.rowID] = nil }
            for row in inserted { rows[row.rowID] = row }
            let fits = tree.apply(removed: removed, inserted: inserted, index: index)
            try #require(fits)
            #expect(rows.allSatisfy { index.row($0.key) === $0.value })
            #expect(removed.allSatisfy { index.row($0.rowID) === rows[$0.rowID] })
            #expect(index.row(next * step) == nil && index.row(-1) == nil && index.row(.max) == nil)
        }
        try tree.checkInvariants()
        let all = Array(RowSlice(tree))
        let fits = tree.apply(removed: all, inserted: [], index: index)
        #expect(fits && all.allSatisfy { index.row($0.rowID) == nil })
        let row = maker.row(rowID: -7)
        let fitsAgain = tree.apply(removed: [], inserted: [row], index: index)
        #expect(fitsAgain && index.row(-7) === row)
    }
}

import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct RowTreeBulkTests {
    @Test func `trees of every size are built correctly`() throws {
        var maker = RowFactory(.seeded())
        for count in Array(0...200) + [383, 384, 385, 511, 512, 513, 3_000, 12_289] {
            let rows = maker.rows(count)
            let tree = RowTree(sorted: rows)
            try tree.checkInvariants()
            #expect(tree.count == count)
            #expect(areSame(tree, rows))
        }
    }

    @Test func `sorting puts rows in order`() {
        var maker = RowFactory(.seeded(), letters: [0x61, 0x62], longestKey: 17)
        for count in [0, 1, 2, 3, 10, 100, 1_000] {
            let sorted = maker.rows(count)
            var rows = sorted.shuffled(using: &maker.random)
            RowTree.sort(&rows)
            #expect(areSame(rows, sorted))
            RowTree.sort(&rows)
            #expect(areSame(rows, sorted))
        }
    }

    @Test func `any part can be iterated`() {
        var maker = RowFactory(.seeded())
        let rows = maker.rows(300)
        let tree = RowTree(sorted: rows)
        for start in stride(from: 0, through: 300, by: 7) {
            var rest = tree.makeIterator(from: start)
            #expect(areSame(IteratorSequence(rest), rows[start...]))
            #expect(rest.next() === rows.dropFirst(start).first)
            let end = start + maker.below(301 - start)
            var seen: [LiveRow] = []
            tree.forEach(in: start..<end) { seen.append($0) }
            #expect(areSame(seen, rows[start..<end]))
            #expect(areSame(RowSlice(tree, range: start..<end), seen))
        }
    }

    /// From no change to more changes than rows: one by one in any order, one by one in order, and rebuilt.
    @Test func `bulk changes equal single changes`() throws {
        var maker = RowFactory(.seeded(), longestKey: 9)
        for round in 0..<150 {
            let rows = maker.rows(maker.below(round % 5 == 0 ? 30 : 700))
            var tree = RowTree(sorted: rows)
            let snapshot = tree
            var model = rows
            let share = [0, 1, 3, 10, 50, 100][maker.below(6)]
            var removed = rows.filter { _ in maker.below(100) < share }
            model.removeAll { row in removed.contains { $0 === row } }
            // Some rows stay in place, some move, some are new.
            var inserted = removed.filter { _ in maker.below(3) > 0 }.map { row in
                let key = maker.below(2) == 0 ? row.key : maker.key()
                return maker.row(rowID: row.rowID, localID: row.localID, key: key)
            }
            for _ in 0..<maker.below(share * 3 + 2) { inserted.append(maker.row(rowID: Int64(1_000 + inserted.count))) }
            model = (model + inserted).sorted(by: LiveRow.isBefore)
            removed.shuffle(using: &maker.random)
            inserted.shuffle(using: &maker.random)

            let fits = tree.apply(removed: removed, inserted: inserted)
            #expect(fits)
            try tree.checkInvariants()
            #expect(areSame(tree, model))
            try snapshot.checkInvariants()
            #expect(areSame(snapshot, rows))
        }
    }

    @Test func `changes that do not fit are reported`() throws {
        var maker = RowFactory(.seeded())
        for count in [3, 200, 2_000] {
            let rows = maker.rows(count)
            for many in [1, 20, 150] where many < count {
                let present = Array(rows[..<many])
                let absent = (0..<many).map { maker.row(rowID: Int64(9_000 + $0)) }
                let misfits = [(absent, []), ([], present), (present + absent, absent), ([], absent + absent)]
                for (removed, inserted) in misfits {
                    var tree = RowTree(sorted: rows)
                    let fits = tree.apply(removed: removed, inserted: inserted)
                    #expect(!fits)
                    try tree.checkInvariants()
                }
                var tree = RowTree(sorted: rows)
                let fits = tree.apply(removed: present, inserted: present + absent)
                let position = tree.insert(present[0])
                #expect(fits && position == nil && tree.count == count + many)
                try tree.checkInvariants()
            }
        }
    }

    @Test func `rows are freed with the last tree that has them`() {
        /// A row that counts its instances.
        final class Counted: LiveRow, @unchecked Sendable {
            nonisolated(unsafe) static var alive = 0
            init(_ number: Int) {
                Self.alive += 1
                super.init(rowID: Int64(number), key: [UInt8(number % 7)], localID: LocalID("\(number)"))
            }
            deinit { Self.alive -= 1 }
        }
        do {
            var tree = RowTree()
            for number in 0..<500 { tree.insert(Counted(number)) }
            #expect(Counted.alive == 500)
            var snapshot = tree
            for number in 0..<400 {
                tree.remove(LiveRow(rowID: 0, key: [UInt8(number % 7)], localID: LocalID("\(number)")))
            }
            #expect(tree.count == 100)
            #expect(Counted.alive == 500)
            snapshot = tree
            #expect(Counted.alive == 100)
            #expect(snapshot.count == 100)
            tree.replace(Counted(450))
            #expect(Counted.alive == 101)
            let fits = tree.apply(removed: Array(tree), inserted: (1_000..<1_300).map { Counted($0) })
            #expect(fits)
            #expect(Counted.alive == 400)
            snapshot = RowTree()
            #expect(Counted.alive == 300)
        }
        #expect(Counted.alive == 0)
    }
}

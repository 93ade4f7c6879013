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
            #expect(areSame(RowSlice(tree), rows))
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

    @Test func `two threads sort and build a list as one thread does`() throws {
        let threads = TwoThreads(leastRows: 2)
        let keys: [(letters: [UInt8], longest: Int)] = [
            ([0x61, 0x62], 17), ([0x61], 0), ([0x61], 40), ([0, 0x61, 0xFF], 2), ([0xD0, 0xFF], 20),
        ]
        for (letters, longest) in keys {
            var maker = RowFactory(.seeded(), letters: letters, longestKey: longest)
            for count in [0, 1, 2, 3, 5, 31, 32, 33, 100, 384, 700] {
                let sorted = maker.rows(count)
                for rows in [sorted, sorted.reversed(), sorted.shuffled(using: &maker.random)] {
                    let buffer = RowBuffer(rows)
                    let tree = try #require(RowTree(buffer, sorted: buffer.sorted(threads: threads), threads: threads))
                    try tree.checkInvariants()
                    #expect(areSame(RowSlice(tree), sorted))
                }
            }
        }
    }

    @Test(arguments: [TwoThreads(leastRows: 2), TwoThreads(leastRows: .max)])
    func `two rows with the same position are found anywhere`(_ threads: TwoThreads) {
        var maker = RowFactory(.seeded())
        let rows = maker.rows(150)
        for place in rows.indices {
            var rows = rows
            rows.insert(LiveRow(number: 0, rowID: 1_000, key: rows[place].key, localID: rows[place].localID), at: place)
            let buffer = RowBuffer(rows)
            #expect(RowTree(buffer, sorted: Array(rows.indices), threads: threads) == nil)
            #expect(RowTree(buffer, sorted: buffer.sorted(threads: threads), threads: threads) == nil)
        }
    }

    @Test func `any part can be iterated`() {
        var maker = RowFactory(.seeded())
        let rows = maker.rows(300)
        let tree = RowTree(sorted: rows)
        for start in stride(from: 0, through: 300, by: 7) {
            let rest = RowSlice(tree, range: start..<300)
            #expect(areSame(rest, rows[start...]))
            var iterator = rest.makeIterator()
            #expect(iterator.next() === rows.dropFirst(start).first)
            let end = start + maker.below(301 - start)
            #expect(areSame(RowSlice(tree, range: start..<end), rows[start..<end]))
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
            // Some rows are those of the tree itself, which finds them by address.
            removed = try removed.map { row in
                let rank = try #require(tree.rank(of: row))
                return maker.below(2) == 0 ? tree[rank] : row
            }

            let fits = tree.apply(removed: removed, inserted: inserted)
            #expect(fits)
            try tree.checkInvariants()
            #expect(areSame(RowSlice(tree), model))
            try snapshot.checkInvariants()
            #expect(areSame(RowSlice(snapshot), rows))
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

    @Test func `leaves and long payloads are freed with the last tree that has them`() throws {
        var maker = RowFactory(.seeded())
        weak var leaf: RowNode?
        weak var payload: RowPayload?
        var snapshot = RowTree()
        do {
            let long = LiveRow(number: 1, rowID: 1, key: [], localID: "long", padding: RowPayload.longestInline)
            var tree = RowTree(sorted: maker.rows(500))
            tree.insert(long)
            let row = tree[try #require(tree.rank(of: long))]
            leaf = row.leaf
            payload = row.withView { $0.box?.takeUnretainedValue() }
            snapshot = tree
            // Other rows of the leaf change: the new version of the leaf shares the payload.
            tree.remove(tree[tree.rank(of: long) == 0 ? 1 : 0])
            tree.remove(long)
        }
        #expect(leaf != nil && payload != nil)
        snapshot = RowTree()
        #expect(leaf == nil && payload == nil)
        #expect(snapshot.isEmpty)
    }

    @Test func `a tree takes little more memory than its rows`() throws {
        let rows = 20_000
        let buffer = RowBuffer()
        for row in 0..<rows {
            let key = Array("\(row / 100) Пятёрочка \(row % 100 + 100)".utf8)
            buffer.append(
                rowID: Int64(row + 1), key: key, localID: LocalIDGenerator.makeID(),
                payload: Array(repeating: 1, count: 150))
        }
        let tree = try #require(RowTree(buffer, sorted: buffer.sorted()))
        var bytes = 0
        tree.forEachLeaf { bytes += $0.byteCount }
        // The payload has 150 bytes, the ID 16, and the rest of the key at most 27.
        #expect(bytes / rows <= 210)
        #expect(bytes / rows >= 150)
    }
}

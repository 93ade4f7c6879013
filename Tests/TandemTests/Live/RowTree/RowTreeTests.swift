import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// A tree beside an array with the same operations.
private struct Pair {
    var tree = RowTree()
    var model: [LiveRow] = []

    init() {}

    init(_ rows: [LiveRow]) {
        tree = RowTree(sorted: rows)
        model = rows
    }

    mutating func insert(_ row: LiveRow) {
        let index = model.firstIndex { LiveRow.isBefore(row, $0) } ?? model.count
        model.insert(row, at: index)
        #expect(tree.lowerBound(row) == index)
        #expect(tree.rank(of: row) == nil)
        #expect(tree.insert(row) == index)
    }

    mutating func remove(at index: Int) {
        let row = model.remove(at: index)
        #expect(tree.rank(of: row) == index)
        #expect(tree.remove(row) == index)
        #expect(tree.remove(row) == nil)
    }

    mutating func replace(at index: Int, with row: LiveRow) {
        model[index] = row
        #expect(tree.replace(row) == index)
    }

    func check() throws {
        try tree.checkInvariants()
        try #require(tree.count == model.count)
        #expect(tree.isEmpty == model.isEmpty)
        #expect(areSame(RowSlice(tree), model))
        if let first = model.first, let last = model.last {
            #expect(tree[0] === first)
            #expect(tree[tree.count - 1] === last)
        }
    }
}

@Suite(.ownThreads) struct RowTreeTests {
    @Test(
        arguments: [
            ([0, 1, 0x61, 0xD0, 0xFF], 4), ([0x61], 20), ([0, 7], 18), ([0x61, 0x62], 10), ([0], 0),
            ([0, 1, 2, 0x40, 0x41, 0x7F, 0x80, 0xFE, 0xFF], 3),
        ] as [([UInt8], Int)])
    func `a tree behaves like an array`(letters: [UInt8], longestKey: Int) throws {
        var maker = RowFactory(.seeded(), letters: letters, longestKey: longestKey)
        var pair = Pair()
        // The tree grows to many leaves, shrinks to nothing and grows again.
        var growing = true
        for step in 0..<2_500 {
            if pair.model.count > 700 { growing = false }
            if pair.model.isEmpty { growing = true }
            switch maker.below(10) {
            case 0 where !pair.model.isEmpty:
                let index = maker.below(pair.model.count)
                let old = pair.model[index]
                pair.replace(at: index, with: maker.row(rowID: old.rowID, localID: old.localID, key: old.key))
            case let choice where growing == (choice < 9) || pair.model.isEmpty:
                pair.insert(maker.row(rowID: Int64(step)))
            default:
                pair.remove(at: maker.below(pair.model.count))
            }
            if step < 100 || step % 10 == 0 { try pair.check() }
        }
        for index in pair.model.indices {
            #expect(pair.tree[index] === pair.model[index])
            #expect(pair.tree.rank(of: pair.model[index]) == index)
        }
        while !pair.model.isEmpty {
            pair.remove(at: maker.below(pair.model.count))
            if pair.model.count % 20 == 0 { try pair.check() }
        }
        try pair.check()
    }

    @Test func `rows sort by key bytes, then by the bytes of the ID`() throws {
        let keys: [[UInt8]] = [
            [], [0], [0, 0], [0, 1], [0, 1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0, 0], [1], [1, 0, 0, 0, 0, 0],
            [1, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 5],
            Array(repeating: 1, count: 14), Array(repeating: 1, count: 15), Array(repeating: 1, count: 16),
            Array(repeating: 1, count: 15) + [0], [0x7F], [0x80], [0xFF], Array(repeating: 0xFF, count: 30),
        ]
        let ids = [
            "", "\0", "\0\0", "a", "a\0", "a\0b", "aaaaaaa", "aaaaaaaa", "aaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaa",
            "aaaaaaaaaaaaaaa\0", "00000000-0000-7000-8000-000000000000", "00000000-0000-7000-8000-00000000000a",
            "00000000-0000-7000-8000-00000000000A", "00000000-0000-7000-8000-00000000000", "e\u{301}", "é", "\u{212B}",
            "Å", "\u{FFFF}", "\u{10000}",
        ]
        var rows: [LiveRow] = []
        for key in keys {
            for id in ids { rows.append(LiveRow(rowID: Int64(rows.count), key: key, localID: LocalID(id))) }
        }
        let sorted = rows.sorted(by: LiveRow.isBefore)
        var random = SeededGenerator.seeded()
        rows.shuffle(using: &random)
        RowTree.sort(&rows)
        #expect(areSame(rows, sorted))
        for (lhs, rhs) in zip(sorted, sorted.dropFirst()) {
            let orders = lhs.withView { left in
                rhs.withView { (left.order($0), $0.order(left), RowWords(left), RowWords($0)) }
            }
            #expect(orders.0 < 0 && orders.1 > 0)
            #expect((orders.2.high, orders.2.low) <= (orders.3.high, orders.3.low))
        }
        var tree = RowTree()
        for row in rows.shuffled(using: &random) { tree.insert(row) }
        try tree.checkInvariants()
        #expect(areSame(RowSlice(tree), sorted))
    }

    @Test func `a place is found by an equal row`() throws {
        let row = LiveRow(rowID: 1, key: [1, 2], localID: "a")
        var tree = RowTree(sorted: [row])
        let equal = LiveRow(rowID: 2, key: [1, 2], localID: "a")
        #expect(tree.rank(of: equal) == 0)
        #expect(tree[0] === row)
        #expect(tree.replace(equal) == 0)
        #expect(tree.rank(of: row) == 0)
        #expect(tree[0] === equal)
        #expect(tree.replace(LiveRow(rowID: 1, key: [1], localID: "a")) == nil)
        #expect(tree.remove(row) == 0)
        #expect(tree.isEmpty)
        #expect(tree.remove(row) == nil)
        #expect(tree.replace(row) == nil)
        #expect(tree.lowerBound(row) == 0)
        try tree.checkInvariants()
    }

    @Test func `snapshots do not change with the tree`() throws {
        var maker = RowFactory(.seeded())
        var pair = Pair(maker.rows(600))
        var snapshots: [(RowTree, [LiveRow])] = []
        for step in 0..<600 {
            if step % 7 == 0 { snapshots.append((pair.tree, pair.model)) }
            if snapshots.count > 20 { snapshots.remove(at: maker.below(snapshots.count)) }
            let index = maker.below(pair.model.count)
            switch step % 3 {
            case 0: pair.insert(maker.row(rowID: Int64(step)))
            case 1: pair.remove(at: index)
            default:
                let old = pair.model[index]
                pair.replace(at: index, with: maker.row(rowID: old.rowID, localID: old.localID, key: old.key))
            }
            if step % 30 == 0 {
                for (tree, model) in snapshots {
                    try tree.checkInvariants()
                    #expect(areSame(RowSlice(tree), model))
                }
            }
        }
        try pair.check()
        for (tree, model) in snapshots { #expect(areSame(RowSlice(tree), model)) }
    }

    /// Ranges of rows are removed, so that whole leaves and then their parents disappear, beside a snapshot that has
    /// them.
    @Test func `a tree shrinks from many levels to nothing`() throws {
        var maker = RowFactory(.seeded())
        let rows = maker.rows(7_000)
        var pair = Pair(rows)
        var snapshot = pair.tree
        while !pair.model.isEmpty {
            if maker.below(3) == 0 { snapshot = pair.tree }
            let start = maker.below(pair.model.count)
            let end = min(start + 1 + maker.below(300), pair.model.count)
            for row in pair.model[start..<end] { #expect(pair.tree.remove(row) == start) }
            pair.model.removeSubrange(start..<end)
            try pair.check()
            try snapshot.checkInvariants()
        }
        #expect(RowTree(sorted: rows).count == 7_000)
    }

    @Test func `a change shares all leaves but its own`() throws {
        var maker = RowFactory(.seeded())
        var pair = Pair(maker.rows(900))
        func leaves(_ tree: RowTree) -> Set<ObjectIdentifier> {
            var leaves: Set<ObjectIdentifier> = []
            tree.forEachLeaf { leaves.insert(ObjectIdentifier($0)) }
            return leaves
        }
        let before = pair.tree
        let row = maker.row(rowID: 1_000)
        pair.insert(row)
        #expect(leaves(before).subtracting(leaves(pair.tree)).count == 1)
        let snapshot = pair.tree
        #expect(snapshot.isIdentical(to: pair.tree))
        pair.tree.remove(row)
        #expect(!snapshot.isIdentical(to: pair.tree))
        #expect(snapshot.rank(of: row) != nil)
        #expect(pair.tree.rank(of: row) == nil)
    }
}

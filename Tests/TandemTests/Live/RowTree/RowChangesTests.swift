import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Applies changes to a list as a table view does.
private func applying(_ changes: RowChanges, to old: [LiveRow], from new: RowSlice) -> [LiveRow] {
    var list = old
    for index in changes.deletions.reversed() { list.remove(at: index) }
    for index in changes.insertions { list.insert(new[index], at: index) }
    for modification in changes.modifications { list[modification.new] = new[modification.new] }
    return list
}

/// Checks the properties that every set of changes has.
private func check(_ changes: RowChanges, from: RowSlice, to: RowSlice, deltas: [RowDelta]) {
    let (old, new) = (Array(from), Array(to))
    #expect(areSame(applying(changes, to: old, from: to), new))
    #expect(changes.deletions == Set(changes.deletions).sorted())
    #expect(changes.insertions == Set(changes.insertions).sorted())
    for move in changes.moves {
        #expect(old[move.from].localID == new[move.to].localID)
        #expect(changes.deletions.contains(move.from) && changes.insertions.contains(move.to))
    }
    for modification in changes.modifications {
        #expect(old[modification.old].localID == new[modification.new].localID)
        #expect(!changes.deletions.contains(modification.old) && !changes.insertions.contains(modification.new))
    }
    // Unchanged rows are not reported, and each changed object is reported once.
    let oldIDs = Set(deltas.compactMap(\.old?.localID))
    let newIDs = Set(deltas.compactMap(\.new?.localID))
    #expect(changes.modifications.count + changes.moves.count == oldIDs.intersection(newIDs).count)
    #expect(changes.deletions.count - changes.moves.count == oldIDs.subtracting(newIDs).count)
    #expect(changes.insertions.count - changes.moves.count == newIDs.subtracting(oldIDs).count)
}

/// The state of a live query and its history by row number.
private struct RowHistory {
    var maker: RowFactory
    var rows: [Int64: LiveRow] = [:]
    var tree = RowTree()
    var deltas: [Int64: RowDelta] = [:]
    /// Objects that are not in the list and may return under any number.
    var gone: [LocalID] = []

    mutating func put(_ row: LiveRow?, at rowID: Int64) {
        let old = rows[rowID]
        if let old {
            tree.remove(old)
            if row?.localID != old.localID { gone.append(old.localID) }
        }
        if let row { tree.insert(row) }
        rows[rowID] = row
        deltas.merge(RowDelta(old: old, new: row), rowID: rowID)
    }

    /// Returns a row to insert: a new object or an earlier one.
    mutating func comingRow(at rowID: Int64) -> LiveRow {
        let returning = !gone.isEmpty && maker.below(2) == 0
        return maker.row(rowID: rowID, localID: returning ? gone.remove(at: maker.below(gone.count)) : nil)
    }

    mutating func change(among numbers: Int) {
        let rowID = Int64(1 + maker.below(numbers))
        guard let old = rows[rowID] else { return put(comingRow(at: rowID), at: rowID) }
        switch maker.below(6) {
        case 0: put(nil, at: rowID)
        case 1: put(comingRow(at: rowID), at: rowID)
        case 2, 3: put(maker.row(rowID: rowID, localID: old.localID), at: rowID)
        default: put(maker.row(rowID: rowID, localID: old.localID, key: old.key), at: rowID)
        }
    }

    mutating func window() -> RowSlice {
        if maker.below(2) == 0 { return RowSlice(tree) }
        let start = maker.below(tree.count + 1)
        return RowSlice(tree, range: start..<start + maker.below(tree.count - start + 1))
    }
}

@Suite(.ownThreads) struct RowChangesTests {
    /// The seeds and sizes: from a few rows that take each other's places to some with whole leaves between them.
    @Test(arguments: [(3, 600), (12, 600), (100, 120), (600, 40)])
    func `changes applied to the old rows give the new rows`(numbers: Int, rounds: Int) throws {
        var history = RowHistory(maker: RowFactory(.seeded(), longestKey: 3))
        for rowID in 1...Int64(numbers) where history.maker.below(3) > 0 {
            history.put(history.maker.row(rowID: rowID), at: rowID)
        }
        for _ in 0..<rounds {
            history.deltas = [:]
            let before = RowSlice(history.tree)
            for _ in 0..<history.maker.below(history.maker.below(3) == 0 ? numbers : 4) {
                history.change(among: numbers)
            }
            let after = RowSlice(history.tree)
            let deltas = Array(history.deltas.values)
            let changes = try #require(RowChanges(from: before, to: after, deltas: deltas))
            check(changes, from: before, to: after, deltas: deltas)
        }
    }

    @Test(arguments: [(3, 600), (12, 600), (100, 150)])
    func `windows that move are reported by their difference`(numbers: Int, rounds: Int) throws {
        var history = RowHistory(maker: RowFactory(.seeded(), longestKey: 3))
        var before = RowSlice.empty
        for _ in 0..<rounds {
            for _ in 0..<history.maker.below(6) { history.change(among: numbers) }
            let after = history.window()
            let deltas = before.deltas(to: after) { _, _ in false }
            let changes = try #require(RowChanges(from: before, to: after, deltas: deltas))
            check(changes, from: before, to: after, deltas: deltas)
            before = after
        }
    }

    @Test func `a difference leaves out rows that look the same`() throws {
        var maker = RowFactory(.seeded())
        let rows = maker.rows(200)
        let old = RowSlice(RowTree(sorted: rows))
        let same = RowSlice(
            RowTree(
                sorted: rows.map { LiveRow(number: 0, rowID: $0.rowID, key: $0.key, localID: $0.localID) }))
        #expect(old.deltas(to: same) { _, _ in true }.isEmpty)
        #expect(old.deltas(to: same) { _, _ in false }.count == 200)
        #expect(old.deltas(to: old) { _, _ in preconditionFailure() }.isEmpty)
        #expect(old.deltas(to: RowSlice(RowTree(sorted: rows))) { _, _ in preconditionFailure() }.isEmpty)
        #expect(RowSlice.empty.deltas(to: old) { _, _ in true }.count == 200)
        #expect(old.deltas(to: .empty) { _, _ in true }.count == 200)
    }

    @Test func `a changed row is modified where it stays and moved elsewhere`() throws {
        let rows = (0..<5).map { LiveRow(rowID: Int64($0), key: [UInt8($0 * 10)], localID: LocalID("\($0)")) }
        let before = RowTree(sorted: rows)
        func changes(to key: UInt8) throws -> RowChanges {
            var after = before
            let new = LiveRow(rowID: 2, key: [key], localID: "2")
            after.remove(rows[2])
            after.insert(new)
            return try #require(
                RowChanges(from: RowSlice(before), to: RowSlice(after), deltas: [RowDelta(old: rows[2], new: new)]))
        }
        for key: UInt8 in [11, 20, 29] {
            let stayed = try changes(to: key)
            #expect(stayed.modifications.map(\.old) == [2] && stayed.modifications.map(\.new) == [2])
            #expect(stayed.deletions.isEmpty && stayed.insertions.isEmpty && stayed.moves.isEmpty)
        }
        let moved = try changes(to: 31)
        #expect(moved.modifications.isEmpty)
        #expect(moved.deletions == [2] && moved.insertions == [3])
        #expect(moved.moves.map(\.from) == [2] && moved.moves.map(\.to) == [3])
    }

    /// Every row changes, and one of them moves from the first place to the last.
    @Test func `the maximum number of rows stays in place`() throws {
        let rows = (0..<50).map { LiveRow(rowID: Int64($0), key: [UInt8($0)], localID: LocalID("\($0)")) }
        let changed = (0..<50).map {
            LiveRow(rowID: Int64($0), key: [UInt8($0 == 0 ? 99 : $0)], localID: LocalID("\($0)"))
        }
        let before = RowSlice(RowTree(sorted: rows))
        let after = RowSlice(RowTree(sorted: changed.sorted(by: LiveRow.isBefore)))
        let deltas = zip(rows, changed).map { RowDelta(old: $0, new: $1) }
        let changes = try #require(RowChanges(from: before, to: after, deltas: deltas))
        check(changes, from: before, to: after, deltas: deltas)
        #expect(changes.modifications.count == 49)
        #expect(changes.moves.map(\.from) == [0] && changes.moves.map(\.to) == [49])
    }

    @Test func `deltas that do not fit the two states give no changes`() {
        func row(_ number: Int) -> LiveRow {
            LiveRow(rowID: Int64(number), key: [UInt8(number)], localID: LocalID("\(number)"))
        }
        let rows = (0..<6).map(row)
        let from = RowSlice(RowTree(sorted: Array(rows[..<5])))
        let to = RowSlice(RowTree(sorted: Array(rows[1...])))
        let (gone, came) = (RowDelta(old: rows[0], new: nil), RowDelta(old: nil, new: rows[5]))
        #expect(RowChanges(from: from, to: to, deltas: [gone, came]) != nil)
        let wrong: [[RowDelta]] = [
            // A delta is missing, is there twice, or concerns a row that is not shown.
            [gone], [came], [gone, gone, came], [gone, came, came], [gone, came, RowDelta(old: rows[5], new: nil)],
            [RowDelta(old: rows[5], new: nil)], [RowDelta(old: nil, new: rows[0])],
            [gone, RowDelta(old: rows[1], new: nil)],
        ]
        for deltas in wrong { #expect(RowChanges(from: from, to: to, deltas: deltas) == nil) }
        let fewer = RowSlice(RowTree(sorted: Array(rows[..<4])))
        #expect(RowChanges(from: from, to: fewer, deltas: []) == nil)
        let whole = RowChanges(replacing: from, with: fewer)
        #expect(whole.deletions == [0, 1, 2, 3, 4] && whole.insertions == [0, 1, 2, 3])
    }

    @Test func `ranks of many rows equal the ranks of each`() {
        var maker = RowFactory(.seeded())
        let tree = RowTree(sorted: maker.rows(2_000))
        for range in [0..<2_000, 17..<1_801, 500..<540] {
            let slice = RowSlice(tree, range: range)
            for share in [1, 3, 50] {
                let rows = slice.filter { _ in maker.below(share) == 0 }.shuffled(using: &maker.random)
                #expect(slice.ranks(of: rows) == rows.compactMap { slice.rank(of: $0) })
                #expect(slice.ranks(of: rows + [maker.row(rowID: 9_999)]) == nil)
            }
        }
        let slice = RowSlice(tree, range: 500..<540)
        #expect(slice.rank(of: tree[499]) == nil && slice.rank(of: tree[540]) == nil)
        #expect(slice.rank(of: tree[500]) == 0 && slice[0] === tree[500])
    }
}

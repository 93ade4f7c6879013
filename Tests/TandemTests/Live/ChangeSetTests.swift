import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Makes a row of a list of words. Its text is its key.
private func word(_ text: String, _ id: Int64, key: String? = nil) -> LiveRow {
    LiveRow(
        rowID: id, key: Array((key ?? text).utf8), localID: LocalID("id\(id)"), payload: Array(text.utf8))
}

private func words(_ rows: [LiveRow]) -> LiveCollection<String> {
    LiveCollection(RowSlice(RowTree(sorted: rows.sorted(by: LiveRow.isBefore)))) {
        $0.withView { String(decoding: $0.payload, as: UTF8.self) }
    }
}

private func changeSet(_ old: LiveCollection<String>, _ new: LiveCollection<String>) throws -> ChangeSet<String> {
    let deltas = old.rows.deltas(to: new.rows) { _, _ in false }
    let changes = try #require(RowChanges(from: old.rows, to: new.rows, deltas: deltas))
    return ChangeSet(previous: old, results: new, changes: changes)
}

/// A list that an app maintains as the README shows.
private struct List<Element: Sendable> {
    var elements: [Element] = []

    mutating func apply(
        deletions: [Int], insertions: [Int], modifications: [ListModification],
        from results: LiveCollection<Element>
    ) {
        for index in deletions.reversed() { elements.remove(at: index) }
        for index in insertions { elements.insert(results[index], at: index) }
        for modification in modifications { elements[modification.new] = results[modification.new] }
    }
}

@Suite(.ownThreads) struct ChangeSetTests {
    private let before = [word("b", 1), word("d", 2), word("f", 3), word("h", 4)]

    @Test func `the first change set inserts all elements`() {
        let change = ChangeSet(initial: words(before))
        #expect(change.isInitial)
        #expect(change.previous.isEmpty)
        #expect(change.insertions == [0, 1, 2, 3])
        #expect(change.insertedIDs == ["id1", "id2", "id3", "id4"])
        #expect(change.deletedIDs.isEmpty && change.modifiedIDs.isEmpty && change.deleted.isEmpty)
        #expect(!change.isEmpty)
        #expect(change.description == "4 results, initial")
        var array: [String] = []
        change.apply(to: &array)
        #expect(array == ["b", "d", "f", "h"])
        #expect(ChangeSet(initial: LiveCollection<String>.empty).isEmpty)
    }

    @Test func `a change set gives changes by index, ID and value`() throws {
        // b is deleted, d changes in place, f moves to the end, a and e are new.
        let after = [word("a", 5), word("D", 2, key: "d"), word("e", 6), word("h", 4, key: "h"), word("z", 3)]
        let change = try changeSet(words(before), words([after[0], after[1], after[2], before[3], after[4]]))
        #expect(change.description == "5 results: deletions at 0 2, insertions at 0 2 4, modifications at 1, moves 2→4")
        #expect(change.deletedIDs == ["id1"])
        #expect(change.deleted == ["b"])
        #expect(change.insertedIDs == ["id5", "id6"])
        #expect(change.modifiedIDs == ["id2", "id3"])
        #expect(change.oldValue(of: change.modifications[0]) == "d")
        #expect(change.newValue(of: change.modifications[0]) == "D")
        #expect(change.oldValue(of: change.moves[0]) == "f")
        #expect(change.newValue(of: change.moves[0]) == "z")
        #expect(Array(change.previous) == ["b", "d", "f", "h"])
        #expect(!change.isInitial && !change.isEmpty)
    }

    @Test func `the list of the README follows a change set`() throws {
        var list = List<String>()
        let after = [word("a", 5), before[1], word("F", 3, key: "f")]
        for change in [ChangeSet(initial: words(before)), try changeSet(words(before), words(after))] {
            list.apply(
                deletions: change.deletions, insertions: change.insertions,
                modifications: change.modifications, from: change.results)
        }
        #expect(list.elements == ["a", "d", "F"])
    }

    @Test func `change sets applied in order give the result`() throws {
        var maker = RowFactory(.seeded())
        var rows: [LiveRow] = []
        var last = words([])
        var array: [String] = []
        var made: Int64 = 0
        for step in 0..<400 {
            for _ in 0..<maker.below(step % 10 == 0 ? 60 : 4) {
                if rows.count > 0, maker.below(2) == 0 {
                    let index = maker.below(rows.count)
                    let text = "\(maker.below(500))"
                    rows[index] = word(text, rows[index].rowID, key: maker.below(2) == 0 ? "k" : nil)
                } else if rows.count > 40, maker.below(3) > 0 {
                    rows.remove(at: maker.below(rows.count))
                } else {
                    made += 1
                    rows.append(word("\(maker.below(500))", made))
                }
            }
            let next = words(rows)
            try changeSet(last, next).apply(to: &array)
            #expect(array == Array(next))
            last = next
        }
    }

    @Test func `long lists are shortened in the description`() throws {
        let many = words((0..<50).map { word("\($0)", $0) })
        let text = try changeSet(words([]), many).description
        #expect(text == "50 results: insertions at \((0..<20).map(String.init).joined(separator: " ")) and 30 more")
        #expect(try changeSet(many, many).description == "50 results, unchanged")
        #expect(try changeSet(many, words([word("one", 99)])).description.hasPrefix("1 result: deletions at 0 1 2 "))
    }
}

@Suite(.ownThreads) struct LiveCollectionTests {
    @Test func `a live collection is a collection of its elements`() {
        let list = words([word("b", 1), word("a", 2), word("c", 3)])
        #expect(list.count == 3 && list.startIndex == 0 && list.endIndex == 3)
        #expect(Array(list) == ["a", "b", "c"])
        #expect(list[1] == "b" && list.first == "a" && list.last == "c")
        #expect(list.reversed() == ["c", "b", "a"])
        #expect(Array(list[1...]) == ["b", "c"])
        #expect(list.firstIndex(of: "c") == 2)
        #expect(Array(list.localIDs) == ["id2", "id1", "id3"])
        #expect(list.localIDs[2] == "id3" && list.localIDs.count == 3)
        #expect(list.description == #"["a", "b", "c"]"#)
    }

    @Test func `an empty live collection needs no store`() {
        #expect(LiveCollection<Int>.empty.isEmpty)
        #expect(Array(LiveCollection<Int>.empty) == [])
        #expect(LiveCollection<Int>.empty.first == nil)
        #expect(LiveCollection<Int>.empty.localIDs.isEmpty)
    }

    @Test func `live collections with equal elements are equal`() {
        let list = words([word("a", 1), word("b", 2)])
        #expect(list == words([word("a", 7), word("b", 8)]))
        #expect(list != words([word("a", 1)]))
        #expect(list != words([word("a", 1), word("c", 2)]))
    }

    @Test func `a live collection shows the window of a slice`() {
        let rows = (0..<200).map { word("\(100 + $0)", Int64($0)) }
        let slice = RowSlice(RowTree(sorted: rows), range: 50..<150)
        let list = LiveCollection(slice) { $0.rowID }
        #expect(list.count == 100 && list[0] == 50 && list.last == 149)
        #expect(Array(list) == Array(50..<150))
    }
}

import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct RowDeltaTests {
    private let a = LiveRow(rowID: 1, key: [1], localID: "a")
    private let b = LiveRow(rowID: 1, key: [2], localID: "a")
    private let c = LiveRow(rowID: 1, key: [3], localID: "a")
    private let other = LiveRow(rowID: 1, key: [1], localID: "b")

    private func merged(_ steps: (LiveRow?, LiveRow?)...) -> [Int64: RowDelta] {
        var deltas: [Int64: RowDelta] = [:]
        for (old, new) in steps { deltas.merge(RowDelta(old: old, new: new), rowID: 1) }
        return deltas
    }

    @Test func `only the net effect remains`() throws {
        let deltas = merged((a, b), (b, c))
        #expect(deltas.count == 1)
        #expect(deltas[1]?.old === a && deltas[1]?.new === c)
        #expect(try #require(merged((nil, a), (a, b))[1]).old == nil)
        #expect(try #require(merged((a, b), (b, nil))[1]).new == nil)
    }

    @Test func `changes without effect disappear`() {
        #expect(merged((nil, a), (a, nil)).isEmpty)
        #expect(merged((a, b), (b, a)).isEmpty)
        #expect(merged((a, nil), (nil, a)).isEmpty)
        #expect(merged((a, a)).isEmpty)
        #expect(merged((nil, nil)).isEmpty)
        #expect(merged((nil, a), (a, nil), (nil, b))[1]?.new === b)
    }

    @Test func `a reused row number keeps both objects`() throws {
        let deltas = merged((a, nil), (nil, other))
        #expect(deltas[1]?.old === a && deltas[1]?.new === other)
        let changes = try #require(
            RowChanges(
                from: RowSlice(RowTree(sorted: [a])), to: RowSlice(RowTree(sorted: [other])),
                deltas: Array(deltas.values)))
        #expect(changes.deletions == [0] && changes.insertions == [0])
        #expect(changes.modifications.isEmpty && changes.moves.isEmpty)
    }

    @Test func `an object that returns under another number is a modification`() throws {
        let back = LiveRow(rowID: 2, key: [1], localID: "a")
        var deltas = merged((a, nil))
        deltas.merge(RowDelta(old: nil, new: back), rowID: 2)
        #expect(deltas.count == 2)
        let changes = try #require(
            RowChanges(
                from: RowSlice(RowTree(sorted: [a])), to: RowSlice(RowTree(sorted: [back])),
                deltas: Array(deltas.values)))
        #expect(changes.deletions.isEmpty && changes.insertions.isEmpty && changes.moves.isEmpty)
        #expect(changes.modifications.map(\.new) == [0])
    }
}

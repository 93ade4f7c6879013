/// A change of rows by index, for lists.
///
/// Applied to an array of the old rows, it gives the new rows. Apply the deletions first, from the last to the first.
/// Then apply the insertions, from the first to the last. Then apply the modifications.
struct RowChanges: Sendable {
    /// Indices of removed rows among the old rows, ascending.
    var deletions: [Int] = []
    /// Indices of inserted rows among the new rows, ascending.
    var insertions: [Int] = []
    /// Old and new indices of changed rows that kept their neighbors, ascending.
    var modifications: [ListModification] = []
    /// Old and new indices of changed rows that moved, ascending by the old index. Each is also a deletion and an
    /// insertion.
    var moves: [ListMove] = []

    /// Computes the changes from one slice to another.
    ///
    /// - Parameter deltas: The changes of all rows that differ.
    /// - Returns: `nil` if the deltas do not turn one slice into the other.
    /// - Complexity: O(*k* log *n*) for *k* deltas, or O(*n* + *k* log *k*) if that is less.
    init?(from: RowSlice, to: RowSlice, deltas: some Collection<RowDelta>) {
        if deltas.count <= 1 {
            if let delta = deltas.first, !setOne(delta, from: from, to: to) { return nil }
        } else if from.isEmpty || to.isEmpty {
            // All rows were inserted or all were removed, as after an import.
            self = RowChanges(replacing: from, with: to)
        } else {
            guard let places = RowIndices(from: from, to: to, deltas: Array(deltas)) else { return nil }
            let (stayed, moved) = places.stayedAndMoved()
            modifications = stayed
            moves = moved
            deletions = Self.without(stayed.lazy.map(\.old), in: places.old)
            insertions = Self.without(stayed.lazy.map(\.new), in: places.new)
        }
        guard from.count - deletions.count + insertions.count == to.count else { return nil }
    }

    /// Creates a change that removes all rows of one slice and inserts all rows of the other. It is correct in any
    /// case.
    init(replacing from: RowSlice, with to: RowSlice) {
        deletions = Array(0..<from.count)
        insertions = Array(0..<to.count)
    }

    /// Handles a single delta. If only one row changed, it has the same neighbors exactly if its index is the same.
    ///
    /// - Returns: `false` if the row is not visible.
    private mutating func setOne(_ delta: RowDelta, from: RowSlice, to: RowSlice) -> Bool {
        let old = delta.old.flatMap { from.rank(of: $0) }
        let new = delta.new.flatMap { to.rank(of: $0) }
        guard (old == nil) == (delta.old == nil), (new == nil) == (delta.new == nil) else { return false }
        if let old, let new, delta.isOfOneObject {
            if old == new {
                modifications = [ListModification(old: old, new: new)]
                return true
            }
            moves = [ListMove(from: old, to: new)]
        }
        if let old { deletions = [old] }
        if let new { insertions = [new] }
        return true
    }

    /// Returns the elements of an ascending array without others, which are a subset and ascending too.
    private static func without(_ others: some Sequence<Int>, in all: [Int]) -> [Int] {
        var others = others.makeIterator()
        var next = others.next()
        return all.filter {
            guard $0 == next else { return true }
            next = others.next()
            return false
        }
    }
}

/// The indices of the rows of deltas.
private struct RowIndices {
    /// The indices of all old and of all new rows that differ, ascending.
    let old: [Int]
    let new: [Int]
    /// The indices of the objects on both sides, ascending by the old index. They include objects that moved.
    let changed: [ListModification]

    init?(from: RowSlice, to: RowSlice, deltas: [RowDelta]) {
        let olds = deltas.compactMap(\.old)
        let news = deltas.compactMap(\.new)
        guard let oldRanks = from.ranks(of: olds), let newRanks = to.ranks(of: news) else { return nil }
        var changed: [ListModification] = []
        // Objects that were removed under one rowid may have been inserted under another.
        var gone: [Int] = []
        var came: [Int] = []
        var oldIndex = 0
        var newIndex = 0
        for delta in deltas {
            if delta.isOfOneObject {
                changed.append(ListModification(old: oldRanks[oldIndex], new: newRanks[newIndex]))
            } else {
                if delta.old != nil { gone.append(oldIndex) }
                if delta.new != nil { came.append(newIndex) }
            }
            if delta.old != nil { oldIndex += 1 }
            if delta.new != nil { newIndex += 1 }
        }
        if !gone.isEmpty && !came.isEmpty {
            // A local ID occurs once, unless the store is damaged. Otherwise the other rows count as deleted and
            // inserted.
            var goneByID = Dictionary(gone.lazy.map { (olds[$0].localID, $0) }) { first, _ in first }
            for index in came {
                if let old = goneByID.removeValue(forKey: news[index].localID) {
                    changed.append(ListModification(old: oldRanks[old], new: newRanks[index]))
                }
            }
        }
        old = oldRanks.sorted()
        new = newRanks.sorted()
        func isTwice(_ ranks: [Int]) -> Bool { zip(ranks, ranks.dropFirst()).contains { $0 == $1 } }
        if isTwice(old) || isTwice(new) { return nil }
        self.changed = changed.sorted { $0.old < $1.old }
    }

    /// Separates the changed rows that kept their neighbors from those that moved.
    ///
    /// Rows without a difference are the same on both sides, in the same order. A changed row with the same number of
    /// such rows before it is in the same gap between them. Within a gap, as many rows as possible stay without
    /// changing their order.
    func stayedAndMoved() -> (stayed: [ListModification], moved: [ListMove]) {
        var inGap: [Int] = []
        inGap.reserveCapacity(changed.count)
        var oldBefore = 0
        for (index, row) in changed.enumerated() {
            while old[oldBefore] < row.old { oldBefore += 1 }
            let newBefore = new.indices.endOfPrefix { new[$0] < row.new }
            if row.old - oldBefore == row.new - newBefore { inGap.append(index) }
        }
        var stayed: [ListModification] = []
        var moved: [ListMove] = []
        var staying = Self.longestAscent(of: inGap) { changed[$0].new }.makeIterator()
        var next = staying.next()
        for (index, row) in changed.enumerated() {
            if index == next {
                stayed.append(row)
                next = staying.next()
            } else {
                moved.append(ListMove(from: row.old, to: row.new))
            }
        }
        return (stayed, moved)
    }

    /// Returns the longest subsequence of the elements that ascends by a value (patience sorting).
    private static func longestAscent(of elements: [Int], by value: (Int) -> Int) -> [Int] {
        if zip(elements, elements.dropFirst()).allSatisfy({ value($0) < value($1) }) { return elements }
        /// For each length, the last element of the sequence that ends lowest, as an index into `elements`.
        var ends: [Int] = []
        /// For each element, the element before it in the best sequence that ends with it.
        var previous = Array(repeating: -1, count: elements.count)
        for index in elements.indices {
            let length = ends.indices.endOfPrefix { value(elements[ends[$0]]) < value(elements[index]) }
            if length > 0 { previous[index] = ends[length - 1] }
            if length == ends.count { ends.append(index) } else { ends[length] = index }
        }
        var ascent: [Int] = []
        var index = ends.last ?? -1
        while index >= 0 {
            ascent.append(elements[index])
            index = previous[index]
        }
        return ascent.reversed()
    }
}

/// What a change of rows looks like by index, for whoever shows them in a list.
///
/// Applied to an array of the old rows it gives the new ones: first the deletions, from the last to the first, then the
/// insertions, from the first to the last, then the modifications.
struct RowChanges: Sendable {
    /// Indices of the old rows that go, ascending.
    var deletions: [Int] = []
    /// Indices of the new rows that come, ascending.
    var insertions: [Int] = []
    /// Where rows were and are that changed and stayed between the same neighbours, ascending.
    var modifications: [(old: Int, new: Int)] = []
    /// Where rows were and are that changed and went elsewhere, ascending by where they were. Each is a deletion and an
    /// insertion too.
    var moves: [(from: Int, to: Int)] = []

    var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }

    init() {}

    /// The changes from one slice to another.
    ///
    /// - Parameter deltas: What became of the rows: all that differ.
    /// - Returns: `nil` if the deltas do not make the one of the other.
    /// - Complexity: O(*k* log *n*) for *k* deltas, or O(*n* + *k* log *k*) if that is less.
    init?(from: RowSlice, to: RowSlice, deltas: [RowDelta], _ tuning: LiveTuning = LiveTuning()) {
        if deltas.count <= 1 {
            if let delta = deltas.first, !setOne(delta, from: from, to: to, tuning) { return nil }
        } else if from.isEmpty || to.isEmpty {
            // All have come, or all have gone, as after an import.
            self = RowChanges(replacing: from, with: to)
        } else {
            guard let places = Places(from: from, to: to, deltas: deltas, tuning) else { return nil }
            let (stayed, moved) = places.stayedAndMoved()
            modifications = stayed
            moves = moved
            deletions = Self.without(stayed.lazy.map(\.old), in: places.old)
            insertions = Self.without(stayed.lazy.map(\.new), in: places.new)
        }
        guard from.count - deletions.count + insertions.count == to.count else { return nil }
    }

    /// All rows of one slice go, and all of the other come: right whatever became of them.
    init(replacing from: RowSlice, with to: RowSlice) {
        deletions = Array(0..<from.count)
        insertions = Array(0..<to.count)
    }

    /// A row that changed alone is between the same neighbours if it is at the same index.
    ///
    /// - Returns: `false` if it is not shown.
    private mutating func setOne(_ delta: RowDelta, from: RowSlice, to: RowSlice, _ tuning: LiveTuning) -> Bool {
        let old = delta.old.flatMap { from.rank(of: $0) }
        let new = delta.new.flatMap { to.rank(of: $0) }
        guard (old == nil) == (delta.old == nil), (new == nil) == (delta.new == nil) else { return false }
        if let old, let new, delta.old?.localID == delta.new?.localID || tuning.has(.reusedRowForModification) {
            if old == new {
                modifications = [(old, new)]
                return true
            }
            moves = [(old, new)]
        }
        if let old { deletions = [old] }
        if let new { insertions = [new] }
        return true
    }

    /// The elements of an ascending array that are not among others, which are all in it and ascend too.
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

/// Where the rows of deltas were and are.
private struct Places {
    /// The indices of all old rows that differ, and of all new ones, ascending.
    let old: [Int]
    let new: [Int]
    /// The indices of the objects that are on both sides, ascending by the old ones.
    let changed: [(old: Int, new: Int)]

    init?(from: RowSlice, to: RowSlice, deltas: [RowDelta], _ tuning: LiveTuning) {
        let olds = deltas.compactMap(\.old)
        let news = deltas.compactMap(\.new)
        guard let oldRanks = from.ranks(of: olds), let newRanks = to.ranks(of: news) else { return nil }
        var changed: [(old: Int, new: Int)] = []
        // Objects that went under one row number may have come back under another.
        var gone: [Int] = []
        var came: [Int] = []
        var oldIndex = 0
        var newIndex = 0
        for delta in deltas {
            if let old = delta.old, let new = delta.new,
                old.localID == new.localID || tuning.has(.reusedRowForModification)
            {
                changed.append((oldRanks[oldIndex], newRanks[newIndex]))
            } else {
                if delta.old != nil { gone.append(oldIndex) }
                if delta.new != nil { came.append(newIndex) }
            }
            if delta.old != nil { oldIndex += 1 }
            if delta.new != nil { newIndex += 1 }
        }
        if !gone.isEmpty && !came.isEmpty {
            // A local ID is there once, unless the store is damaged: then it is deleted and inserted for the others.
            var goneByID = Dictionary(gone.lazy.map { (olds[$0].localID, $0) }) { first, _ in first }
            for index in came {
                if let old = goneByID.removeValue(forKey: news[index].localID) {
                    changed.append((oldRanks[old], newRanks[index]))
                }
            }
        }
        old = oldRanks.sorted()
        new = newRanks.sorted()
        func isTwice(_ ranks: [Int]) -> Bool { zip(ranks, ranks.dropFirst()).contains { $0 == $1 } }
        if isTwice(old) || isTwice(new) { return nil }
        self.changed = changed.sorted { $0.old < $1.old }
    }

    /// Tells the changed rows that stayed between the same neighbours from those that moved.
    ///
    /// The rows that differ in nothing are the same on both sides, in the same order. A changed row that has as many of
    /// them before it as it had is in the same gap between them. Of those in a gap as many stay as can without
    /// changing their order.
    func stayedAndMoved() -> (stayed: [(old: Int, new: Int)], moved: [(from: Int, to: Int)]) {
        var inGap: [Int] = []
        inGap.reserveCapacity(changed.count)
        var oldBefore = 0
        for (index, row) in changed.enumerated() {
            while old[oldBefore] < row.old { oldBefore += 1 }
            if row.old - oldBefore == row.new - Self.lowerBound(row.new, in: new) { inGap.append(index) }
        }
        var stayed: [(old: Int, new: Int)] = []
        var moved: [(from: Int, to: Int)] = []
        var staying = Self.longestAscent(of: inGap) { changed[$0].new }.makeIterator()
        var next = staying.next()
        for (index, row) in changed.enumerated() {
            if index == next {
                stayed.append(row)
                next = staying.next()
            } else {
                moved.append((row.old, row.new))
            }
        }
        return (stayed, moved)
    }

    private static func lowerBound(_ value: Int, in ascending: [Int]) -> Int {
        var low = 0
        var high = ascending.count
        while low < high {
            let middle = (low + high) / 2
            if ascending[middle] < value { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// As many of the elements as ascend by a value, in their order (patience sorting).
    private static func longestAscent(of elements: [Int], by value: (Int) -> Int) -> [Int] {
        if zip(elements, elements.dropFirst()).allSatisfy({ value($0) < value($1) }) { return elements }
        /// For each length, the last element of the ascent that ends lowest, as an index into `elements`.
        var ends: [Int] = []
        /// For each element, the one before it in the best ascent that ends with it.
        var previous = Array(repeating: -1, count: elements.count)
        for index in elements.indices {
            var low = 0
            var high = ends.count
            while low < high {
                let middle = (low + high) / 2
                if value(elements[ends[middle]]) < value(elements[index]) { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[index] = ends[low - 1] }
            if low == ends.count { ends.append(index) } else { ends[low] = index }
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

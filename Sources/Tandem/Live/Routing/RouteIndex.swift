/// An index of a table's queries, which finds the queries that may contain a row.
///
/// It is a value: a copy does not change with the original, and another thread can use it.
struct RouteIndex: Sendable {
    /// The queries that require one of some values in a column, by the values' hashes. A hash collision only makes a
    /// query a superfluous candidate.
    private struct Equality {
        let slot: Int
        var ids: [Int: [Int]] = [:]
    }

    private struct Ranges {
        let slot: Int
        var intervals = IntervalIndex()
    }

    /// The entry of a query.
    private enum QueryEntry {
        case always
        case equality(slot: Int, hashes: Set<Int>)
        case range(slot: Int)
    }

    private var entries: [Int: QueryEntry] = [:]
    private var always: [Int] = []
    private var equalities: [Equality] = []
    private var ranges: [Ranges] = []

    /// Adds a query. Without a condition it is a candidate for each row.
    ///
    /// - Parameter id: The query's number, which is unique in the index.
    /// - Complexity: O(1), or O(*n*) for a range.
    mutating func add(id: Int, condition: RouteCondition?, slots: inout ColumnSlots) {
        remove(id: id)
        switch condition {
        case nil:
            entries[id] = .always
            always.append(id)
        case .equal(let column, let values)?:
            let slot = slots.slot(of: column)
            let hashes = Set(values.map { BoundValue($0).withView(\.equalityHash) })
            entries[id] = .equality(slot: slot, hashes: hashes)
            let index = equalities.firstIndex { $0.slot == slot } ?? equalities.endIndex
            if index == equalities.endIndex { equalities.append(Equality(slot: slot)) }
            for hash in hashes { equalities[index].ids[hash, default: []].append(id) }
        case .range(let column, let lower, let upper)?:
            let slot = slots.slot(of: column)
            entries[id] = .range(slot: slot)
            let index = ranges.firstIndex { $0.slot == slot } ?? ranges.endIndex
            if index == ranges.endIndex { ranges.append(Ranges(slot: slot)) }
            // NULL sorts below all values, and is not in any range.
            let low = lower.map { IntervalIndex.Point($0.value, isAfter: !$0.isIncluded) }
            let high = upper.map { IntervalIndex.Point($0.value, isAfter: $0.isIncluded) }
            ranges[index].intervals.insert(id, from: low ?? IntervalIndex.Point(.null, isAfter: true), to: high)
        }
    }

    /// Removes a query, if it is in the index.
    mutating func remove(id: Int) {
        switch entries.removeValue(forKey: id) {
        case nil: break
        case .always?: always.removeAll { $0 == id }
        case .equality(let slot, let hashes)?:
            guard let index = equalities.firstIndex(where: { $0.slot == slot }) else { return }
            for hash in hashes {
                equalities[index].ids[hash]?.removeAll { $0 == id }
                if equalities[index].ids[hash]?.isEmpty == true { equalities[index].ids[hash] = nil }
            }
            if equalities[index].ids.isEmpty { equalities.remove(at: index) }
        case .range(let slot)?:
            guard let index = ranges.firstIndex(where: { $0.slot == slot }) else { return }
            ranges[index].intervals.remove(id)
            if ranges[index].intervals.isEmpty { ranges.remove(at: index) }
        }
    }

    /// Calls a function once with each query whose condition may hold for a row.
    ///
    /// - Complexity: O(*c* · log *n* + *f* · log *n*) for *n* queries. Here *c* is the number of columns with
    ///   conditions, and *f* that of the queries found.
    func candidates(_ row: some ColumnSource, into body: (Int) -> Void) {
        for id in always { body(id) }
        for equality in equalities {
            guard let ids = equality.ids[row.view(equality.slot).equalityHash] else { continue }
            for id in ids { body(id) }
        }
        for range in ranges { range.intervals.find(row.view(range.slot), into: body) }
    }
}

/// An index of intervals over a column's values. It finds the intervals that contain a value.
///
/// The end points of all intervals are kept sorted and distinct. A look-up first finds a value's position among them,
/// and then works with small integers only. The intervals are the nodes of a balanced binary tree, stored as a sorted
/// array. Each node knows the greatest end below it.
struct IntervalIndex: Sendable {
    /// A point between values: before or after all values equal to a given value.
    struct Point: Sendable {
        let value: BoundValue
        let isAfter: Bool

        init(_ value: StorageValue, isAfter: Bool) {
            self.value = BoundValue(value)
            self.isAfter = isAfter
        }

        @inline(__always)
        fileprivate func isBefore(_ view: ColumnView) -> Bool {
            let order = value.order(of: view)
            return order > 0 || (order == 0 && !isAfter)
        }

        fileprivate func order(_ other: Point) -> Int {
            let order = other.value.order(of: value)
            return order != 0 ? order : (isAfter ? 1 : 0) - (other.isAfter ? 1 : 0)
        }
    }

    private struct Interval {
        /// The index of the start point.
        var low: Int
        /// The index of the end point, or ``IntervalIndex/endless``.
        var high: Int
        let id: Int
    }

    private static let endless = Int.max

    private var points: [Point] = []
    /// Sorted by start point.
    private var intervals: [Interval] = []
    /// For each interval, as the middle of its part of the array: the greatest `high` in that part.
    private var reaches: [Int] = []

    var isEmpty: Bool { intervals.isEmpty }

    /// Inserts an interval. An empty interval is not stored.
    ///
    /// - Complexity: O(*n*), with O(log *n*) comparisons of values.
    mutating func insert(_ id: Int, from lower: Point, to upper: Point?) {
        if let upper, upper.order(lower) <= 0 { return }
        let interval = Interval(low: pointIndex(lower), high: upper.map { pointIndex($0) } ?? Self.endless, id: id)
        let index = intervals.indices.endOfPrefix { intervals[$0].low < interval.low }
        intervals.insert(interval, at: index)
        measure()
    }

    /// Removes an interval.
    ///
    /// - Complexity: O(*n*).
    mutating func remove(_ id: Int) {
        intervals.removeAll { $0.id == id }
        var isUsed = [Bool](repeating: false, count: points.count)
        for interval in intervals {
            isUsed[interval.low] = true
            if interval.high != Self.endless { isUsed[interval.high] = true }
        }
        var kept: [Point] = []
        let places = points.indices.map { index in
            if isUsed[index] { kept.append(points[index]) }
            return kept.count - 1
        }
        points = kept
        for index in intervals.indices {
            intervals[index].low = places[intervals[index].low]
            if intervals[index].high != Self.endless { intervals[index].high = places[intervals[index].high] }
        }
        measure()
    }

    /// Calls a function with the number of each interval that contains a value.
    ///
    /// - Complexity: O(log *n*) comparisons of values, and O(log *n*) for each interval found.
    func find(_ view: ColumnView, into body: (Int) -> Void) {
        let passed = points.indices.endOfPrefix { points[$0].isBefore(view) }
        find(0, end: intervals.count, passed: passed, body: body)
    }

    /// - Parameter passed: The number of points before the value.
    private func find(_ start: Int, end: Int, passed: Int, body: (Int) -> Void) {
        guard start < end else { return }
        let middle = (start + end) / 2
        guard reaches[middle] >= passed else { return }
        find(start, end: middle, passed: passed, body: body)
        let interval = intervals[middle]
        guard interval.low < passed else { return }
        if interval.high >= passed { body(interval.id) }
        find(middle + 1, end: end, passed: passed, body: body)
    }

    // MARK: Keeping it

    /// Returns the index of a point. A new point is inserted.
    private mutating func pointIndex(_ point: Point) -> Int {
        let index = points.indices.endOfPrefix { points[$0].order(point) < 0 }
        if index < points.count, points[index].order(point) == 0 { return index }
        points.insert(point, at: index)
        for other in intervals.indices {
            if intervals[other].low >= index { intervals[other].low += 1 }
            if intervals[other].high >= index, intervals[other].high != Self.endless { intervals[other].high += 1 }
        }
        return index
    }

    private mutating func measure() {
        reaches = [Int](repeating: 0, count: intervals.count)
        _ = measure(0, end: intervals.count)
    }

    private mutating func measure(_ start: Int, end: Int) -> Int {
        guard start < end else { return -1 }
        let middle = (start + end) / 2
        reaches[middle] = max(intervals[middle].high, measure(start, end: middle), measure(middle + 1, end: end))
        return reaches[middle]
    }
}

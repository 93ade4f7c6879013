/// A cursor over the keys of a tree, leaf by leaf.
struct RowCursor {
    private let tree: RowTree
    /// The position of the first row of the next leaf, if it is before `end`.
    private var next: Int
    private let end: Int
    private var rowKey: UnsafePointer<RowKey>?
    private var left = 0

    init(_ tree: RowTree, range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= tree.count, "There are no rows at these positions.")
        self.tree = tree
        next = range.lowerBound
        end = range.upperBound
    }

    /// Returns the next key, whose row the tree keeps alive.
    @inline(__always)
    mutating func advance() -> RowKey? {
        if left == 0 {
            guard next < end else { return nil }
            loadLeaf()
        }
        left &-= 1
        defer { rowKey = rowKey.unsafelyUnwrapped + 1 }
        return rowKey.unsafelyUnwrapped.pointee
    }

    /// Skips the rows before a key, passes them on in runs, and returns whether the next row is at the key.
    @inline(__always)
    mutating func skip(before wanted: RowKey, _ passed: (UnsafeBufferPointer<RowKey>) -> Void) -> Bool {
        while true {
            if left == 0 {
                guard next < end else { return false }
                loadLeaf()
            }
            let rowKeys = rowKey.unsafelyUnwrapped
            // A leaf that is entirely before the key costs a single comparison.
            if rowKeys[left - 1].order(wanted) >= 0 {
                let count = Self.countBefore(wanted, in: rowKeys, count: left)
                if count > 0 { passed(UnsafeBufferPointer(start: rowKeys, count: count)) }
                rowKey = rowKeys + count
                left -= count
                return rowKeys[count].order(wanted) == 0
            }
            passed(UnsafeBufferPointer(start: rowKeys, count: left))
            left = 0
        }
    }

    /// Skips all remaining rows.
    mutating func skipRest(_ passed: (UnsafeBufferPointer<RowKey>) -> Void) {
        while left > 0 || next < end {
            if left == 0 { loadLeaf() }
            passed(UnsafeBufferPointer(start: rowKey, count: left))
            left = 0
        }
    }

    /// Returns the number of keys before a given key, which is not after the last one. It searches near the first key,
    /// and then with growing steps.
    @inline(__always)
    private static func countBefore(_ wanted: RowKey, in rowKeys: UnsafePointer<RowKey>, count: Int) -> Int {
        var low = 0
        var high = 0
        var step = 1
        while high < count, rowKeys[high].order(wanted) < 0 {
            low = high + 1
            high += step
            step *= 2
        }
        high = Swift.min(high, count)
        while low < high {
            let middle = (low + high) / 2
            if rowKeys[middle].order(wanted) < 0 { low = middle + 1 } else { high = middle }
        }
        return low
    }

    @inline(never)
    private mutating func loadLeaf() {
        // The tree retains its nodes while the cursor is used.
        (rowKey, left) = tree.withLeaf(at: next) { ($0, $1) }
        left = Swift.min(left, end - next)
        next += left
    }
}

/// An iterator over the rows of a tree.
struct RowIterator: IteratorProtocol {
    private var cursor: RowCursor

    init(_ cursor: RowCursor) { self.cursor = cursor }

    @inline(__always)
    mutating func next() -> LiveRow? {
        cursor.advance()?.row.takeUnretainedValue()
    }
}

extension RowTree: Sequence {
    var underestimatedCount: Int { count }

    func makeIterator() -> RowIterator { makeIterator(from: 0) }

    /// Returns an iterator over the rows from a position on.
    func makeIterator(from position: Int) -> RowIterator {
        RowIterator(RowCursor(self, range: position..<count))
    }

    /// Calls a function with each row in a range of positions.
    func forEach(in range: Range<Int>, _ body: (LiveRow) throws -> Void) rethrows {
        var rows = RowIterator(RowCursor(self, range: range))
        while let row = rows.next() { try body(row) }
    }
}

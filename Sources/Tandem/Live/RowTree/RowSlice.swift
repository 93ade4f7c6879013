/// The visible rows of a live query: those of a tree, or the window that limit and offset define.
struct RowSlice: Sendable, Sequence {
    let tree: RowTree
    let range: Range<Int>

    static let empty = RowSlice(RowTree())

    init(_ tree: RowTree) {
        self.tree = tree
        range = 0..<tree.count
    }

    init(_ tree: RowTree, range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= tree.count, "The window is out of range of the rows.")
        self.tree = tree
        self.range = range
    }

    var count: Int { range.count }
    var isEmpty: Bool { range.isEmpty }
    var underestimatedCount: Int { count }

    /// The row at a visible index.
    subscript(index: Int) -> LiveRow {
        precondition(index >= 0 && index < count, "There is no row at this index.")
        return tree[range.lowerBound + index]
    }

    /// Returns the visible index of the row with the key and local ID of another row.
    ///
    /// Returns `nil` if that row is not visible.
    func rank(of row: LiveRow) -> Int? {
        guard let rank = tree.rank(of: row), range.contains(rank) else { return nil }
        return rank - range.lowerBound
    }

    /// Returns whether two slices are the same, without comparing rows.
    func isIdentical(to other: RowSlice) -> Bool {
        tree.isIdentical(to: other.tree) && range == other.range
    }

    func makeIterator() -> RowCursor { RowCursor(tree, range: range) }
}

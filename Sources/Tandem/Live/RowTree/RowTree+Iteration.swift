/// A cursor over the rows of a tree, leaf by leaf.
struct RowCursor: IteratorProtocol {
    private let tree: RowTree
    /// The position of the first row of the next leaf, if it is before `end`.
    private var nextLeaf: Int
    private let end: Int
    private(set) var leaf: RowNode?
    /// The index of the current row in the leaf.
    private(set) var index = 0
    /// The number of rows from the current one to the end of the leaf or range. It is 0 at the end.
    private(set) var left = 0

    init(_ tree: RowTree, range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= tree.count, "There are no rows at these positions.")
        self.tree = tree
        nextLeaf = range.lowerBound
        end = range.upperBound
        loadLeaf()
    }

    /// The current row, or `nil` at the end.
    @inline(__always)
    var current: LiveRow? {
        left > 0 ? leaf.map { LiveRow($0, index: index) } : nil
    }

    /// Returns the current row, and moves to the next one.
    @inline(__always)
    mutating func next() -> LiveRow? {
        guard let row = current else { return nil }
        skip(1)
        return row
    }

    /// Moves forward by a number of rows, which is at most ``left``.
    @inline(__always)
    mutating func skip(_ count: Int) {
        index &+= count
        left &-= count
        if left == 0 { loadLeaf() }
    }

    /// Skips the rows before a row, which is not before the current one. Returns the number of rows skipped, and
    /// whether the current row is then at the same position.
    mutating func skip(before wanted: RowProbe) -> (count: Int, isFound: Bool) {
        var skipped = 0
        while let leaf, left > 0 {
            // A leaf that is entirely before the row costs a single comparison.
            if leaf.row(index + left - 1).order(wanted.view) >= 0 {
                let (place, isFound) = leaf.search(leaf: wanted)
                let count = max(0, place - index)
                if count > 0 { skip(count) }
                return (skipped + count, isFound && place >= index)
            }
            skipped += left
            skip(left)
        }
        return (skipped, false)
    }

    @inline(never)
    private mutating func loadLeaf() {
        guard nextLeaf < end else {
            leaf = nil
            return
        }
        let (leaf, index) = tree.leaf(at: nextLeaf)
        self.leaf = leaf
        self.index = index
        left = Swift.min(leaf.count - index, end - nextLeaf)
        nextLeaf += left
    }
}

extension RowTree {
    /// Calls a function with each leaf.
    func forEachLeaf(_ body: (RowNode) -> Void) {
        func visit(_ node: RowNode) {
            if node.height == 0 { return body(node) }
            for branch in 0..<node.count { visit(node.branch(branch).child) }
        }
        if let root { visit(root) }
    }
}

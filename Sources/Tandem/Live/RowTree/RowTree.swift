/// The rows of a live query in their order: a counted B+tree, which finds a row both by its key and by its position.
///
/// A tree is a value. A copy is free, does not change, and shares all unchanged nodes with the original:
///
/// ```swift
/// var tree = RowTree(sorted: rows)
/// let snapshot = tree
/// let position = tree.remove(row)  // `snapshot` still has it
/// ```
///
/// Rows are in the order of their keys' bytes, then of their local IDs' bytes (see ``RowKey``). No two rows have the
/// same key and local ID.
///
/// - Complexity: Finding, adding, removing and indexing are O(log *n*). After a copy, a change also copies the nodes on
///   its path, once.
///
/// Proof of `@unchecked Sendable`: a node is modified only through a tree that owns it and its parents exclusively. A
/// node that several trees share is never modified again.
struct RowTree: @unchecked Sendable {
    var root: RowNode?
    var count = 0

    init() {}

    var isEmpty: Bool { count == 0 }

    /// Returns whether two trees are the same value, without comparing rows: one is a copy of the other.
    func isIdentical(to other: RowTree) -> Bool { root === other.root }

    subscript(position: Int) -> LiveRow {
        precondition(position >= 0 && position < count, "There is no row at this position.")
        return withLeaf(at: position) { rowKeys, _ in rowKeys.pointee.row.takeUnretainedValue() }
    }

    /// Returns the position of the row with the key and local ID of another row, if it exists.
    func rank(of row: LiveRow) -> Int? {
        let (rank, isFound) = find(row)
        return isFound ? rank : nil
    }

    /// Returns the number of rows before the key of a row, whether or not the row is in the tree.
    func lowerBound(_ row: LiveRow) -> Int {
        find(row).rank
    }

    private func find(_ row: LiveRow) -> (rank: Int, isFound: Bool) {
        guard let root else { return (0, false) }
        return withExtendedLifetime((row, root)) {
            let rowKey = RowKey(row)
            var node = Unmanaged.passUnretained(root)
            var rank = 0
            for _ in 0..<root.height {
                node = node._withUnsafeGuaranteedRef {
                    let branch = $0.search(branch: rowKey)
                    rank += $0.countBefore(branch: branch)
                    return $0.branches[branch].child
                }
            }
            let (index, isFound) = node._withUnsafeGuaranteedRef { $0.search(leaf: rowKey) }
            return (rank + index, isFound)
        }
    }

    /// Passes the key at a position to a function, and the number of keys in its leaf from there on.
    @inline(__always)
    func withLeaf<T>(at position: Int, _ body: (UnsafePointer<RowKey>, Int) -> T) -> T {
        guard let root else { preconditionFailure("There is no row at this position.") }
        return withExtendedLifetime(root) {
            var node = Unmanaged.passUnretained(root)
            var position = position
            for _ in 0..<root.height {
                node = node._withUnsafeGuaranteedRef {
                    let branches = $0.branches
                    var branch = 0
                    while position >= branches[branch].count {
                        position &-= branches[branch].count
                        branch &+= 1
                    }
                    return branches[branch].child
                }
            }
            return node._withUnsafeGuaranteedRef { body($0.keys + position, $0.count - position) }
        }
    }
}

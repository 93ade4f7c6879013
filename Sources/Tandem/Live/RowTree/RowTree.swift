/// The rows of a live query in their order: a counted B+tree, which finds a row both by its key and by its position.
///
/// A tree is a value. A copy is free, does not change, and shares all unchanged nodes with the original:
///
/// ```swift
/// guard var tree = RowTree(buffer, sorted: buffer.sorted()) else { throw damage }
/// let snapshot = tree
/// let fits = tree.apply(removed: [row], inserted: [])  // `snapshot` still has the row
/// ```
///
/// Rows are in the order of their keys' bytes, then of their local IDs' bytes (see ``RowWords``). No two rows have the
/// same key and local ID.
///
/// A node of a tree never changes. The rows of a leaf are records in one block of memory. So a row has no objects of
/// its own.
///
/// - Complexity: Finding and indexing are O(log *n*). A change makes new nodes on the paths to the changed rows.
///
/// Proof of `@unchecked Sendable`: a node does not change after it became part of a tree.
struct RowTree: @unchecked Sendable {
    var root: RowNode?
    var count = 0

    init() {}

    var isEmpty: Bool { count == 0 }

    /// Returns whether two trees are the same value, without comparing rows: one is a copy of the other.
    func isIdentical(to other: RowTree) -> Bool { root === other.root }

    subscript(position: Int) -> LiveRow {
        precondition(position >= 0 && position < count, "There is no row at this position.")
        let (leaf, index) = leaf(at: position)
        return LiveRow(leaf, index: index)
    }

    /// Returns the position of the row with the key and local ID of another row, if it exists.
    func rank(of row: LiveRow) -> Int? {
        let (rank, isFound) = row.withView { find(RowProbe($0)) }
        return isFound ? rank : nil
    }

    /// Returns the number of rows before the key of a row, whether or not the row is in the tree.
    func lowerBound(_ row: LiveRow) -> Int {
        row.withView { find(RowProbe($0)) }.rank
    }

    private func find(_ row: RowProbe) -> (rank: Int, isFound: Bool) {
        guard let root else { return (0, false) }
        return withExtendedLifetime(root) {
            var node = Unmanaged.passUnretained(root)
            var rank = 0
            for _ in 0..<root.height {
                node = node._withUnsafeGuaranteedRef {
                    let branch = $0.search(branch: row)
                    rank += $0.countBefore(branch: branch)
                    return .passUnretained($0.branch(branch).child)
                }
            }
            let (index, isFound) = node._withUnsafeGuaranteedRef { $0.search(leaf: row) }
            return (rank + index, isFound)
        }
    }

    /// Returns the leaf with the row at a position, and the row's index in the leaf.
    func leaf(at position: Int) -> (leaf: RowNode, index: Int) {
        guard let root else { preconditionFailure("There is no row at this position.") }
        return withExtendedLifetime(root) {
            var node = Unmanaged.passUnretained(root)
            var position = position
            for _ in 0..<root.height {
                node = node._withUnsafeGuaranteedRef {
                    let (branch, rest) = $0.branch(at: position)
                    position = rest
                    return .passUnretained($0.branch(branch).child)
                }
            }
            return (node.takeUnretainedValue(), position)
        }
    }
}

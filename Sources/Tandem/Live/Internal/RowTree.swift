/// The rows of a live query in their order: a B+tree that counts, so that a row is found by its place and by its
/// position alike.
///
/// A tree is a value. A copy costs nothing, stays as it is, and shares with the original what neither has changed
/// since:
///
/// ```swift
/// var tree = RowTree(sorted: rows)
/// let snapshot = tree
/// let position = tree.remove(row)  // `snapshot` still has it
/// ```
///
/// Rows stand in the order of their keys' bytes, then of their local IDs' bytes (see ``RowPlace``). No two have both in
/// common.
///
/// - Complexity: Finding, adding, removing and indexing are O(log *n*). After a copy was made, a change also copies the
///   nodes on its path, once.
///
/// `@unchecked`: a node is changed only through a tree that alone has it, and its parents likewise; what more than one
/// tree has is never changed again.
struct RowTree: @unchecked Sendable {
    var root: RowNode?
    var count = 0

    init() {}

    var isEmpty: Bool { count == 0 }

    /// Whether two trees are the same value without looking at any row: one is a copy of the other.
    func isIdentical(to other: RowTree) -> Bool { root === other.root }

    var first: LiveRow? { isEmpty ? nil : self[0] }
    var last: LiveRow? { isEmpty ? nil : self[count - 1] }

    subscript(position: Int) -> LiveRow {
        precondition(position >= 0 && position < count, "There is no row at this position.")
        return withLeaf(at: position) { places, _ in places.pointee.row.takeUnretainedValue() }
    }

    /// The position of the row with the key and local ID of another, if it is in.
    func rank(of row: LiveRow) -> Int? {
        let (rank, isFound) = find(row)
        return isFound ? rank : nil
    }

    /// The number of rows before the place of a row, whether it is in or not.
    func lowerBound(_ row: LiveRow) -> Int {
        find(row).rank
    }

    /// The row of the tree that has the key and local ID of another.
    func row(at place: LiveRow) -> LiveRow? {
        rank(of: place).map { self[$0] }
    }

    private func find(_ row: LiveRow) -> (rank: Int, isFound: Bool) {
        guard let root else { return (0, false) }
        return withExtendedLifetime((row, root)) {
            let place = RowPlace(row)
            var node = Unmanaged.passUnretained(root)
            var rank = 0
            for _ in 0..<root.height {
                node = node._withUnsafeGuaranteedRef {
                    let branch = $0.search(branch: place)
                    rank += $0.countBefore(branch: branch)
                    return $0.branches[branch].child
                }
            }
            let (index, isFound) = node._withUnsafeGuaranteedRef { $0.search(leaf: place) }
            return (rank + index, isFound)
        }
    }

    /// Hands over a position's place in its leaf, and how many places the leaf has from it on.
    @inline(__always)
    func withLeaf<T>(at position: Int, _ body: (UnsafePointer<RowPlace>, Int) -> T) -> T {
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
            return node._withUnsafeGuaranteedRef { body($0.places + position, $0.count - position) }
        }
    }
}

/// The rows of a tree by their rowids.
///
/// It has the number of each row's leaf. A leaf's number is the same in all versions of the leaf.
final class RowIndex {
    /// The number of a leaf that is in no index.
    static let noLeaf = UInt32.max

    /// The leaf of each rowid from 0, or ``noLeaf``. It is used while most rowids of the range have a row.
    private var dense: [UInt32] = []
    private var sparse: [Int64: UInt32] = [:]
    private var isDense = true
    /// The current versions of the leaves, by their numbers.
    private var leaves: [RowNode?] = []
    /// Unused numbers.
    private var unused: [UInt32] = []

    /// The maximum number of rowids for each row in an array over all rowids. A dictionary takes as much memory.
    private static let mostGaps = 6
    /// An array is used up to this rowid in any case.
    private static let leastDense = 1024

    /// Replaces the content with the rows of a new tree, whose leaves are numbered from 0.
    ///
    /// - Parameter rowIDs: A range of all rowids, or `nil` without rows.
    func reset(_ tree: RowTree, rowIDs: ClosedRange<Int64>?, threads: TwoThreads = .standard) {
        removeAll()
        guard let rowIDs else { return }
        tree.forEachLeaf { leaves.append($0) }
        let range = 0..<Int64(max(Self.leastDense, tree.count * Self.mostGaps))
        isDense = range.contains(rowIDs.lowerBound) && range.contains(rowIDs.upperBound)
        guard isDense else {
            sparse.reserveCapacity(tree.count)
            return forEachRow(in: leaves.indices) { sparse[$0] = $1 }
        }
        dense = Array(repeating: Self.noLeaf, count: Int(rowIDs.upperBound) + 1)
        dense.withUnsafeMutableBufferPointer { dense in
            // A rowid occurs once, unless the file is damaged. So the two threads write to different places.
            TwoThreads.run(leaves.count, middle: threads.middle(of: leaves.count, rows: tree.count)) { part in
                forEachRow(in: part) { dense[Int($0)] = $1 }
            }
        }
    }

    /// Calls a function with each row's rowid and the number of its leaf.
    private func forEachRow(in part: Range<Int>, _ body: (Int64, UInt32) -> Void) {
        for leaf in leaves[part] {
            guard let leaf else { continue }
            let id = leaf.id
            for index in 0..<leaf.count { body(leaf.row(index).rowID, id) }
        }
    }

    func removeAll() {
        dense = []
        sparse = [:]
        isDense = true
        leaves = []
        unused = []
    }

    /// Returns the row with a rowid.
    func row(_ rowID: Int64) -> LiveRow? {
        let id = isDense ? place(of: rowID).map { dense[$0] } : sparse[rowID]
        guard let id, id != Self.noLeaf, let leaf = leaves[Int(id)] else { return nil }
        for index in 0..<leaf.count where leaf.row(index).rowID == rowID { return LiveRow(leaf, index: index) }
        return nil
    }

    func remove(_ rowID: Int64) {
        if !isDense {
            sparse[rowID] = nil
        } else if let place = place(of: rowID) {
            dense[place] = Self.noLeaf
        }
    }

    /// Returns the place of a rowid in the array, if it has one. A rowid can exceed `Int` on a watch.
    private func place(of rowID: Int64) -> Int? {
        guard let place = Int(exactly: rowID), dense.indices.contains(place) else { return nil }
        return place
    }

    func set(_ rowID: Int64, leaf: UInt32) {
        if isDense, rowID < 0 || rowID >= dense.count { growDense(rowID) }
        if isDense { dense[Int(rowID)] = leaf } else { sparse[rowID] = leaf }
    }

    /// Makes the array long enough, or changes to a dictionary.
    private func growDense(_ rowID: Int64) {
        if rowID >= 0, rowID < Int64(max(Self.leastDense, dense.count * 2)) {
            // New rows usually have the next rowids.
            let count = max(Int(rowID) + 1, min(dense.count + dense.count / 8, dense.count + 4096))
            dense.append(contentsOf: repeatElement(Self.noLeaf, count: count - dense.count))
            return
        }
        for (rowID, leaf) in dense.enumerated() where leaf != Self.noLeaf { sparse[Int64(rowID)] = leaf }
        dense = []
        isDense = false
    }

    // MARK: Leaves

    /// Returns a number for a new leaf.
    func newLeafID() -> UInt32 {
        if let id = unused.popLast() { return id }
        leaves.append(nil)
        return UInt32(leaves.count - 1)
    }

    /// Sets the current version of a leaf.
    func set(_ leaf: RowNode) { leaves[Int(leaf.id)] = leaf }

    /// Removes a leaf without rows.
    func removeLeaf(_ id: UInt32) {
        leaves[Int(id)] = nil
        unused.append(id)
    }
}

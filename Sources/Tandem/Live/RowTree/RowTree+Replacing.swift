extension RowTree {
    /// Replaces, removes or inserts a single row, without the lists of rows and branches of
    /// ``apply(removed:inserted:index:)``. Most commits change one row of a list.
    ///
    /// - Parameters:
    ///   - removed: The row to remove, if any.
    ///   - inserted: The row to insert, if any.
    ///   - index: The index of this tree's rows. It is updated if the result is not `nil`.
    /// - Returns: The changed tree; `nil` if the rows do not fit, or if a node would be split, joined with another one,
    ///   or removed.
    func replacing(_ removed: LiveRow?, with inserted: LiveRow?, index: RowIndex?) -> RowTree? {
        guard let root else { return nil }
        return withExtendedLifetime((root, removed, inserted)) {
            var replacement = RowReplacement()
            let node = replacement.rewrite(
                root, removing: removed.map { RowProbe($0.view) }, inserting: inserted.map { RowProbe($0.view) })
            guard let node else { return nil }
            if let index { replacement.update(index, inserted: inserted?.rowID) }
            var changed = RowTree()
            changed.root = node
            changed.count = count + (inserted == nil ? 0 : 1) - (removed == nil ? 0 : 1)
            return changed
        }
    }
}

/// A change of a single row that makes new nodes in place of those on the paths to the row.
private struct RowReplacement {
    /// The new leaf without the removed row.
    private var shrunk: RowNode?
    /// The new leaf with the inserted row.
    private var grown: RowNode?

    /// Returns the node that replaces a node, or `nil` if the change is not possible.
    mutating func rewrite(_ node: RowNode, removing removed: RowProbe?, inserting inserted: RowProbe?) -> RowNode? {
        guard node.height > 0 else { return rewriteLeaf(node, removing: removed, inserting: inserted) }
        let old = removed.map { node.search(branch: $0) }
        let new = inserted.map { node.search(branch: $0) }
        guard let old, let new, old != new else {
            guard let place = old ?? new,
                let branch = rewrite(node.branch(place), removing: removed, inserting: inserted)
            else { return nil }
            return RowNode.inner(node, replacing: (place, branch))
        }
        guard let left = rewrite(node.branch(old), removing: removed, inserting: nil),
            let joined = rewrite(node.branch(new), removing: nil, inserting: inserted)
        else { return nil }
        return RowNode.inner(node, replacing: (old, left), and: (new, joined))
    }

    /// Returns the branch that replaces a branch, or `nil` if it would have too few entries.
    private mutating func rewrite(
        _ branch: RowBranch, removing removed: RowProbe?, inserting inserted: RowProbe?
    ) -> RowBranch? {
        guard let child = rewrite(branch.child, removing: removed, inserting: inserted),
            child.count >= RowNode.minimum(height: child.height)
        else { return nil }
        return RowBranch(child)
    }

    private mutating func rewriteLeaf(
        _ leaf: RowNode, removing removed: RowProbe?, inserting inserted: RowProbe?
    ) -> RowNode? {
        var isRemoved: UInt64 = 0
        if let removed {
            let (place, isFound) = leaf.search(leaf: removed)
            guard isFound else { return nil }
            isRemoved = 1 << UInt64(place)
        }
        guard let inserted else {
            shrunk = RowNode.leaf(leaf, removing: isRemoved, inserting: UnsafeBufferPointer(start: nil, count: 0))
            return shrunk
        }
        let (place, isFound) = leaf.search(leaf: inserted)
        guard !isFound || isRemoved == 1 << UInt64(place) else { return nil }
        grown = withUnsafePointer(to: (index: place, row: inserted.view)) {
            RowNode.leaf(leaf, removing: isRemoved, inserting: UnsafeBufferPointer(start: $0, count: 1))
        }
        return grown
    }

    /// Updates an index of the rows.
    ///
    /// - Parameter inserted: The rowid of the inserted row.
    func update(_ index: RowIndex, inserted: Int64?) {
        if let shrunk { index.set(shrunk) }
        guard let grown, let inserted else { return }
        index.set(inserted, leaf: grown.id)
        index.set(grown)
    }
}

extension RowNode {
    /// Makes an inner node with the branches of another one, of which one or two are replaced.
    fileprivate static func inner(
        _ node: RowNode, replacing first: (index: Int, branch: RowBranch),
        and second: (index: Int, branch: RowBranch)? = nil
    ) -> RowNode {
        let copy = make(byteCount: node.count * MemoryLayout<RowBranch>.stride) {
            RowNodeHeader(
                count: UInt32(node.count), height: UInt16(node.height), hasBoxes: false, id: 0, prefixCount: 0)
        }
        let branches = copy.content.bindMemory(to: RowBranch.self, capacity: node.count)
        for place in 0..<node.count { (branches + place).initialize(to: node.branch(place)) }
        branches[first.index] = first.branch
        if let second { branches[second.index] = second.branch }
        return copy
    }
}

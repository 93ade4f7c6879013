extension RowTree {
    /// Removes the rows with the key and local ID of a row in `removed`, and then inserts `inserted`. Both can be in
    /// any order.
    ///
    /// - Parameter index: The index of this tree's rows, which is updated.
    /// - Returns: `false` if a row of `removed` is missing, or if a row of `inserted` already exists. Rows are
    ///   identified by key and local ID. If the result is `false`, the rows are not as expected, and must be reloaded.
    ///   The tree is then unchanged, but the index is not.
    /// - Complexity: O(*k* log *n*) for *k* rows, and at most O(*n* + *k* log *k*).
    mutating func apply(removed: [LiveRow], inserted: [LiveRow], index: RowIndex? = nil) -> Bool {
        if removed.isEmpty && inserted.isEmpty { return true }
        if let index {
            for row in removed { index.remove(row.rowID) }
        }
        return withExtendedLifetime((root, removed, inserted)) {
            let rewriting = RowRewriting(
                removed: RowRewriting.sorted(removed), inserted: RowRewriting.sorted(inserted), index: index)
            guard let changed = rewriting.rewrite(self) else { return false }
            self = changed
            return true
        }
    }
}

/// A change of rows that makes new nodes in place of those on the paths to the rows. Each leaf is made once, whatever
/// the number of its changed rows.
private struct RowRewriting {
    /// A row of a new leaf, and the leaf that had it before.
    private struct Entry {
        let view: RowView
        let leaf: UInt32
    }

    /// Removed and inserted rows, by their numbers.
    private struct Steps {
        var removed: Range<Int>
        var inserted: Range<Int>

        var isEmpty: Bool { removed.isEmpty && inserted.isEmpty }
    }

    /// The rows in order.
    let removed: [RowProbe]
    let inserted: [RowProbe]
    let index: RowIndex?

    static func sorted(_ rows: [LiveRow]) -> [RowProbe] {
        let probes = rows.map { RowProbe($0.view) }
        guard rows.count > 1 else { return probes }
        return RowSorting.sorted(rows.count) { probes[$0].view }.map { probes[$0] }
    }

    /// The nodes that replace a node.
    private enum Replacement {
        /// A single node with enough entries.
        case node(RowNode)
        /// Any number of nodes, or none. If there are several, each has enough entries.
        case nodes([RowBranch])

        /// Creates a replacement from nodes. If there are several, each has enough entries.
        init(_ nodes: [RowBranch]) {
            self = nodes.count == 1 && nodes[0].child.hasEnoughEntries ? .node(nodes[0].child) : .nodes(nodes)
        }
    }

    /// Returns the changed tree, or `nil` if the rows do not fit.
    func rewrite(_ tree: RowTree) -> RowTree? {
        var changed = RowTree()
        changed.count = tree.count + inserted.count - removed.count
        let steps = Steps(removed: removed.indices, inserted: inserted.indices)
        guard let root = tree.root else {
            guard removed.isEmpty, !hasTwins(inserted.indices) else { return nil }
            let leaves = leaves(inserted.map { Entry(view: $0.view, leaf: RowIndex.noLeaf) }, ids: [])
            changed.root = RowTree.root(over: leaves, height: 0)
            return changed
        }
        guard let replacement = rewrite(root, steps: steps) else { return nil }
        switch replacement {
        case .node(let node): changed.root = node
        case .nodes(let nodes) where nodes.isEmpty: break
        case .nodes(let nodes): changed.root = RowTree.root(over: nodes, height: root.height)
        }
        while let root = changed.root, root.height > 0, root.count == 1 { changed.root = root.branch(0).child }
        return changed
    }

    /// Returns the nodes that replace a node, or `nil` if the rows do not fit.
    private func rewrite(_ node: RowNode, steps: Steps) -> Replacement? {
        node.height == 0 ? rewriteLeaf(node, steps: steps) : rewriteInner(node, steps: steps)
    }

    // MARK: Leaves

    /// Returns the leaves that replace a leaf, or `nil` if the rows do not fit.
    private func rewriteLeaf(_ leaf: RowNode, steps: Steps) -> Replacement? {
        var isRemoved: UInt64 = 0
        for place in steps.removed {
            let (index, isFound) = leaf.search(leaf: removed[place])
            // A row can be removed only once.
            guard isFound, isRemoved & (1 << UInt64(index)) == 0 else { return nil }
            isRemoved |= 1 << UInt64(index)
        }
        guard !hasTwins(steps.inserted) else { return nil }
        return withUnsafeTemporaryAllocation(of: RowNode.Insertion.self, capacity: steps.inserted.count) { insertions in
            for (number, place) in steps.inserted.enumerated() {
                let (index, isFound) = leaf.search(leaf: inserted[place])
                guard !isFound || isRemoved & (1 << UInt64(index)) != 0 else { return nil }
                insertions.initializeElement(at: number, to: RowNode.Insertion(index: index, row: inserted[place].view))
            }
            return rewriteLeaf(leaf, removing: isRemoved, inserting: UnsafeBufferPointer(insertions))
        }
    }

    /// Returns the leaves that replace a leaf. `isRemoved` has a bit for each removed row.
    private func rewriteLeaf(
        _ leaf: RowNode, removing isRemoved: UInt64, inserting insertions: UnsafeBufferPointer<RowNode.Insertion>
    ) -> Replacement {
        if let next = RowNode.leaf(leaf, removing: isRemoved, inserting: insertions) {
            if let index {
                for insertion in insertions { index.set(insertion.row.rowID, leaf: leaf.id) }
                index.set(next)
            }
            return next.hasEnoughEntries ? .node(next) : .nodes([RowBranch(next)])
        }
        var entries: [Entry] = []
        entries.reserveCapacity(leaf.count + insertions.count)
        var next = 0
        func keep(upTo end: Int) {
            while next < end {
                if isRemoved & (1 << UInt64(next)) == 0 { entries.append(Entry(view: leaf.row(next), leaf: leaf.id)) }
                next += 1
            }
        }
        for insertion in insertions {
            keep(upTo: insertion.index)
            entries.append(Entry(view: insertion.row, leaf: RowIndex.noLeaf))
        }
        keep(upTo: leaf.count)
        return Replacement(leaves(entries, ids: [leaf.id]))
    }

    /// Returns whether two of the inserted rows have the same position.
    private func hasTwins(_ range: Range<Int>) -> Bool {
        range.dropFirst().contains { inserted[$0 - 1].order(inserted[$0]) == 0 }
    }

    /// Makes leaves with rows.
    ///
    /// - Parameter ids: The numbers of the leaves that had the rows.
    private func leaves(_ entries: [Entry], ids: [UInt32]) -> [RowBranch] {
        var ids = ids[...]
        defer {
            if let index {
                for id in ids { index.removeLeaf(id) }
            }
        }
        if entries.isEmpty { return [] }
        var views: [RowView] = []
        return RowTree.groups(entries.count, of: RowNode.leafCapacity).map { group in
            views.removeAll(keepingCapacity: true)
            for place in group { views.append(entries[place].view) }
            let id = ids.popFirst() ?? index?.newLeafID() ?? RowIndex.noLeaf
            let leaf = views.withUnsafeBufferPointer { RowNode.leaf($0, id: id) }
            if let index {
                for place in group where entries[place].leaf != id { index.set(entries[place].view.rowID, leaf: id) }
                index.set(leaf)
            }
            return RowBranch(leaf)
        }
    }

    // MARK: Inner nodes

    /// Returns the nodes that replace an inner node, or `nil` if the rows do not fit.
    private func rewriteInner(_ node: RowNode, steps: Steps) -> Replacement? {
        var steps = steps
        let copy = RowNode.inner(copying: node)
        var others: [(index: Int, nodes: [RowBranch])] = []
        while !steps.isEmpty {
            // All changes below the branch of the first one.
            let index = node.search(branch: first(steps))
            let below = split(&steps, before: index + 1 < node.count ? node.branch(index + 1) : nil)
            guard let replacement = rewrite(node.branch(index).child, steps: below) else { return nil }
            switch replacement {
            case .node(let child): copy.setBranch(index, to: RowBranch(child))
            case .nodes(let nodes): others.append((index, nodes))
            }
        }
        if others.isEmpty { return .node(copy) }
        var children: [RowBranch] = []
        var next = 0
        for (index, nodes) in others {
            for place in next..<index { children.append(copy.branch(place)) }
            children += nodes
            next = index + 1
        }
        for place in next..<copy.count { children.append(copy.branch(place)) }
        mend(&children)
        return Replacement(nodes(children, height: node.height))
    }

    /// The first change in the order.
    private func first(_ steps: Steps) -> RowProbe {
        guard let removal = steps.removed.first else { return inserted[steps.inserted.lowerBound] }
        guard let insertion = steps.inserted.first else { return removed[removal] }
        return removed[removal].order(inserted[insertion]) <= 0 ? removed[removal] : inserted[insertion]
    }

    /// Removes and returns the changes before a branch.
    private func split(_ steps: inout Steps, before branch: RowBranch?) -> Steps {
        guard let branch else {
            defer { steps = Steps(removed: 0..<0, inserted: 0..<0) }
            return steps
        }
        let removedEnd = steps.removed.endOfPrefix { branch.order(removed[$0]) > 0 }
        let insertedEnd = steps.inserted.endOfPrefix { branch.order(inserted[$0]) > 0 }
        let below = Steps(
            removed: steps.removed.lowerBound..<removedEnd, inserted: steps.inserted.lowerBound..<insertedEnd)
        steps = Steps(
            removed: removedEnd..<steps.removed.upperBound, inserted: insertedEnd..<steps.inserted.upperBound)
        return below
    }

    /// Joins children with too few entries with their neighbors.
    private func mend(_ children: inout [RowBranch]) {
        var place = 0
        while children.count > 1, place < children.count {
            if children[place].child.hasEnoughEntries {
                place += 1
                continue
            }
            let left = max(place - 1, 0)
            let joined = join(children[left].child, with: children[left + 1].child)
            children.replaceSubrange(left...left + 1, with: joined)
            // A single joined node can still be too small.
            place = joined.count > 1 ? left + 2 : left
        }
    }

    /// Returns one or two nodes with the entries of two neighbors.
    private func join(_ left: RowNode, with right: RowNode) -> [RowBranch] {
        withExtendedLifetime((left, right)) {
            if left.height == 0 {
                let entries = [left, right].flatMap { leaf in
                    (0..<leaf.count).map { Entry(view: leaf.row($0), leaf: leaf.id) }
                }
                return leaves(entries, ids: [left.id, right.id])
            }
            var children = [left, right].flatMap { node in (0..<node.count).map { node.branch($0) } }
            mend(&children)
            return nodes(children, height: left.height)
        }
    }

    /// Makes inner nodes over children.
    private func nodes(_ children: [RowBranch], height: Int) -> [RowBranch] {
        if children.isEmpty { return [] }
        return RowTree.groups(children.count, of: RowNode.branchCapacity).map {
            RowBranch(RowNode.inner(children[$0], height: height))
        }
    }
}

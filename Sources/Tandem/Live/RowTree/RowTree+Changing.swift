extension RowTree {
    /// Inserts a row, and returns its position. If a row with its key and local ID exists, returns `nil` and inserts
    /// nothing.
    @discardableResult
    mutating func insert(_ row: LiveRow) -> Int? {
        withExtendedLifetime(row) {
            let rowKey = RowKey(row)
            var position: Int? = 0
            let node = uniqueRoot()
            if let right = Self.insert(rowKey, into: node, position: &position) {
                let parent = RowNode.make(height: node.height + 1)
                parent.branches.initialize(to: RowBranch(node))
                (parent.branches + 1).initialize(to: RowBranch(right))
                parent.count = 2
                root = parent
            }
            if position != nil { count += 1 }
            return position
        }
    }

    /// Removes the row with the key and local ID of another row, and returns its position, or `nil` if it does not
    /// exist.
    @discardableResult
    mutating func remove(_ row: LiveRow) -> Int? {
        guard root != nil else { return nil }
        return withExtendedLifetime(row) {
            var position = 0
            let node = uniqueRoot()
            guard let removed = Self.remove(RowKey(row), from: node, position: &position) else { return nil }
            count -= 1
            if count == 0 {
                root = nil
            } else if node.height > 0, node.count == 1 {
                // The only child becomes the root, and takes over the old root's reference.
                node.count = 0
                root = node.branches[0].child.takeRetainedValue()
            }
            removed.release()
            return position
        }
    }

    /// Replaces the row that has the same key and local ID, and returns its position. If it does not exist, returns
    /// `nil` and inserts nothing.
    @discardableResult
    mutating func replace(_ row: LiveRow) -> Int? {
        guard root != nil else { return nil }
        return withExtendedLifetime(row) {
            var position = 0
            let replaced = Self.replace(with: RowKey(row), in: uniqueRoot(), position: &position)
            guard let replaced else { return nil }
            replaced.release()
            return position
        }
    }

    /// Returns the root for modification.
    private mutating func uniqueRoot() -> RowNode {
        if !isKnownUniquelyReferenced(&root) { root = root?.copy() ?? RowNode.make(height: 0) }
        return root.unsafelyUnwrapped
    }

    // MARK: Going down

    /// Inserts below a node that only this tree owns, unless the key exists: `position` is then `nil`. If the node
    /// was split, returns its new right neighbor.
    private static func insert(_ rowKey: RowKey, into node: RowNode, position: inout Int?) -> RowNode? {
        if node.height == 0 {
            let (index, isFound) = node.search(leaf: rowKey)
            position = isFound ? nil : position.map { $0 + index }
            if isFound { return nil }
            _ = rowKey.row.retain()
            return insert(rowKey, at: index, of: node)
        }
        let index = node.search(branch: rowKey)
        position = position.map { $0 + node.countBefore(branch: index) }
        let right = node.withUniqueChild(index) { insert(rowKey, into: $0, position: &position) }
        if position == nil { return nil }
        node.branches[index].count += 1
        guard let right else { return nil }
        let branch = RowBranch(right)
        node.branches[index].count -= branch.count
        return insert(branch, at: index + 1, of: node)
    }

    /// Inserts an entry into a node, which is split if it is full.
    @inline(__always)
    private static func insert<Entry: RowNodeEntry>(_ entry: Entry, at index: Int, of node: RowNode) -> RowNode? {
        let entries = Entry.all(of: node)
        let count = node.count
        if count < node.mostEntries {
            entries.insert(entry, at: index, count: count)
            node.count = count + 1
            return nil
        }
        // Rows often arrive in order, as new IDs do. The left node should then not be half empty.
        let cut = index == count ? count / 4 * 3 : count / 2
        let right = RowNode.make(height: node.height)
        let rightEntries = Entry.all(of: right)
        rightEntries.moveInitialize(from: entries + cut, count: count - cut)
        node.count = cut
        right.count = count - cut
        if index <= cut {
            entries.insert(entry, at: index, count: cut)
            node.count += 1
        } else {
            rightEntries.insert(entry, at: index - cut, count: count - cut)
            right.count += 1
        }
        return right
    }

    /// Removes below a node that only this tree owns, and returns the reference to the row.
    private static func remove(
        _ rowKey: RowKey, from node: RowNode, position: inout Int
    ) -> Unmanaged<LiveRow>? {
        if node.height == 0 {
            let (index, isFound) = node.search(leaf: rowKey)
            guard isFound else { return nil }
            position += index
            let row = node.keys[index].row
            node.keys.remove(at: index, count: node.count)
            node.count -= 1
            return row
        }
        let index = node.search(branch: rowKey)
        position += node.countBefore(branch: index)
        var left = 0
        let row = node.withUniqueChild(index) { child in
            let row = remove(rowKey, from: child, position: &position)
            left = child.count
            return row
        }
        guard let row else { return nil }
        node.branches[index].count -= 1
        if left < RowNode.minimum(height: node.height - 1) { node.mendChild(index) }
        return row
    }

    /// Replaces below a node that only this tree owns, and returns the reference to the old row.
    private static func replace(
        with rowKey: RowKey, in node: RowNode, position: inout Int
    ) -> Unmanaged<LiveRow>? {
        if node.height == 0 {
            let (index, isFound) = node.search(leaf: rowKey)
            guard isFound else { return nil }
            position += index
            let row = node.keys[index].row
            _ = rowKey.row.retain()
            node.keys[index] = rowKey
            return row
        }
        let index = node.search(branch: rowKey)
        position += node.countBefore(branch: index)
        return node.withUniqueChild(index) { replace(with: rowKey, in: $0, position: &position) }
    }
}

extension RowNode {
    /// Modifies a child. This node must belong only to this tree, and the child is made unique first. Then the branch's
    /// first key is updated.
    @inline(__always)
    fileprivate func withUniqueChild<T>(_ index: Int, change: (RowNode) -> T) -> T {
        let child = uniqueChild(index)
        return child._withUnsafeGuaranteedRef {
            let result = change($0)
            branches[index].firstKey = $0.firstKey
            return result
        }
    }

    @inline(__always)
    private func uniqueChild(_ index: Int) -> Unmanaged<RowNode> {
        // Move the branch's own reference out and back: another reference would make the child look shared.
        var child = branches[index].child.takeRetainedValue()
        if !isKnownUniquelyReferenced(&child) { child = child.copy() }
        let unique = Unmanaged.passRetained(child)
        branches[index].child = unique
        return unique
    }

    /// Fixes a child with too few entries: it takes some from a neighbor, or merges with it.
    fileprivate func mendChild(_ index: Int) {
        let index = max(index - 1, 0)
        let left = uniqueChild(index).takeUnretainedValue()
        let right = uniqueChild(index + 1).takeUnretainedValue()
        if height == 1 {
            Self.balance(left, right, of: RowKey.self)
        } else {
            Self.balance(left, right, of: RowBranch.self)
        }
        branches[index].firstKey = left.firstKey
        branches[index].count = left.total
        if right.count == 0 {
            branches[index + 1].child.release()
            branches.remove(at: index + 1, count: count)
            count -= 1
        } else {
            branches[index + 1].firstKey = right.firstKey
            branches[index + 1].count = right.total
        }
    }

    /// Moves entries between neighbors, so that the right one is empty, or both have enough entries for many later
    /// changes.
    private static func balance<Entry: RowNodeEntry>(_ left: RowNode, _ right: RowNode, of entry: Entry.Type) {
        let leftEntries = Entry.all(of: left)
        let rightEntries = Entry.all(of: right)
        let total = left.count + right.count
        let wanted = total <= left.mostEntries / 4 * 3 ? total : total / 2
        let moved = wanted - left.count
        if moved > 0 {
            (leftEntries + left.count).moveInitialize(from: rightEntries, count: moved)
            rightEntries.moveInitialize(from: rightEntries + moved, count: right.count - moved)
        } else if moved < 0 {
            (rightEntries - moved).moveInitialize(from: rightEntries, count: right.count)
            rightEntries.moveInitialize(from: leftEntries + wanted, count: -moved)
        }
        left.count = wanted
        right.count = total - wanted
    }
}

extension UnsafeMutablePointer {
    @inline(__always)
    fileprivate func insert(_ entry: Pointee, at index: Int, count: Int) {
        (self + index + 1).moveInitialize(from: self + index, count: count - index)
        (self + index).initialize(to: entry)
    }

    @inline(__always)
    fileprivate func remove(at index: Int, count: Int) {
        (self + index).moveInitialize(from: self + index + 1, count: count - index - 1)
    }
}

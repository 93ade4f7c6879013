extension RowTree {
    /// Creates a tree from rows in order (see ``sort(_:)``).
    ///
    /// - Complexity: O(*n*)
    init(sorted rows: [LiveRow]) {
        self = withExtendedLifetime(rows) { RowTree(rowKeys: rows.map { RowKey($0) }) }
    }

    /// Creates a tree from keys in order, whose rows are alive.
    private init(rowKeys: [RowKey]) {
        assert(zip(rowKeys, rowKeys.dropFirst()).allSatisfy { $0.order($1) < 0 }, "The rows are not in order.")
        guard !rowKeys.isEmpty else { return }
        count = rowKeys.count
        var level = rowKeys.withUnsafeBufferPointer { rowKeys in
            Self.groups(rowKeys.count, of: RowNode.leafCapacity).map { group in
                let leaf = RowNode.make(height: 0)
                leaf.keys.initialize(from: rowKeys.baseAddress! + group.lowerBound, count: group.count)
                leaf.count = group.count
                for index in group { _ = rowKeys[index].row.retain() }
                return leaf
            }
        }
        while level.count > 1 {
            level = Self.groups(level.count, of: RowNode.branchCapacity).map { group in
                let node = RowNode.make(height: level[0].height + 1)
                for (index, child) in level[group].enumerated() {
                    (node.branches + index).initialize(to: RowBranch(child))
                }
                node.count = group.count
                return node
            }
        }
        root = level[0]
    }

    /// Divides entries into even groups, with spare capacity in each, unless a single group is enough.
    private static func groups(_ count: Int, of capacity: Int) -> [Range<Int>] {
        let roomy = capacity / 4 * 3
        let groups = count <= capacity ? 1 : (count + roomy - 1) / roomy
        return (0..<groups).map { $0 * count / groups..<($0 + 1) * count / groups }
    }

    /// Sorts rows into the order of the tree.
    ///
    /// - Complexity: O(*n* log *n*), and O(*n*) if they are in order.
    static func sort(_ rows: inout [LiveRow]) {
        withExtendedLifetime(rows) { unsorted in
            let rowKeys = sortedKeys(unsorted)
            rows = rowKeys.map { $0.row.takeUnretainedValue() }
        }
    }

    private static func sortedKeys(_ rows: [LiveRow]) -> [RowKey] {
        var rowKeys = rows.map { RowKey($0) }
        rowKeys.withUnsafeMutableBufferPointer { rowKeys in
            if rowKeys.indices.dropFirst().allSatisfy({ rowKeys[$0 - 1].order(rowKeys[$0]) < 0 }) { return }
            // Sort by the words first, which are in cache. Then sort the rows with equal words in small groups.
            rowKeys.sort { $0.high != $1.high ? $0.high < $1.high : $0.low < $1.low }
            var start = 0
            for end in 1...rowKeys.count {
                if end < rowKeys.count, rowKeys[start].high == rowKeys[end].high, rowKeys[start].low == rowKeys[end].low
                {
                    continue
                }
                if end - start > 1 {
                    let equals = UnsafeMutableBufferPointer(rebasing: rowKeys[start..<end])
                    sort(equals, from: equals[0].equalBytes)
                }
                start = end
            }
        }
        return rowKeys
    }

    /// Sorts the keys of rows. The bytes of all keys are the same up to an offset, or `nil` if that is unknown.
    ///
    /// A list sorted by name has many names with a common beginning. A comparison of two rows accesses both, wherever
    /// they are in memory. So each row is accessed only once, for its following words.
    private static func sort(_ rowKeys: UnsafeMutableBufferPointer<RowKey>, from offset: Int?, depth: Int = 0) {
        var rowKeys = rowKeys
        guard let offset, rowKeys.count > 4, depth < 16 else { return rowKeys.sort { $0.order($1) < 0 } }
        var deeper = rowKeys.map { (words: $0.words(at: offset), rowKey: $0) }
        deeper.sort {
            $0.words.first != $1.words.first ? $0.words.first < $1.words.first : $0.words.next < $1.words.next
        }
        for index in rowKeys.indices { rowKeys[index] = deeper[index].rowKey }
        var start = 0
        for end in 1...rowKeys.count {
            let words = deeper[start].words
            if end < rowKeys.count, words.first == deeper[end].words.first, words.next == deeper[end].words.next {
                continue
            }
            if end - start > 1 {
                let goesOn = deeper[start..<end].contains { $0.words.goesOn }
                sort(
                    UnsafeMutableBufferPointer(rebasing: rowKeys[start..<end]), from: goesOn ? offset + 16 : nil,
                    depth: depth + 1)
            }
            start = end
        }
    }

    /// Removes the rows with the key and local ID of a row in `removed`, and then inserts `inserted`. Both can be in
    /// any order.
    ///
    /// - Returns: `false` if a row of `removed` is missing, or if a row with the key and local ID of a row in
    ///   `inserted` exists. The rows are then not as expected, and must be reloaded.
    /// - Complexity: O(*k* log *n*) for *k* rows, but never much more than O(*n* + *k* log *k*).
    mutating func apply(removed: [LiveRow], inserted: [LiveRow]) -> Bool {
        let changes = removed.count + inserted.count
        if changes < 8 {
            return removed.allSatisfy { remove($0) != nil } && inserted.allSatisfy { insert($0) != nil }
        }
        return withExtendedLifetime((removed, inserted)) {
            let removed = Self.sortedKeys(removed)
            let inserted = Self.sortedKeys(inserted)
            if changes > count / Self.rebuildShare {
                guard let merged = merging(removed: removed, inserted: inserted) else { return false }
                self = RowTree(rowKeys: merged)
                return true
            }
            // Apply them in order, so that neighboring rows are changed while their leaf is in cache.
            return removed.allSatisfy { rowKey in rowKey.row._withUnsafeGuaranteedRef { remove($0) != nil } }
                && inserted.allSatisfy { rowKey in rowKey.row._withUnsafeGuaranteedRef { insert($0) != nil } }
        }
    }

    /// The share of changed rows at which changing them one by one takes about as long as building a new tree.
    private static let rebuildShare = 10

    /// Returns the keys after a change, or `nil` if a row of `removed` is missing or a row of `inserted` exists.
    private func merging(removed: [RowKey], inserted: [RowKey]) -> [RowKey]? {
        var merged: [RowKey] = []
        merged.reserveCapacity(count + inserted.count)
        var cursor = RowCursor(self, range: 0..<count)
        var removals = removed.makeIterator()
        var insertions = inserted.makeIterator()
        var removal = removals.next()
        var insertion = insertions.next()
        while true {
            if let rowKey = removal, insertion.map({ rowKey.order($0) <= 0 }) ?? true {
                guard cursor.skip(before: rowKey, { merged.append(contentsOf: $0) }) else { return nil }
                _ = cursor.advance()
                removal = removals.next()
            } else if let rowKey = insertion {
                let isThere = cursor.skip(before: rowKey) { merged.append(contentsOf: $0) }
                // Two of the inserted rows may also have the same position.
                if isThere || merged.last.map({ $0.order(rowKey) == 0 }) ?? false { return nil }
                merged.append(rowKey)
                insertion = insertions.next()
            } else {
                break
            }
        }
        cursor.skipRest { merged.append(contentsOf: $0) }
        return merged
    }
}

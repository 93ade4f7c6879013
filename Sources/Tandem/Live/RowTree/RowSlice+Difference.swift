extension RowSlice {
    /// Returns the changes from this slice to another. It is for slices whose changes are unknown, because one of them
    /// was reloaded.
    ///
    /// Objects with the same local ID are the same. A row at the same position is unchanged if all its bytes are the
    /// same, or if `isSame` returns true.
    ///
    /// - Complexity: O(*n*)
    func deltas(to new: RowSlice, isSame: (LiveRow, LiveRow) -> Bool) -> [RowDelta] {
        if isIdentical(to: new) { return [] }
        if isEmpty { return new.map { RowDelta(old: nil, new: $0) } }
        var deltas: [RowDelta] = []
        var gone: [LiveRow] = []
        var came: [LiveRow] = []
        var oldCursor = makeIterator()
        var newCursor = new.makeIterator()
        while let before = oldCursor.current, let after = newCursor.current {
            if before.leaf === after.leaf, before.index == after.index {
                // Both trees share the leaf.
                let count = Swift.min(oldCursor.left, newCursor.left)
                oldCursor.skip(count)
                newCursor.skip(count)
                continue
            }
            let order = before.view.order(after.view)
            if order < 0 {
                gone.append(before)
            } else if order > 0 {
                came.append(after)
            } else if !before.isIdentical(to: after), !isSame(before, after) {
                deltas.append(RowDelta(old: before, new: after))
            }
            if order <= 0 { oldCursor.skip(1) }
            if order >= 0 { newCursor.skip(1) }
        }
        while let before = oldCursor.next() { gone.append(before) }
        while let after = newCursor.next() { came.append(after) }
        deltas += Self.paired(gone: gone, came: came)
        return deltas
    }

    /// Pairs removed and inserted rows of the same objects.
    private static func paired(gone: [LiveRow], came: [LiveRow]) -> [RowDelta] {
        guard !gone.isEmpty && !came.isEmpty else {
            return gone.map { RowDelta(old: $0, new: nil) } + came.map { RowDelta(old: nil, new: $0) }
        }
        var deltas: [RowDelta] = []
        var goneByID: [LocalID: LiveRow] = [:]
        for row in gone {
            // A local ID occurs once, unless the store is damaged.
            if let other = goneByID.updateValue(row, forKey: row.localID) {
                deltas.append(RowDelta(old: other, new: nil))
            }
        }
        for row in came { deltas.append(RowDelta(old: goneByID.removeValue(forKey: row.localID), new: row)) }
        for row in goneByID.values { deltas.append(RowDelta(old: row, new: nil)) }
        return deltas
    }
}

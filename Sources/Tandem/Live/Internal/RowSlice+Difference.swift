extension RowSlice {
    /// What became of the rows since this slice, for slices that nothing is known of: one of them was read afresh.
    ///
    /// Objects are the same that have the same local ID. A row that stayed at its place is no change if it is the same
    /// one, or if `isSame` says that they show the same.
    ///
    /// - Complexity: O(*n*)
    func deltas(to new: RowSlice, isSame: (LiveRow, LiveRow) -> Bool) -> [RowDelta] {
        if isIdentical(to: new) { return [] }
        var deltas: [RowDelta] = []
        var gone: [LiveRow] = []
        var came: [LiveRow] = []
        var oldCursor = cursor
        var newCursor = new.cursor
        var oldPlace = oldCursor.advance()
        var newPlace = newCursor.advance()
        while let before = oldPlace, let after = newPlace {
            let order = before.order(after)
            if order < 0 {
                gone.append(before.row.takeUnretainedValue())
            } else if order > 0 {
                came.append(after.row.takeUnretainedValue())
            } else if before.row.toOpaque() != after.row.toOpaque() {
                let (old, new) = (before.row.takeUnretainedValue(), after.row.takeUnretainedValue())
                if !isSame(old, new) { deltas.append(RowDelta(old: old, new: new)) }
            }
            if order <= 0 { oldPlace = oldCursor.advance() }
            if order >= 0 { newPlace = newCursor.advance() }
        }
        while let before = oldPlace {
            gone.append(before.row.takeUnretainedValue())
            oldPlace = oldCursor.advance()
        }
        while let after = newPlace {
            came.append(after.row.takeUnretainedValue())
            newPlace = newCursor.advance()
        }
        deltas += Self.paired(gone: gone, came: came)
        return deltas
    }

    /// Puts together what went from one place and came to another.
    private static func paired(gone: [LiveRow], came: [LiveRow]) -> [RowDelta] {
        guard !gone.isEmpty && !came.isEmpty else {
            return gone.map { RowDelta(old: $0, new: nil) } + came.map { RowDelta(old: nil, new: $0) }
        }
        var deltas: [RowDelta] = []
        var goneByID: [LocalID: LiveRow] = [:]
        for row in gone {
            // A local ID is there once, unless the store is damaged.
            if let other = goneByID.updateValue(row, forKey: row.localID) {
                deltas.append(RowDelta(old: other, new: nil))
            }
        }
        for row in came { deltas.append(RowDelta(old: goneByID.removeValue(forKey: row.localID), new: row)) }
        for row in goneByID.values { deltas.append(RowDelta(old: row, new: nil)) }
        return deltas
    }
}

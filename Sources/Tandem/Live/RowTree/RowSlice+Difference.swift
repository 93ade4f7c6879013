extension RowSlice {
    /// Returns the changes from this slice to another. It is for slices whose changes are unknown, because one of them
    /// was reloaded.
    ///
    /// Objects with the same local ID are the same. A row at the same position is unchanged if it is the same object,
    /// or if `isSame` returns true.
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

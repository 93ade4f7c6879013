/// The change of a row between two states: it was inserted (no old row), removed (no new row), or replaced.
///
/// The rowid of a removed row can be reused for another object. Old and new row then have different local IDs, and one
/// was removed and the other inserted. An object that was inserted again may have another rowid, and is then in two
/// deltas.
struct RowDelta: Sendable {
    var old: LiveRow?
    var new: LiveRow?

    /// Whether the row is unchanged.
    var isEmpty: Bool {
        guard let old, let new else { return old == nil && new == nil }
        return old.isIdentical(to: new)
    }

    /// Whether the same object was and is in the row.
    var isOfOneObject: Bool {
        guard let old, let new else { return false }
        return old.hasLocalID(of: new)
    }

    /// Returns whether one of the two states is of the object of a row.
    func isOf(_ row: LiveRow) -> Bool {
        old.map(row.hasLocalID) ?? false || new.map(row.hasLocalID) ?? false
    }

    /// Whether the object's rowid has changed.
    var isOfSeveralRows: Bool {
        guard let old, let new else { return false }
        return old.rowID != new.rowID
    }
}

/// The changes of rows over several commits, by rowid: the net effect of the deltas that were merged in sequence.
extension [Int64: RowDelta] {
    /// Merges a delta of a row with the earlier delta of its rowid: *a* → *b* and then *b* → *c* become *a* → *c*.
    mutating func merge(_ delta: RowDelta, rowID: Int64) {
        guard let index = index(forKey: rowID) else {
            if !delta.isEmpty { self[rowID] = delta }
            return
        }
        values[index].new = delta.new
        if values[index].isEmpty { remove(at: index) }
    }
}

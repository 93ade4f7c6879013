/// A comparison of an object's values by their stored forms. A model's own `==` may be less strict.
final class ObjectComparison<M: Model> {
    /// The compared columns, or `nil` for all.
    private let observed: ColumnMask?
    private let old = RowEncoder()
    private let new = RowEncoder()

    init(observed: ColumnMask?) {
        self.observed = observed
    }

    func isSame(_ before: M, as after: M) -> Bool {
        old.removeAll()
        new.removeAll()
        before.__append(to: old)
        after.__append(to: new)
        let mask = Self.changedState(before.__state, after: after.__state)
        guard let observed else { return mask == 0 && old.isSame(as: new) }
        guard observed & mask == 0 else { return false }
        let first = RowDecoder.stateColumns.count
        for index in 0..<old.slots.count where observed & (1 << UInt64(min(63, first + index))) != 0 {
            if old.value(at: index) != new.value(at: index) { return false }
        }
        return true
    }

    /// Returns the columns of the state that differ.
    private static func changedState(_ before: ObjectState, after: ObjectState) -> ColumnMask {
        var mask: ColumnMask = 0
        if before.localID != after.localID { mask |= 1 << 1 }
        if before.serverID != after.serverID { mask |= 1 << 2 }
        if before.isSynced != after.isSynced { mask |= 1 << 3 }
        if before.isDeleted != after.isDeleted { mask |= 1 << 4 }
        if !ScalarText.isEqual(before.version, after.version) { mask |= 1 << 5 }
        if !__same(before.createdAt, after.createdAt) { mask |= 1 << 6 }
        if !__same(before.updatedAt, after.updatedAt) { mask |= 1 << 7 }
        return mask
    }
}

extension RowEncoder {
    /// Returns whether two rows have the same values, bit by bit.
    fileprivate func isSame(as other: RowEncoder) -> Bool {
        slots.count == other.slots.count && bytes == other.bytes
            && zip(slots, other.slots).allSatisfy { $0.tag == $1.tag && $0.bits == $1.bits && $0.count == $1.count }
    }
}

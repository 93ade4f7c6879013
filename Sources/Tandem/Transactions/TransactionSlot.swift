/// Data that a part of the store keeps with a write transaction: see ``WriteTransaction/slot(_:)``.
protocol TransactionSlot: AnyObject {
    init()

    /// Called after changes of the transaction were undone with a savepoint. The default does nothing.
    func didRollBackToSavepoint()
}

extension TransactionSlot {
    func didRollBackToSavepoint() {}
}

/// The slots of a write transaction, by type.
struct TransactionSlots {
    private var slots: [(type: ObjectIdentifier, slot: any TransactionSlot)] = []

    /// Returns the slot of a type, which is created at its first use.
    mutating func slot<Slot: TransactionSlot>(_ type: Slot.Type) -> Slot {
        let key = ObjectIdentifier(type)
        // For few slots, a linear search is faster than hashing.
        for known in slots where known.type == key { return unsafeDowncast(known.slot, to: type) }
        let slot = Slot()
        slots.append((key, slot))
        return slot
    }

    func didRollBackToSavepoint() {
        for (_, slot) in slots { slot.didRollBackToSavepoint() }
    }
}

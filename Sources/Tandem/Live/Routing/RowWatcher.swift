/// A function that translates a changed row for a part, while the writer's statement is at the row.
protocol RowWatcher: Sendable {
    /// - Parameters:
    ///   - wasIn: Whether the part's predicate held before.
    ///   - isIn: Whether the part's predicate holds now.
    /// - Returns: `nil` if the change does not affect the part.
    func change(_ row: borrowing CommittedRow, wasIn: Bool, isIn: Bool) throws -> PartChange?
}

/// The old values of a row's watched columns, within those of all rows.
struct OldColumns: ColumnSource {
    let values: RowEncoder
    let first: Int

    func view(_ slot: Int) -> ColumnView { values.view(first + slot) }
}

/// A watcher that reports inserted, removed and changed rows to a list.
struct ListWatcher: RowWatcher {
    let order: OwnOrder
    let section: OwnOrder?
    let maker: RowMaker
    /// The columns whose changes are reported. A change of the order changes the position, and is always reported.
    let observed: ColumnMask

    func change(_ row: borrowing CommittedRow, wasIn: Bool, isIn: Bool) throws -> PartChange? {
        guard isIn else { return .row(id: row.rowID, row: nil, isSilent: false) }
        var key: [UInt8] = []
        section?.appendKey(row.ordered, to: &key)
        let sectionLength = key.count
        order.appendKey(row.ordered, to: &key)
        let position = RowMaker.Position(
            rowID: row.rowID, key: key, sectionLength: sectionLength, sectionColumn: nil)
        let new = try maker.make(row.statement, at: position, path: row.path)
        return .row(id: row.rowID, row: new, isSilent: wasIn && row.mask & observed == 0)
    }
}

/// A watcher that reports changes of a count.
struct CountWatcher: RowWatcher {
    func change(_ row: borrowing CommittedRow, wasIn: Bool, isIn: Bool) -> PartChange? {
        wasIn == isIn ? nil : .count(isIn ? 1 : -1)
    }
}

/// A watcher that reports the removed and the added value to an aggregate of a property.
struct ValueWatcher: RowWatcher {
    let slot: Int

    func change(_ row: borrowing CommittedRow, wasIn: Bool, isIn: Bool) -> PartChange? {
        let old = wasIn ? StorageValue(row.old.view(slot)) : nil
        let new = isIn ? StorageValue(row.asked.view(slot)) : nil
        return old == new ? nil : .value(old: old, new: new)
    }
}

extension StorageValue {
    init(_ view: ColumnView) {
        switch view {
        case .null: self = .null
        case .integer(let value): self = .integer(value)
        case .real(let value): self = .real(value)
        case .text(let bytes): self = .text(String(decoding: bytes, as: UTF8.self))
        case .blob(let bytes): self = .blob(Array(bytes))
        }
    }
}

/// Says what a changed row means to a part, while the writer stands on it.
protocol RowWatcher: Sendable {
    /// - Returns: `nil` if it means nothing to the part.
    func change(_ row: borrowing ChangedRow) throws -> PartChange?
}

/// A row that a transaction has changed, as it was before the first change and as it is now.
struct ChangedRow {
    let rowID: Int64
    /// Whether the part's predicate held before, and holds now.
    let wasIn: Bool
    let isIn: Bool
    /// The columns that differ.
    let mask: ColumnMask
    /// The asked columns before the transaction. Nothing to be read where there was no row.
    let old: OldColumns
    /// The row now, as objects are read. Stands on it only if it is there.
    let statement: Statement
    let asked: StatementColumns
    let ordered: StatementColumns
    let path: String
    /// The object, once it has been read for one of the parts.
    let box: ObjectBox
    let tuning: LiveTuning
}

/// Holds an object that was read, for those who want the same one.
final class ObjectBox {
    var object: Any?
}

/// The asked columns of a row as they were, among those of others.
struct OldColumns: ColumnSource {
    let values: RowBuffer
    let first: Int

    func view(_ slot: Int) -> ColumnView { values.view(first + slot) }
}

/// Tells a list of a row that has come, gone or changed.
struct ListWatcher: RowWatcher {
    let order: OwnOrder
    let section: OwnOrder?
    let maker: RowMaker
    /// The columns whose change is worth telling. A change of the order is another place, and told of anyway.
    let observed: ColumnMask

    func change(_ row: borrowing ChangedRow) throws -> PartChange? {
        guard row.isIn else { return .row(row.rowID, nil, isSilent: false) }
        var key: [UInt8] = []
        section?.appendKey(row.ordered, to: &key)
        let sectionLength = key.count
        order.appendKey(row.ordered, to: &key)
        if row.tuning.has(.tieBrokenWrongly) { key.append(UInt8(truncatingIfNeeded: ~row.rowID)) }
        let new = try maker.make(row.statement, row.rowID, key, sectionLength, nil, row.box, row.path)
        return .row(
            row.rowID, new, isSilent: row.wasIn && row.mask & observed == 0 && !row.tuning.has(.silentChangeTold))
    }
}

/// Tells a count.
struct CountWatcher: RowWatcher {
    func change(_ row: borrowing ChangedRow) -> PartChange? {
        row.wasIn == row.isIn ? nil : .count(row.isIn ? 1 : -1)
    }
}

/// Tells an aggregate of a property which value has left it and which has come.
struct ValueWatcher: RowWatcher {
    let slot: Int

    func change(_ row: borrowing ChangedRow) -> PartChange? {
        let old = row.wasIn ? StorageValue(row.old.view(slot)) : nil
        let new = row.isIn ? StorageValue(row.asked.view(slot)) : nil
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

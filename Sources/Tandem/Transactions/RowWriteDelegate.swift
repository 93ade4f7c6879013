/// The calls of the row writer to parts of the store that depend on written rows: the attachments and the operations.
///
/// A store has one delegate, which keeps no state of its own: a transaction passes itself.
protocol RowWriteDelegate: Sendable {
    /// Called before a row is inserted or updated. It may replace values of the row.
    ///
    /// - Parameters:
    ///   - stored: A statement at the existing row, or `nil` for an insert.
    ///   - only: The properties that are written, or `nil` for all.
    ///   - source: The source of the values.
    func willWrite(
        _ row: RowEncoder, over stored: Statement?, in table: TableLayout, only: Set<Int>?, from source: RowSource,
        by transaction: WriteTransaction
    ) throws

    /// Called after a row, its links and its unresolved references were inserted.
    ///
    /// - Parameters:
    ///   - state: The row's state, which may become unsynced.
    ///   - source: The source of the values.
    func didInsert(
        _ state: inout ObjectState, in table: TableLayout, from source: RowSource, by transaction: WriteTransaction
    ) throws

    /// Called after the app has updated properties that are sent.
    ///
    /// - Parameters:
    ///   - state: The object's state before the change.
    ///   - old: The changed properties that are sent.
    func didUpdate(
        _ state: ObjectState, from old: [OldValue], in table: TableLayout, by transaction: WriteTransaction
    ) throws

    /// Called before the app deletes an object.
    ///
    /// - Returns: Whether its row must stay as a tombstone.
    func willDelete(_ state: ObjectState, in table: TableLayout, by transaction: WriteTransaction) throws -> Bool

    /// Called before a row is removed.
    func willErase(_ rowID: Int64, in table: TableLayout, by transaction: WriteTransaction) throws

    /// Called before a tombstone becomes visible again.
    ///
    /// - Returns: Whether the object is then synced.
    func willUndelete(_ state: ObjectState, in table: TableLayout, by transaction: WriteTransaction) throws -> Bool
}

/// The value of a changed property before an update, by the property's column.
typealias OldValue = (column: String, value: StorageValue)

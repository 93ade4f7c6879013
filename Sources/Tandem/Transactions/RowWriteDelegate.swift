/// The calls of the row writer to parts of the store that depend on written rows: the attachments and the operations.
///
/// They run for each row. `WriteTransaction` therefore conforms itself, and all calls are statically dispatched.
protocol RowWriteDelegate {
    /// The old values that an update's operation records.
    associatedtype OldValues

    /// Called before a row is inserted or updated. It may replace values of the row.
    ///
    /// - Parameters:
    ///   - stored: A statement at the existing row, or `nil` for an insert.
    ///   - only: The properties that are written, or `nil` for all.
    ///   - source: The source of the values.
    func willWrite(
        _ row: RowEncoder, over stored: Statement?, in table: TableLayout, only: Set<Int>?, from source: RowSource
    ) throws

    /// Called after a row, its links and its unresolved references were inserted.
    ///
    /// - Parameters:
    ///   - state: The row's state, which may become unsynced.
    ///   - source: The source of the values.
    func didInsert(_ state: inout ObjectState, in table: TableLayout, from source: RowSource) throws

    /// Called before the changed properties of a row are written, if the source of the values queues operations.
    ///
    /// - Parameters:
    ///   - changed: The indices of the changed properties.
    ///   - statement: A statement at the existing row.
    ///   - waiting: The changes of unresolved references, by the property's index.
    /// - Returns: The old values of the properties that are sent, or `nil` if none of them is.
    func willUpdate(
        _ changed: [Int], of statement: Statement, waiting: [Int: (before: [WaitingEntry], after: [WaitingEntry])],
        in table: TableLayout
    ) -> OldValues?

    /// Called after an update, if ``willUpdate(_:of:waiting:in:)`` has returned old values.
    ///
    /// - Parameter state: The object's state before the change.
    func didUpdate(_ state: ObjectState, from old: OldValues, in table: TableLayout) throws

    /// Called before the app deletes an object.
    ///
    /// - Returns: Whether its row must stay as a tombstone.
    func willDelete(_ state: ObjectState, in table: TableLayout) throws -> Bool

    /// Called before a row is removed.
    func willErase(_ rowID: Int64, in table: TableLayout) throws

    /// Called before a tombstone becomes visible again.
    ///
    /// - Returns: Whether the object is then synced.
    func willUndelete(_ state: ObjectState, in table: TableLayout) throws -> Bool
}

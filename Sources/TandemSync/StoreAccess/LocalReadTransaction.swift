import Foundation
import Tandem

/// Reads for sync, in a block of ``LocalStore/read(_:)`` or ``LocalStore/write(_:)``.
///
/// In a write block, reads see the block's own writes. Tables have their names in the store.
///
/// ## Topics
/// ### Operations
/// - ``operations(after:limit:)``
/// - ``operation(withID:)``
/// - ``operation(on:in:)``
/// - ``countOfOperations()``
/// - ``countOfOperations(in:)-(String)``
/// - ``countOfOperationsToRetry()``
/// - ``operationMarks()``
/// - ``blocker(of:in:)``
/// - ``mayHaveDeleted(_:)``
/// - ``outgoing(_:)``
/// ### Objects
/// - ``object(_:in:)``
/// - ``localIDs(in:)``
/// - ``hasObject(_:in:)``
/// - ``serverID(of:in:)``
/// - ``row(of:in:)``
/// - ``forEachSyncedRow(in:where:body:)``
/// - ``syncedRows(in:where:)``
/// - ``countOfServerItems(in:)``
/// ### Files
/// - ``pendingFiles(of:in:)``
/// - ``countOfPendingFiles(in:)``
/// - ``waitsForReplacements(_:)``
/// ### Deferred items
/// - ``deferredItem(of:)``
/// - ``deferredItemsWithoutOperation(in:after:limit:)``
/// ### Tokens and settings
/// - ``syncToken(of:in:)``
/// - ``lastSuccesses()``
/// - ``syncSetting(_:)``
/// - ``exchangedTablesWithoutModel()``
package protocol LocalReadTransaction {
    /// Returns operations in the order of the queue, except those of unknown models. A later change of an object does
    /// not move its operation.
    ///
    /// - Parameters:
    ///   - id: The operation after which the result begins; `nil` for the first ones.
    ///   - limit: The maximum number to return.
    func operations(after id: PendingOperation.ID?, limit: Int) throws -> [PendingOperation]

    /// Returns an operation; `nil` if it is no longer in the queue.
    func operation(withID id: PendingOperation.ID) throws -> PendingOperation?

    /// Returns the operation of an object; `nil` if it has none.
    func operation(on localID: LocalID, in table: String) throws -> PendingOperation?

    /// Returns the number of operations of a table's objects.
    func countOfOperations(in table: String) throws -> Int

    /// Returns the number of all operations.
    func countOfOperations() throws -> Int

    /// Returns the number of operations in a state.
    func countOfOperations(in state: PendingOperation.State) throws -> Int

    /// Returns the number of pending or attempted operations that have an error: an attempt has failed, and they will
    /// be retried.
    func countOfOperationsToRetry() throws -> Int

    /// Returns the marks of the operations that are sent automatically: they neither failed nor are held.
    func operationMarks() throws -> OperationMarks

    /// Returns an object by its stored values, even one with an unsent delete; `nil` if it does not exist.
    func object(_ localID: LocalID, in table: String) throws -> LocalObject?

    /// Returns the local IDs of a table's objects in their order, including objects with an unsent delete.
    func localIDs(in table: String) throws -> [LocalID]

    /// Returns the server ID of a live or deleted object; `nil` if it has none, or the object does not exist.
    func serverID(of localID: LocalID, in table: String) throws -> ServerID?

    /// Returns whether an object with a local ID exists, including objects with an unsent delete.
    func hasObject(_ localID: LocalID, in table: String) throws -> Bool

    /// Returns an object whose insert failed or is held, and which must be on the server before another one. The other
    /// object refers to it, directly or through other objects.
    func blocker(of localID: LocalID, in table: String) throws -> (localID: LocalID, model: String)?

    /// Returns whether a delete of the operation's object was sent, and may have been executed. It may belong to this
    /// operation, or to an earlier one before the object was restored.
    func mayHaveDeleted(_ id: PendingOperation.ID) throws -> Bool

    /// Returns the number of an object's files that wait to be uploaded.
    ///
    /// Also returns the reason of a failed attempt, if any.
    func pendingFiles(of localID: LocalID, in table: String) throws -> (count: Int, reason: String?)

    /// Returns the number of files of a table's objects that wait to be uploaded.
    ///
    /// - Parameter table: The table, or `nil` for all tables.
    func countOfPendingFiles(in table: String?) throws -> Int

    /// Returns whether an update has nothing to send before the uploads of replacement files.
    func waitsForReplacements(_ id: PendingOperation.ID) throws -> Bool

    /// Returns the object of an operation as it would be sent now; `nil` if the operation is no longer in the queue.
    func outgoing(_ id: PendingOperation.ID) throws -> OutgoingObject?

    /// Returns the deferred server item of an operation's object; the newest by the server's time if there are several.
    func deferredItem(of operation: PendingOperation.ID) throws -> DeferredItem?

    /// Returns the deferred items of a table that may be stored now. They conflicted with a unique value, or with an
    /// operation that no longer exists.
    ///
    /// - Parameters:
    ///   - serverID: The ID after which the result begins, in the order of the IDs; `nil` for the first ones.
    ///   - limit: The maximum number to return.
    func deferredItemsWithoutOperation(in table: String, after serverID: ServerID?, limit: Int) throws -> [DeferredItem]

    /// Returns the number of an object's row, for ``LocalTransaction/removeSynced(_:in:)``; `nil` if no object has the
    /// ID.
    ///
    /// The number does not change while the object exists. A later object may reuse it.
    func row(of serverID: ServerID, in table: String) throws -> Int64?

    /// Calls a closure for each live object that the server has stored and that has no operation.
    ///
    /// The closure receives the object's row number and server ID.
    ///
    /// - Parameters:
    ///   - filter: A condition on the objects, or `nil` for all.
    ///   - body: A closure that must not use the store.
    /// - Throws: `.unknownModel`, and the errors of the closure.
    func forEachSyncedRow(
        in table: String, where filter: LocalFilter?, body: (Int64, ServerID) throws -> Void
    ) throws

    /// Returns the number of a table's live items on the server that the store knows: the server IDs of its objects,
    /// including deleted ones, and of its deferred items, except tombstones.
    ///
    /// - Throws: `.unknownModel`.
    func countOfServerItems(in table: String) throws -> Int

    /// Returns the position of a query; `nil` if it was never pulled, or must be pulled from the start.
    func syncToken(of queryID: String, in table: String) throws -> SyncToken?

    /// Returns the time of each table's last complete pull, by its tokens and the local clock.
    func lastSuccesses() throws -> [String: Date]

    /// Returns a setting of sync; `nil` if it was not set.
    func syncSetting(_ key: SyncSetting) throws -> String?

    /// Returns the tables with server data whose models the store was opened without.
    ///
    /// The tables are in the order of their names. Server data are objects with a server ID, operations, deferred items
    /// and sync tokens.
    ///
    /// The result is empty if the store was opened with all its models.
    func exchangedTablesWithoutModel() throws -> [String]
}

extension LocalReadTransaction {
    /// Returns the row numbers of the live objects that have a server ID and no operation.
    ///
    /// - Parameter filter: A condition on the objects, or `nil` for all.
    package func syncedRows(in table: String, where filter: LocalFilter?) throws -> RowSet {
        var rows = RowSet()
        try forEachSyncedRow(in: table, where: filter) { row, _ in rows.insert(row) }
        return rows
    }
}

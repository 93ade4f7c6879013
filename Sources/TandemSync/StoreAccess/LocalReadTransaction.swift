import Foundation
import Tandem

/// The reads of sync, in a block of ``LocalStore/read(_:)`` or ``LocalStore/write(_:)``.
///
/// In a write it sees what the block has written. Tables are given by their names in the store.
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
/// - ``forEachSyncedRow(in:where:_:)``
/// - ``syncedRows(in:where:)``
/// ### Files
/// - ``pendingFiles(of:in:)``
/// - ``countOfPendingFiles(in:)``
/// - ``waitsForReplacements(_:)``
/// ### What was kept of a server's
/// - ``deferredItem(of:)``
/// - ``deferredItemsWithoutOperation(in:after:limit:)``
/// ### What sync remembers
/// - ``syncToken(of:in:)``
/// - ``lastSuccesses()``
/// - ``syncSetting(_:)``
/// - ``exchangedTablesWithoutModel()``
package protocol LocalReadTransaction {
    /// The operations in the order of the queue, those of no model here left out. Later changes of an object leave its
    /// operation in its place.
    ///
    /// - Parameters:
    ///   - id: Those after this one; `nil` for the first ones.
    ///   - limit: The maximum number to return.
    func operations(after id: PendingOperation.ID?, limit: Int) throws -> [PendingOperation]

    /// Returns an operation; `nil` if it is no longer in the queue.
    func operation(withID id: PendingOperation.ID) throws -> PendingOperation?

    /// Returns the operation of an object; `nil` if it has none.
    func operation(on localID: LocalID, in table: String) throws -> PendingOperation?

    /// The number of operations on a table's objects.
    func countOfOperations(in table: String) throws -> Int

    /// The number of all operations.
    func countOfOperations() throws -> Int

    /// The number of operations in a state.
    func countOfOperations(in state: PendingOperation.State) throws -> Int

    /// The number of operations that are pending or attempted, and have an error: a try to send them has failed, and
    /// they wait to be sent again.
    func countOfOperationsToRetry() throws -> Int

    /// Returns the marks of the operations that are sent automatically: they neither failed nor are held.
    func operationMarks() throws -> OperationMarks

    /// An object by its stored values, a deleted one that the server has not heard of too; `nil` if there is none.
    func object(_ localID: LocalID, in table: String) throws -> LocalObject?

    /// The local IDs of a table's objects, deleted ones that the server has not heard of included, in their order.
    func localIDs(in table: String) throws -> [LocalID]

    /// The server ID of a live or deleted object; `nil` if it has none, or there is no such object.
    func serverID(of localID: LocalID, in table: String) throws -> ServerID?

    /// Whether there is an object with a local ID, deleted ones that the server has not heard of included.
    func hasObject(_ localID: LocalID, in table: String) throws -> Bool

    /// An object whose insert failed or is held, and that has to be on the server before another one: because that one
    /// refers to it, or to what refers to it.
    func blocker(of localID: LocalID, in table: String) throws -> (localID: LocalID, model: String)?

    /// Whether a delete of the operation's object was sent, by this operation or before the object was brought back,
    /// and may have been carried out.
    func mayHaveDeleted(_ id: PendingOperation.ID) throws -> Bool

    /// Returns the number of an object's files that wait to be uploaded, and the reason of a failed attempt, if any.
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
    ///   - serverID: Those after this one, in the order of their IDs; `nil` for the first ones.
    ///   - limit: The maximum number to return.
    func deferredItemsWithoutOperation(in table: String, after serverID: ServerID?, limit: Int) throws -> [DeferredItem]

    /// The number of a row, by which ``LocalTransaction/removeSynced(_:in:)`` takes it away; `nil` if no object has the
    /// ID.
    ///
    /// An object keeps its row's number; a later object may be given that of one that is gone.
    func row(of serverID: ServerID, in table: String) throws -> Int64?

    /// Calls a closure with the row number and the server ID of each live object that the server knows and that has no
    /// operation.
    ///
    /// - Parameters:
    ///   - filter: Of those, the ones for which it holds; `nil` for all.
    ///   - body: A closure that must not use the store.
    /// - Throws: `.unknownModel`, and what the closure throws.
    func forEachSyncedRow(
        in table: String, where filter: LocalFilter?, _ body: (Int64, ServerID) throws -> Void
    ) throws

    /// Returns the position of a query; `nil` if it was never pulled, or must be pulled from the start.
    func syncToken(of queryID: String, in table: String) throws -> SyncToken?

    /// Returns the time of each table's last complete pull, by its tokens and the local clock.
    func lastSuccesses() throws -> [String: Date]

    /// Returns a setting of sync; `nil` if it was not set.
    func syncSetting(_ key: SyncSetting) throws -> String?

    /// The tables of models that the store was not opened with, and that hold what is exchanged with a server: objects
    /// that it knows, operations, deferred items, or how far a query was pulled. In the order of their names.
    ///
    /// A store that holds nothing but the models that it was opened with has none.
    func exchangedTablesWithoutModel() throws -> [String]
}

extension LocalReadTransaction {
    /// The row numbers of the live objects that the server knows and that have no operation.
    ///
    /// - Parameter filter: Of those, the ones for which it holds; `nil` for all.
    package func syncedRows(in table: String, where filter: LocalFilter?) throws -> RowSet {
        var rows = RowSet()
        try forEachSyncedRow(in: table, where: filter) { row, _ in rows.insert(row) }
        return rows
    }
}

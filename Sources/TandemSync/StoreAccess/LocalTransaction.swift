import Foundation
import Tandem

/// Writes for sync, in a block of ``LocalStore/write(_:)``.
///
/// ## Topics
/// ### As the app does
/// - ``insert(_:in:as:)``
/// - ``change(_:in:to:)``
/// ### Sending
/// - ``beginAttempt(_:leavingOut:rounding:)``
/// - ``acknowledge(_:attempt:with:keepsTombstones:)``
/// - ``fail(_:attempt:with:retry:retryAt:)``
/// - ``fail(_:with:retry:)``
/// - ``withdraw(_:attempt:restoring:retryAt:)``
/// - ``markOutcomeUnknown(_:attempt:error:retryAt:)``
/// ### Conflicts
/// - ``sides(of:against:rounding:)``
/// - ``rebase(_:onto:takingServers:rounding:)``
/// - ``makeInsert(_:)``
/// - ``hold(_:)``
/// - ``release(_:)``
/// - ``discard(_:for:)``
/// ### Receiving
/// - ``applyServerItem(_:in:identity:)``
/// - ``applyServerItems(_:in:)``
/// - ``receiveTogether(_:in:identity:)``
/// - ``removeSynced(_:in:)``
/// - ``removeUnlisted(_:in:)``
/// - ``dropOperations(in:where:)``
/// ### Files
/// - ``deferToUpload(_:removingAdditions:)``
/// - ``filesReleased(by:for:isOver:)``
/// - ``addUnwanted(_:)-(UnwantedFile)``
/// - ``forgetUnwantedFiles()``
/// ### Tokens and settings
/// - ``setSyncToken(_:of:in:)``
/// - ``removeSyncTokens(of:)``
/// - ``setSyncSetting(_:to:)``
package protocol LocalTransaction: LocalReadTransaction {
    // MARK: As the app does

    /// Inserts an object as the app would, and queues its insert. If a deleted object with this ID was not sent yet,
    /// the method restores it by an update.
    ///
    /// - Parameters:
    ///   - values: Values by the properties' names in Swift, with references by local IDs. Missing properties get their
    ///     defaults.
    ///   - localID: The object's key; `nil` to create a new one.
    /// - Throws: `.duplicateID`, `.duplicateValue`; `.invalidValue` if a property without a default is missing.
    func insert(_ values: [String: StorageValue], in table: String, as localID: LocalID?) throws -> LocalID

    /// Writes properties of an object as the app would, by their names in Swift. A deleted object is restored first. If
    /// `values` is `nil`, the method deletes the object, by the delete rules of the references to it.
    ///
    /// Equal values are not written. The operation becomes:
    ///
    /// | operation | change | new operation |
    /// |---|---|---|
    /// | none | update | update, with the previous values as bases |
    /// | none | delete | delete, and the object is hidden; it is removed if the server never had it |
    /// | insert | update | insert |
    /// | insert | delete | none, and the object is removed, if it was never sent; otherwise delete |
    /// | update | update | update: changed properties join, existing bases stay |
    /// | update | delete | delete, which records the update |
    /// | delete | update | the recorded update, if any, joined by this one; all properties if the delete was sent |
    ///
    /// A failed operation becomes pending again; a held one stays held. Changes of local-only properties cause no
    /// operation.
    ///
    /// - Parameter values: `nil` to delete the object. Nothing happens if it does not exist or is deleted.
    /// - Throws: `.notFound`, `.duplicateValue`, `.deleteDenied`.
    func change(_ localID: LocalID, in table: String, to values: [String: StorageValue]?) throws

    // MARK: Sending

    /// Marks an operation as being sent: from now on the server may have it. Changes made before the response stay
    /// pending.
    ///
    /// - Parameters:
    ///   - object: The operation's object, as ``outgoing(_:)`` returned it in this block. It has not changed since.
    ///   - leavingOut: References, by their names in Swift, that an insert omits. They remain to be sent, as an update.
    ///   - rounding: The conversion of a value by the wire. Sent values are recorded in that form, because the server
    ///     may hold it.
    /// - Returns: The operation as it is being sent. Its ``Tandem/PendingOperation/attempts`` is incremented.
    /// - Throws: `.staleOperation` if it is no longer in the queue, or is held, and the errors of `rounding`.
    func beginAttempt(
        _ object: OutgoingObject, leavingOut: Set<String>, rounding: WireRounding
    ) throws -> PendingOperation

    /// Applies the server's state after an attempt. Properties unchanged here meanwhile take the server's values. For
    /// changed properties, the server's values become the new bases.
    ///
    /// If another object here has the server ID, it was pulled after this object's response was lost. The two are
    /// merged into this object, and changes of the other one become changes of this one.
    ///
    /// - Parameters:
    ///   - attempt: The number of the attempt: ``Tandem/PendingOperation/attempts`` when it began.
    ///   - item: The server's item. After a delete, the tombstone or `nil`.
    ///   - keepsTombstones: Whether the server keeps deleted objects under their IDs. An object that was restored
    ///     during its delete must then be undeleted there, and not inserted.
    /// - Throws: `.invalidValue` if the response to an insert or update has no live item; `.duplicateID` if the server
    ///   ID belongs to an object that existed here before.
    func acknowledge(
        _ id: PendingOperation.ID, attempt: Int, with item: ServerItem?, keepsTombstones: Bool
    ) throws -> ResponseOutcome

    /// Records that an attempt failed and certainly changed nothing on the server, as if it had not been made.
    ///
    /// - Parameters:
    ///   - attempt: The number of the attempt: ``Tandem/PendingOperation/attempts`` when it began.
    ///   - retry: Whether the operation is retried automatically. If not, it waits for the user or for a new change,
    ///     also one that was made meanwhile.
    ///   - retryAt: The earliest time of a retry, if the server has sent one.
    /// - Returns: `false`, without a change, if that attempt is no longer the current one.
    func fail(
        _ id: PendingOperation.ID, attempt: Int, with error: OperationError, retry: Bool, retryAt: Date?
    ) throws -> Bool

    /// Records that an operation failed without being sent.
    ///
    /// - Throws: `.staleOperation` if it is no longer in the queue.
    func fail(_ id: PendingOperation.ID, with error: OperationError, retry: Bool) throws

    /// Withdraws an attempt whose request was not sent, as if it had not begun. It is not counted.
    ///
    /// - Parameters:
    ///   - attempt: The number of the attempt: ``Tandem/PendingOperation/attempts`` when it began.
    ///   - error: The operation's error before the attempt, which is restored.
    ///   - retryAt: The operation's time of a retry before the attempt, which is restored.
    /// - Returns: `false`, without a change, if that attempt is no longer the current one.
    func withdraw(
        _ id: PendingOperation.ID, attempt: Int, restoring error: OperationError?, retryAt: Date?
    ) throws -> Bool

    /// Records that the outcome of an attempt is unknown: the server may have executed it.
    ///
    /// - Parameters:
    ///   - attempt: The number of the attempt: ``Tandem/PendingOperation/attempts`` when it began.
    ///   - retryAt: The earliest time of a retry, if the server has sent one.
    /// - Returns: `false`, without a change, if that attempt is no longer the current one.
    func markOutcomeUnknown(
        _ id: PendingOperation.ID, attempt: Int, error: OperationError, retryAt: Date?
    ) throws -> Bool

    // MARK: Conflicts

    /// Compares an operation with the server's item. Writes nothing.
    ///
    /// Some values are not another client's change. They equal the server's last value, the local value, or a value
    /// sent since the server's last response.
    ///
    /// - Parameter rounding: The rounding of a value by the wire, as in ``beginAttempt(_:leavingOut:rounding:)``.
    /// - Throws: `.staleOperation` if it is no longer in the queue.
    func sides(of id: PendingOperation.ID, against item: ServerItem, rounding: WireRounding) throws -> ConflictSides

    /// Rebases an operation onto the server's state, in one step. Properties unchanged here take the server's values.
    /// Changed properties remain to be sent, on the new version, with the server's values as bases.
    ///
    /// An insert of an existing object becomes an update. Over a tombstone all properties are sent, to undelete the
    /// object there. A delete stays a delete of the server's current state. A tombstone completes a delete.
    ///
    /// - Parameters:
    ///   - takingServers: The properties changed here, by their names in Swift, that take the server's values all the
    ///     same.
    ///   - rounding: The rounding of a value by the wire, as in ``beginAttempt(_:leavingOut:rounding:)``.
    /// - Throws: `.duplicateValue` if another object here has a unique value of the server's. The operation is then
    ///   unchanged. `.staleOperation` if it is no longer in the queue.
    func rebase(
        _ id: PendingOperation.ID, onto item: ServerItem, takingServers: Set<String>, rounding: WireRounding
    ) throws -> RebaseOutcome

    /// Turns an operation into an insert, because the server no longer has the object or a tombstone.
    ///
    /// - Throws: `.staleOperation` if the operation is no longer in the queue, or is a delete.
    func makeInsert(_ id: PendingOperation.ID) throws

    /// Holds an operation back until ``release(_:)``, whatever changes meanwhile. A current attempt may still arrive,
    /// and so may its response. The response ends the operation unless changes remain, which are then held.
    ///
    /// - Throws: `.staleOperation` if it is no longer in the queue.
    func hold(_ id: PendingOperation.ID) throws

    /// Makes a failed or held operation pending again. A pending or attempted operation is unchanged.
    ///
    /// - Throws: `.staleOperation` if it is no longer in the queue.
    func release(_ id: PendingOperation.ID) throws

    /// Discards an operation. A new object is removed, by the delete rules of the references to it. An updated object
    /// returns to the values that the server last sent, and a deleted one is restored. If the server's current state is
    /// known, the object takes that state. An insert that the server may have received becomes a delete, to be sent.
    ///
    /// - Parameter item: The server's item, if it is known. A tombstone removes the object.
    /// - Returns: The lost values: those that were not sent, by the properties' names in Swift. All values for an
    ///   insert.
    /// - Throws: `.staleOperation` if it is no longer in the queue; `.duplicateValue` if another object has a unique
    ///   value of the object's new state; `.deleteDenied`. The operation is then unchanged.
    func discard(_ id: PendingOperation.ID, for item: ServerItem?) throws -> [String: StorageValue]

    // MARK: Receiving

    /// Writes a server item into its object, or defers it if the object has an operation. An item that clashes with a
    /// unique value of another object, or that can't be decoded, is deferred too: see ``Tandem/ServerItem/unreadable``.
    ///
    /// - Parameter identity: The rule that matches the item to a local object.
    /// - Throws: `.invalidValue` if the item lacks a required value of a new object.
    func applyServerItem(_ item: ServerItem, in table: String, identity: IdentityRule) throws -> ServerReceipt

    /// Applies the items of a page in their order, as ``applyServerItem(_:in:identity:)`` does one after the other. An
    /// item that lacks a required value of a new object is deferred like an item that can't be decoded. By default, the
    /// method calls it for each item.
    ///
    /// - Parameter items: Items of the same table, each with the rule that matches it to a local object.
    /// - Returns: The result of each item, in order. If an item can't be decoded or lacks a value, it is refused with
    ///   `.invalidValue`.
    /// - Throws: Errors after which the block must not continue.
    func applyServerItems(
        _ items: [(item: ServerItem, identity: IdentityRule)], in table: String
    ) throws -> [ServerReceipt]

    /// Applies items that may block each other because unique values were moved or swapped.
    ///
    /// - Parameter items: Items of the same table, each of a different object.
    /// - Returns: The result of each item, in order.
    func receiveTogether(_ items: [ServerItem], in table: String, identity: IdentityRule) throws -> [ServerReceipt]

    /// Removes those of the given rows that are live, have a server ID, and have no operation: the server no longer has
    /// them, or the app no longer wants them. References to them become unresolved.
    ///
    /// - Returns: The number of removed rows.
    func removeSynced(_ rows: [Int64], in table: String) throws -> Int

    /// Removes rows as ``removeSynced(_:in:)`` does. A pull with a filter requested these rows, but the server did not
    /// list them.
    ///
    /// A deferred live item stays, without an object. It is newer than the row, so it may no longer match the filter.
    /// No pull would then fetch it again. A deferred tombstone is removed.
    ///
    /// - Returns: The number of removed rows.
    func removeUnlisted(_ rows: [Int64], in table: String) throws -> Int

    /// Discards the operations of some tables' objects, and removes these objects, including deleted ones.
    ///
    /// References to an object with a server ID become unresolved. An object without a server ID is removed by the
    /// delete rules of its references. It is removed after those referring objects that are removed as well.
    ///
    /// - Parameter filter: The objects whose operations are discarded, in a single table; `nil` for all objects.
    /// - Returns: The number of dropped operations.
    /// - Throws: `.deleteDenied` if a reference to an object without a server ID, from an object that stays, denies its
    ///   removal.
    func dropOperations(in tables: [String], where filter: LocalFilter?) throws -> Int

    // MARK: Files

    /// Returns whether an update has nothing to send before its files are uploaded.
    ///
    /// If the update replaces files, it stays in the queue. If it only adds files, it is removed: their URLs create
    /// another update.
    ///
    /// - Parameter removingAdditions: Whether an update that only adds files counts.
    func deferToUpload(_ id: PendingOperation.ID, removingAdditions: Bool) throws -> Bool

    /// Returns the files that an object on the server no longer names after an operation, or its sent part.
    ///
    /// - Parameters:
    ///   - item: The server's item, or `nil` if it is unknown.
    ///   - isOver: Whether the operation was executed. If not, only its sent part has arrived and counts.
    func filesReleased(by id: PendingOperation.ID, for item: ServerItem?, isOver: Bool) throws -> [UnwantedFile]

    /// Queues a file for deletion on the server, unless an object has it.
    func addUnwanted(_ file: UnwantedFile) throws

    /// Clears the queue of files to delete.
    func forgetUnwantedFiles() throws

    // MARK: Tokens and settings

    /// Stores the position of a query, in the transaction of the pulled items; `nil` to pull the query from the start.
    func setSyncToken(_ token: SyncToken?, of queryID: String, in table: String) throws

    /// Removes the positions of a table's queries.
    func removeSyncTokens(of table: String) throws

    /// Sets a setting of sync, or removes it with `nil`.
    func setSyncSetting(_ key: SyncSetting, to value: String?) throws
}

extension LocalTransaction {
    package func applyServerItems(
        _ items: [(item: ServerItem, identity: IdentityRule)], in table: String
    ) throws -> [ServerReceipt] {
        try items.map { item, identity in
            do {
                return try applyServerItem(item, in: table, identity: identity)
            } catch let error as TandemError where error.code == .invalidValue {
                var unreadable = item
                unreadable.unreadable = error
                return try applyServerItem(unreadable, in: table, identity: identity)
            }
        }
    }
}

import Foundation
import Tandem

/// The writes of sync, in a block of ``LocalStore/write(_:)``.
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
/// - ``receiveTogether(_:in:identity:)``
/// - ``removeSynced(_:in:)``
/// - ``removeUnlisted(_:in:)``
/// - ``dropOperations(in:where:)``
/// ### Files
/// - ``deferToUpload(_:removingAdditions:)``
/// - ``filesLetGo(by:for:isOver:)``
/// - ``addUnwanted(_:)-(UnwantedFile)``
/// - ``forgetUnwantedFiles()``
/// ### What sync remembers
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

    /// Writes properties of an object as the app would, by their names in Swift: what was deleted comes back first. Or
    /// deletes it: what refers to it goes by the references' delete rules.
    ///
    /// Equal values are not written. The operation becomes:
    ///
    /// | there | change | becomes |
    /// |---|---|---|
    /// | none | update | update, with the values before as bases |
    /// | none | delete | delete, and the object is hidden; gone if the server never had it |
    /// | insert | update | insert |
    /// | insert | delete | nothing, and the object goes, if it was never sent; else delete |
    /// | update | update | update: what changed joins, bases that are there stay |
    /// | update | delete | delete, which remembers the update |
    /// | delete | update | what the delete had replaced, or none, and the update joins; all properties if it was sent |
    ///
    /// A failed operation becomes pending again; a held one stays held. Changes of local-only properties cause no
    /// operation.
    ///
    /// - Parameter values: `nil` to delete it; deleting what is not there, or is deleted, does nothing.
    /// - Throws: `.notFound`, `.duplicateValue`, `.deleteDenied`.
    func change(_ localID: LocalID, in table: String, to values: [String: StorageValue]?) throws

    // MARK: Sending

    /// Marks an operation as being sent: from now on the server may have it. Changes made before the response stay
    /// pending.
    ///
    /// - Parameters:
    ///   - object: The operation's object, as ``outgoing(_:)`` returned it in this block. It has not changed since.
    ///   - leavingOut: References, by their names in Swift, that an insert does not take along. They stay to be sent,
    ///     as an update.
    ///   - rounding: What the wire makes of a value. What is sent is remembered in that form: the server may hold it.
    /// - Returns: The operation as it is being sent, its ``Tandem/PendingOperation/attempts`` one more.
    /// - Throws: `.staleOperation` if it is no longer in the queue, or is held; what `rounding` throws.
    func beginAttempt(
        _ object: OutgoingObject, leavingOut: Set<String>, rounding: WireRounding
    ) throws -> PendingOperation

    /// Folds what the server holds after an attempt in: what was not changed here meanwhile becomes what the server
    /// says, and of what was, that is the new base.
    ///
    /// If another object here has the server ID, it was pulled while this one's answer was lost: the two become this
    /// one, and what was changed of that one is a change of this one.
    ///
    /// - Parameters:
    ///   - attempt: The number of the attempt: ``Tandem/PendingOperation/attempts`` when it began.
    ///   - item: What the server holds; after a delete the tombstone, or `nil`.
    ///   - keepsTombstones: Whether the server keeps what it deletes, under its ID. An object that was brought back
    ///     while its delete was under way is then to be undeleted there, and not to be inserted.
    /// - Throws: `.invalidValue` if an insert or update has no live item for an answer; `.duplicateID` if the server ID
    ///   is that of an object that was here before.
    func acknowledge(
        _ id: PendingOperation.ID, attempt: Int, with item: ServerItem?, keepsTombstones: Bool
    ) throws -> ResponseOutcome

    /// Records that an attempt failed and certainly changed nothing on the server, as if it had not been made.
    ///
    /// - Parameters:
    ///   - attempt: The number of the attempt: ``Tandem/PendingOperation/attempts`` when it began.
    ///   - retry: Whether it waits to be sent again by itself. If not, it waits for the user, or for a new change; one
    ///     that was made meanwhile counts.
    ///   - retryAt: The time from which it may be sent again, if the server gave one.
    /// - Returns: `false`, and nothing is changed, if that attempt is no longer the current one.
    func fail(
        _ id: PendingOperation.ID, attempt: Int, with error: OperationError, retry: Bool, retryAt: Date?
    ) throws -> Bool

    /// Records that an operation failed without being sent.
    ///
    /// - Throws: `.staleOperation` if it is no longer in the queue.
    func fail(_ id: PendingOperation.ID, with error: OperationError, retry: Bool) throws

    /// Records that the outcome of an attempt is unknown: the server may have carried it out.
    ///
    /// - Parameters:
    ///   - attempt: The number of the attempt: ``Tandem/PendingOperation/attempts`` when it began.
    ///   - retryAt: The time from which it may be sent again, if the server gave one.
    /// - Returns: `false`, and nothing is changed, if that attempt is no longer the current one.
    func markOutcomeUnknown(
        _ id: PendingOperation.ID, attempt: Int, error: OperationError, retryAt: Date?
    ) throws -> Bool

    // MARK: Conflicts

    /// Compares an operation with the server's item. Writes nothing.
    ///
    /// A value is not another client's change if it equals the server's last value, the local value, or a value sent
    /// since the server's last response.
    ///
    /// - Parameter rounding: The rounding of a value by the wire, as in ``beginAttempt(_:leavingOut:rounding:)``.
    /// - Throws: `.staleOperation` if it is no longer in the queue.
    func sides(of id: PendingOperation.ID, against item: ServerItem, rounding: WireRounding) throws -> ConflictSides

    /// Makes an operation follow what the server holds, in one step: what was not changed here becomes what the server
    /// says; what was stays to be sent, on the new version, with what the server says as its base.
    ///
    /// An insert of what is there already becomes an update. Over a tombstone all properties are to be sent: the object
    /// is to be undeleted there. A delete stays one, of what the server holds now; a tombstone is what it wanted.
    ///
    /// - Parameters:
    ///   - takingServers: Properties, by their names in Swift, changed here, that become what the server says all the
    ///     same.
    ///   - rounding: The rounding of a value by the wire, as in ``beginAttempt(_:leavingOut:rounding:)``.
    /// - Throws: `.duplicateValue` if another object here has a unique value of the server's: the operation is then as
    ///   it was; `.staleOperation` if it is no longer in the queue.
    func rebase(
        _ id: PendingOperation.ID, onto item: ServerItem, takingServers: Set<String>, rounding: WireRounding
    ) throws -> RebaseOutcome

    /// Turns an operation into an insert, because the server no longer has the object or a tombstone.
    ///
    /// - Throws: `.staleOperation` if the operation is no longer in the queue, or is a delete.
    func makeInsert(_ id: PendingOperation.ID) throws

    /// Leaves an operation unsent until ``release(_:)``, whatever changes meanwhile. An attempt that is under way may
    /// still arrive, and so may its answer: it ends the operation, unless something is left to be sent, which is held.
    ///
    /// - Throws: `.staleOperation` if it is no longer in the queue.
    func hold(_ id: PendingOperation.ID) throws

    /// Makes a failed or held operation pending again. A pending or attempted operation is unchanged.
    ///
    /// - Throws: `.staleOperation` if it is no longer in the queue.
    func release(_ id: PendingOperation.ID) throws

    /// Gives an operation up. An insert's object goes, by the delete rules of those that refer to it; an update's
    /// returns to what the server last sent, and a delete's comes back. Where the server holds something else by now,
    /// it becomes that. An insert that the server may have got becomes a delete, to be sent.
    ///
    /// - Parameter item: What the server holds, if that is known: a live item, or the tombstone with which the object
    ///   goes.
    /// - Returns: What is lost: the values that were not sent, by the properties' names in Swift; all of an insert's.
    /// - Throws: `.staleOperation` if it is no longer in the queue; `.duplicateValue` if another object has a unique
    ///   value of what the object would become; `.deleteDenied`. The operation is then as it was.
    func discard(_ id: PendingOperation.ID, for item: ServerItem?) throws -> [String: StorageValue]

    // MARK: Receiving

    /// Takes what a server has sent into the store: writes it where no operation is pending, and keeps it beside the
    /// operation where one is. What clashes with a unique value of another object here is kept too, and so is what
    /// can't be read: see ``Tandem/ServerItem/unreadable``.
    ///
    /// - Parameter identity: The rule that matches the item to a local object.
    /// - Throws: `.invalidValue` if the item lacks a required value of a new object.
    func applyServerItem(_ item: ServerItem, in table: String, identity: IdentityRule) throws -> ServerReceipt

    /// Stores items that may block each other because unique values were moved or swapped.
    ///
    /// - Parameter items: Items of the same table, each of a different object.
    /// - Returns: The result of each item, in order.
    func receiveTogether(_ items: [ServerItem], in table: String, identity: IdentityRule) throws -> [ServerReceipt]

    /// Takes away those of some rows that are live, known to the server, and without an operation: the server has them
    /// no more, or the app wants them no more. What refers to them waits for them.
    ///
    /// - Returns: The number of removed rows.
    func removeSynced(_ rows: [Int64], in table: String) throws -> Int

    /// Takes rows away as ``removeSynced(_:in:)`` does, for which a query with a filter asked and which it did not
    /// bring.
    ///
    /// What the server is known to hold of such an object, and could not be written, stays, as what is kept without an
    /// object: it is newer than the row, so that it may be the filter that it has left, and no pull would bring it
    /// again. A deferred tombstone goes.
    ///
    /// - Returns: The number of removed rows.
    func removeUnlisted(_ rows: [Int64], in table: String) throws -> Int

    /// Gives up the operations of some tables' objects, and takes these objects away, deleted ones too. What refers to
    /// one that the server knows waits for it; one that it never knew goes by the delete rules of those that refer to
    /// it, after those of them that go as well.
    ///
    /// - Parameter filter: The operations of the objects for which it holds alone, those of one table then; `nil` for
    ///   all.
    /// - Returns: The number of dropped operations.
    /// - Throws: `.deleteDenied` if what refers to an object that the server never knew, and does not go itself, denies
    ///   it.
    func dropOperations(in tables: [String], where filter: LocalFilter?) throws -> Int

    // MARK: Files

    /// Returns whether an update has nothing to send before its files are uploaded.
    ///
    /// If the update replaces files, it stays in the queue. If it only adds files, it is removed: their URLs create
    /// another update.
    ///
    /// - Parameter removingAdditions: Whether an update that adds files only counts.
    func deferToUpload(_ id: PendingOperation.ID, removingAdditions: Bool) throws -> Bool

    /// Returns the files that an object on the server no longer names after an operation, or its sent part.
    ///
    /// - Parameters:
    ///   - item: The server's item, or `nil` if it is unknown.
    ///   - isOver: Whether the operation was executed. If not, only its sent part counts, and has arrived.
    func filesLetGo(by id: PendingOperation.ID, for item: ServerItem?, isOver: Bool) throws -> [UnwantedFile]

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

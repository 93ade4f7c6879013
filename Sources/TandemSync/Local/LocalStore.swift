import Foundation
import Tandem

/// The store on this side: objects, their operations, and what is remembered of the server.
///
/// `Store` is one. Whoever brings another one keeps these laws:
///
/// 1. A ``write(_:)`` is one transaction: all of it is kept, or, if its block throws, nothing.
/// 2. Writes follow each other. A read sees all that was written before it.
/// 3. An object has at most one operation.
/// 4. The calls do what the types they return say; `LocalStoreConformance` in `TandemTesting` holds each to it.
package protocol LocalStore: Sendable {
    /// The models that it keeps.
    var models: [ModelDefinition] { get }

    /// Reads one state of the store.
    func read<T: Sendable>(_ body: @escaping @Sendable (any LocalReading) throws -> T) async throws -> T

    /// Writes: all that the block does is kept, or nothing of it.
    func write<T: Sendable>(_ body: @escaping @Sendable (any LocalWriting) throws -> T) async throws -> T

    /// The tables whose operations have changed, after each commit that changed some.
    var operationChanges: AsyncStream<Set<String>> { get }

    /// By what two stores of this process are known to be one.
    var lockName: String { get }

    /// A file beside the store by which processes can tell each other that one of them syncs; `nil` if no other process
    /// can open the store.
    var lockPath: String? { get }
}

/// What sync reads of a local store.
package protocol LocalReading {
    /// The operations in the order of the queue, those of no model here left out.
    ///
    /// - Parameters:
    ///   - id: Those after this one; `nil` for the first ones.
    ///   - limit: How many at most.
    func operations(after id: Operation.ID?, limit: Int) throws -> [Operation]
    func operation(withID id: Operation.ID) throws -> Operation?
    func operation(on localID: LocalID, in table: String) throws -> Operation?
    /// The number of operations on a table's objects.
    func countOfOperations(in table: String) throws -> Int
    /// The number of all operations.
    func countOfOperations() throws -> Int
    /// The number of operations in a state.
    func countOfOperations(in state: Operation.State) throws -> Int
    /// The server ID of a live or deleted object; `nil` if it has none, or there is no such object.
    func serverID(of localID: LocalID, in table: String) throws -> ServerID?

    /// Whether there is an object with a local ID, deleted ones that the server has not heard of included.
    func hasObject(_ localID: LocalID, in table: String) throws -> Bool
    /// An object whose insert failed or is held, and that has to be on the server before another one.
    func blocker(of localID: LocalID, in table: String) throws -> (localID: LocalID, model: String)?

    /// Whether a delete of the operation's object was sent, by this operation or before the object was brought back, and
    /// may have been carried out.
    func mayHaveDeleted(_ id: Operation.ID) throws -> Bool

    /// What a server has said of the object of an operation, and could not be written.
    func keptItem(of operation: Operation.ID) throws -> KeptItem?
    func keptItemsWithoutOperation(in table: String, after serverID: ServerID?, limit: Int) throws -> [KeptItem]

    /// The number of a row, by which ``LocalWriting/removeSynced(_:in:)`` takes it away; `nil` if no object has the ID.
    func row(of serverID: ServerID, in table: String) throws -> Int64?
    /// The live objects that the server knows and that have no operation.
    ///
    /// - Parameter filter: Of those, the ones for which it holds.
    func syncedRows(in table: String, where filter: LocalFilter?) throws -> RowSet

    func syncToken(of queryID: String, in table: String) throws -> SyncToken?
    /// When each table was last fetched to its end by one of its tokens, by the local clock.
    func lastSuccesses() throws -> [String: Date]
    func syncSetting(_ key: SyncSetting) throws -> String?

    /// The tables of models that the store was not opened with, and that hold what is exchanged with a server: objects
    /// that it knows, operations, items kept, or how far a query was pulled. In the order of their names.
    ///
    /// A store that holds nothing but the models that it was opened with has none.
    func exchangedTablesWithoutModel() throws -> [String]
}

/// What sync writes to a local store.
package protocol LocalWriting: LocalReading {
    /// The object of an operation as it would be sent now; `nil` if the operation is no longer in the queue.
    func outgoing(_ id: Operation.ID) throws -> OutgoingObject?
    /// Marks an operation as being sent: from now on the server may have it.
    func beginAttempt(_ id: Operation.ID, leavingOut: Set<String>, rounding: WireRounding) throws -> Operation
    /// Folds what the server holds after an attempt in.
    func acknowledge(
        _ id: Operation.ID, attempt: Int, with item: ServerItem?, keepsTombstones: Bool
    ) throws -> AnswerOutcome
    /// Notes that an attempt failed, and surely changed nothing on the server.
    func fail(_ id: Operation.ID, attempt: Int, _ error: OperationError, retry: Bool, retryAt: Date?) throws -> Bool
    /// Notes that an operation failed without being sent.
    func fail(_ id: Operation.ID, _ error: OperationError, retry: Bool) throws
    /// Notes that nobody knows what became of an attempt.
    func leaveUncertain(_ id: Operation.ID, attempt: Int, _ error: OperationError, retryAt: Date?) throws -> Bool

    /// Compares an operation with what the server holds.
    func sides(of id: Operation.ID, against item: ServerItem, rounding: WireRounding) throws -> ConflictSides
    /// Makes an operation follow what the server holds.
    func rebase(
        _ id: Operation.ID, onto item: ServerItem, takingServers: Set<String>, rounding: WireRounding
    ) throws -> RebaseOutcome
    /// Has an object inserted anew: the server has it no more, and keeps nothing of it.
    func makeInsert(_ id: Operation.ID) throws
    /// Writes properties of an object as the app would, by their names in Swift: what was deleted comes back first. Or
    /// deletes it.
    ///
    /// - Parameter values: `nil` to delete it.
    func change(_ localID: LocalID, in table: String, to values: [String: StorageValue]?) throws
    func hold(_ id: Operation.ID) throws
    func release(_ id: Operation.ID) throws
    /// Gives an operation up. Returns what is lost.
    func discard(_ id: Operation.ID, for item: ServerItem?) throws -> [String: StorageValue]

    /// Takes what a server has sent into the store.
    func receive(_ item: ServerItem, in table: String, identity: ServerIdentity) throws -> ServerReceipt
    /// Takes items into the store that may stand in each other's way: unique values that were passed on, or swapped.
    ///
    /// - Parameter items: Of one table, no two of one object.
    /// - Returns: What became of each, in their order.
    func receiveTogether(_ items: [ServerItem], in table: String, identity: ServerIdentity) throws -> [ServerReceipt]
    /// Takes away those of some rows that are live, known to the server, and without an operation: the server has them
    /// no more, or the app wants them no more. What refers to them waits for them.
    ///
    /// - Returns: How many they were.
    func removeSynced(_ rows: [Int64], in table: String) throws -> Int
    /// Takes rows away as ``removeSynced(_:in:)`` does, for which a query with a filter asked and which it did not bring.
    ///
    /// What the server is known to hold of such an object, and could not be written, stays, as what is kept without an
    /// object: it is newer than the row, so that it may be the filter that it has left, and no pull would bring it
    /// again. A kept tombstone goes.
    ///
    /// - Returns: How many they were.
    func removeUnlisted(_ rows: [Int64], in table: String) throws -> Int
    /// Gives up the operations of a table's objects, and takes these objects away, deleted ones too. What refers to one
    /// that the server knows waits for it; one that it never knew goes by the delete rules of those that refer to it.
    ///
    /// - Parameter filter: The operations of the objects for which it holds alone; `nil` for all.
    /// - Returns: How many operations are lost.
    func dropOperations(in table: String, where filter: LocalFilter?) throws -> Int

    func setSyncToken(_ token: SyncToken?, of queryID: String, in table: String) throws
    func removeSyncTokens(of table: String) throws
    func setSyncSetting(_ key: SyncSetting, _ value: String?) throws
}

/// Which objects a query asks for: as the store asks it, and as the server is asked.
package struct LocalFilter: Sendable {
    /// As a store with tables asks it.
    package let node: PredicateNode
    /// As the server is asked it, and as anyone else can ask it.
    package let remote: RemoteFilter

    package init(node: PredicateNode, remote: RemoteFilter) {
        self.node = node
        self.remote = remote
    }
}

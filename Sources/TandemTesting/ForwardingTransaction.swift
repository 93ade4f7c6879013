import Foundation
import Tandem
import TandemSync

/// A transaction that forwards all calls to another one. Subclasses override calls with planned faults, which tests
/// must detect.
open class ForwardingTransaction: LocalWriting {
    /// The transaction that receives the calls.
    public let base: any LocalWriting

    /// Creates a transaction that forwards to another one.
    public required init(_ base: any LocalWriting) { self.base = base }

    /// Forwards to ``base``.
    open func operations(after id: Tandem.Operation.ID?, limit: Int) throws -> [Tandem.Operation] {
        try base.operations(after: id, limit: limit)
    }

    /// Forwards to ``base``.
    open func operation(withID id: Tandem.Operation.ID) throws -> Tandem.Operation? {
        try base.operation(withID: id)
    }

    /// Forwards to ``base``.
    open func operation(on localID: LocalID, in table: String) throws -> Tandem.Operation? {
        try base.operation(on: localID, in: table)
    }

    /// Forwards to ``base``.
    open func countOfOperations(in table: String) throws -> Int {
        try base.countOfOperations(in: table)
    }

    /// Forwards to ``base``.
    open func countOfOperations() throws -> Int {
        try base.countOfOperations()
    }

    /// Forwards to ``base``.
    open func countOfOperations(in state: Tandem.Operation.State) throws -> Int {
        try base.countOfOperations(in: state)
    }

    /// Forwards to ``base``.
    open func countOfOperationsToRetry() throws -> Int {
        try base.countOfOperationsToRetry()
    }

    /// Forwards to ``base``.
    open func object(_ localID: LocalID, in table: String) throws -> LocalObject? {
        try base.object(localID, in: table)
    }

    /// Forwards to ``base``.
    open func localIDs(in table: String) throws -> [LocalID] {
        try base.localIDs(in: table)
    }

    /// Forwards to ``base``.
    open func serverID(of localID: LocalID, in table: String) throws -> ServerID? {
        try base.serverID(of: localID, in: table)
    }

    /// Forwards to ``base``.
    open func hasObject(_ localID: LocalID, in table: String) throws -> Bool {
        try base.hasObject(localID, in: table)
    }

    /// Forwards to ``base``.
    open func blocker(of localID: LocalID, in table: String) throws -> (localID: LocalID, model: String)? {
        try base.blocker(of: localID, in: table)
    }

    /// Forwards to ``base``.
    open func mayHaveDeleted(_ id: Tandem.Operation.ID) throws -> Bool {
        try base.mayHaveDeleted(id)
    }

    /// Forwards to ``base``.
    open func keptItem(of operation: Tandem.Operation.ID) throws -> KeptItem? {
        try base.keptItem(of: operation)
    }

    /// Forwards to ``base``.
    open func keptItemsWithoutOperation(in table: String, after serverID: ServerID?, limit: Int) throws -> [KeptItem] {
        try base.keptItemsWithoutOperation(in: table, after: serverID, limit: limit)
    }

    /// Forwards to ``base``.
    open func row(of serverID: ServerID, in table: String) throws -> Int64? {
        try base.row(of: serverID, in: table)
    }

    /// Forwards to ``base``.
    open func forEachSyncedRow(
        in table: String, where filter: LocalFilter?, _ body: (Int64, ServerID) throws -> Void
    ) throws {
        try base.forEachSyncedRow(in: table, where: filter, body)
    }

    /// Forwards to ``base``.
    open func syncToken(of queryID: String, in table: String) throws -> SyncToken? {
        try base.syncToken(of: queryID, in: table)
    }

    /// Forwards to ``base``.
    open func lastSuccesses() throws -> [String: Date] {
        try base.lastSuccesses()
    }

    /// Forwards to ``base``.
    open func syncSetting(_ key: SyncSetting) throws -> String? {
        try base.syncSetting(key)
    }

    /// Forwards to ``base``.
    open func exchangedTablesWithoutModel() throws -> [String] {
        try base.exchangedTablesWithoutModel()
    }

    /// Forwards to ``base``.
    open func insert(_ values: [String: StorageValue], in table: String, as localID: LocalID?) throws -> LocalID {
        try base.insert(values, in: table, as: localID)
    }

    /// Forwards to ``base``.
    open func change(_ localID: LocalID, in table: String, to values: [String: StorageValue]?) throws {
        try base.change(localID, in: table, to: values)
    }

    /// Forwards to ``base``.
    open func outgoing(_ id: Tandem.Operation.ID) throws -> OutgoingObject? {
        try base.outgoing(id)
    }

    /// Forwards to ``base``.
    open func beginAttempt(
        _ id: Tandem.Operation.ID, leavingOut: Set<String>, rounding: WireRounding
    ) throws -> Tandem.Operation {
        try base.beginAttempt(id, leavingOut: leavingOut, rounding: rounding)
    }

    /// Forwards to ``base``.
    open func acknowledge(
        _ id: Tandem.Operation.ID, attempt: Int, with item: ServerItem?, keepsTombstones: Bool
    ) throws -> AnswerOutcome {
        try base.acknowledge(id, attempt: attempt, with: item, keepsTombstones: keepsTombstones)
    }

    /// Forwards to ``base``.
    open func fail(
        _ id: Tandem.Operation.ID, attempt: Int, _ error: OperationError, retry: Bool, retryAt: Date?
    ) throws -> Bool {
        try base.fail(id, attempt: attempt, error, retry: retry, retryAt: retryAt)
    }

    /// Forwards to ``base``.
    open func fail(_ id: Tandem.Operation.ID, _ error: OperationError, retry: Bool) throws {
        try base.fail(id, error, retry: retry)
    }

    /// Forwards to ``base``.
    open func leaveUncertain(
        _ id: Tandem.Operation.ID, attempt: Int, _ error: OperationError, retryAt: Date?
    ) throws -> Bool {
        try base.leaveUncertain(id, attempt: attempt, error, retryAt: retryAt)
    }

    /// Forwards to ``base``.
    open func sides(
        of id: Tandem.Operation.ID, against item: ServerItem, rounding: WireRounding
    ) throws -> ConflictSides {
        try base.sides(of: id, against: item, rounding: rounding)
    }

    /// Forwards to ``base``.
    open func rebase(
        _ id: Tandem.Operation.ID, onto item: ServerItem, takingServers: Set<String>, rounding: WireRounding
    ) throws -> RebaseOutcome {
        try base.rebase(id, onto: item, takingServers: takingServers, rounding: rounding)
    }

    /// Forwards to ``base``.
    open func makeInsert(_ id: Tandem.Operation.ID) throws {
        try base.makeInsert(id)
    }

    /// Forwards to ``base``.
    open func hold(_ id: Tandem.Operation.ID) throws {
        try base.hold(id)
    }

    /// Forwards to ``base``.
    open func release(_ id: Tandem.Operation.ID) throws {
        try base.release(id)
    }

    /// Forwards to ``base``.
    open func discard(_ id: Tandem.Operation.ID, for item: ServerItem?) throws -> [String: StorageValue] {
        try base.discard(id, for: item)
    }

    /// Forwards to ``base``.
    open func receive(_ item: ServerItem, in table: String, identity: ServerIdentity) throws -> ServerReceipt {
        try base.receive(item, in: table, identity: identity)
    }

    /// Forwards to ``base``.
    open func receiveTogether(
        _ items: [ServerItem], in table: String, identity: ServerIdentity
    ) throws -> [ServerReceipt] {
        try base.receiveTogether(items, in: table, identity: identity)
    }

    /// Forwards to ``base``.
    open func removeSynced(_ rows: [Int64], in table: String) throws -> Int {
        try base.removeSynced(rows, in: table)
    }

    /// Forwards to ``base``.
    open func removeUnlisted(_ rows: [Int64], in table: String) throws -> Int {
        try base.removeUnlisted(rows, in: table)
    }

    /// Forwards to ``base``.
    open func dropOperations(in tables: [String], where filter: LocalFilter?) throws -> Int {
        try base.dropOperations(in: tables, where: filter)
    }

    /// Forwards to ``base``.
    open func setSyncToken(_ token: SyncToken?, of queryID: String, in table: String) throws {
        try base.setSyncToken(token, of: queryID, in: table)
    }

    /// Forwards to ``base``.
    open func removeSyncTokens(of table: String) throws {
        try base.removeSyncTokens(of: table)
    }

    /// Forwards to ``base``.
    open func setSyncSetting(_ key: SyncSetting, _ value: String?) throws {
        try base.setSyncSetting(key, value)
    }
}

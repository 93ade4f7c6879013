import Foundation
import Tandem
import TandemSync

/// A transaction that does what another one does. What a subclass does otherwise is a slip, which tests have to find.
open class ForwardingTransaction: LocalWriting {
    public let base: any LocalWriting

    public required init(_ base: any LocalWriting) { self.base = base }

    open func operations(after id: Tandem.Operation.ID?, limit: Int) throws -> [Tandem.Operation] {
        try base.operations(after: id, limit: limit)
    }

    open func operation(withID id: Tandem.Operation.ID) throws -> Tandem.Operation? {
        try base.operation(withID: id)
    }

    open func operation(on localID: LocalID, in table: String) throws -> Tandem.Operation? {
        try base.operation(on: localID, in: table)
    }

    open func countOfOperations(in table: String) throws -> Int {
        try base.countOfOperations(in: table)
    }

    open func countOfOperations() throws -> Int {
        try base.countOfOperations()
    }

    open func countOfOperations(in state: Tandem.Operation.State) throws -> Int {
        try base.countOfOperations(in: state)
    }

    open func countOfOperationsToRetry() throws -> Int {
        try base.countOfOperationsToRetry()
    }

    open func object(_ localID: LocalID, in table: String) throws -> LocalObject? {
        try base.object(localID, in: table)
    }

    open func localIDs(in table: String) throws -> [LocalID] {
        try base.localIDs(in: table)
    }

    open func serverID(of localID: LocalID, in table: String) throws -> ServerID? {
        try base.serverID(of: localID, in: table)
    }

    open func hasObject(_ localID: LocalID, in table: String) throws -> Bool {
        try base.hasObject(localID, in: table)
    }

    open func blocker(of localID: LocalID, in table: String) throws -> (localID: LocalID, model: String)? {
        try base.blocker(of: localID, in: table)
    }

    open func mayHaveDeleted(_ id: Tandem.Operation.ID) throws -> Bool {
        try base.mayHaveDeleted(id)
    }

    open func keptItem(of operation: Tandem.Operation.ID) throws -> KeptItem? {
        try base.keptItem(of: operation)
    }

    open func keptItemsWithoutOperation(in table: String, after serverID: ServerID?, limit: Int) throws -> [KeptItem] {
        try base.keptItemsWithoutOperation(in: table, after: serverID, limit: limit)
    }

    open func row(of serverID: ServerID, in table: String) throws -> Int64? {
        try base.row(of: serverID, in: table)
    }

    open func forEachSyncedRow(
        in table: String, where filter: LocalFilter?, _ body: (Int64, ServerID) throws -> Void
    ) throws {
        try base.forEachSyncedRow(in: table, where: filter, body)
    }

    open func syncToken(of queryID: String, in table: String) throws -> SyncToken? {
        try base.syncToken(of: queryID, in: table)
    }

    open func lastSuccesses() throws -> [String: Date] {
        try base.lastSuccesses()
    }

    open func syncSetting(_ key: SyncSetting) throws -> String? {
        try base.syncSetting(key)
    }

    open func exchangedTablesWithoutModel() throws -> [String] {
        try base.exchangedTablesWithoutModel()
    }

    open func insert(_ values: [String: StorageValue], in table: String, as localID: LocalID?) throws -> LocalID {
        try base.insert(values, in: table, as: localID)
    }

    open func change(_ localID: LocalID, in table: String, to values: [String: StorageValue]?) throws {
        try base.change(localID, in: table, to: values)
    }

    open func outgoing(_ id: Tandem.Operation.ID) throws -> OutgoingObject? {
        try base.outgoing(id)
    }

    open func beginAttempt(
        _ id: Tandem.Operation.ID, leavingOut: Set<String>, rounding: WireRounding
    ) throws -> Tandem.Operation {
        try base.beginAttempt(id, leavingOut: leavingOut, rounding: rounding)
    }

    open func acknowledge(
        _ id: Tandem.Operation.ID, attempt: Int, with item: ServerItem?, keepsTombstones: Bool
    ) throws -> AnswerOutcome {
        try base.acknowledge(id, attempt: attempt, with: item, keepsTombstones: keepsTombstones)
    }

    open func fail(
        _ id: Tandem.Operation.ID, attempt: Int, _ error: OperationError, retry: Bool, retryAt: Date?
    ) throws -> Bool {
        try base.fail(id, attempt: attempt, error, retry: retry, retryAt: retryAt)
    }

    open func fail(_ id: Tandem.Operation.ID, _ error: OperationError, retry: Bool) throws {
        try base.fail(id, error, retry: retry)
    }

    open func leaveUncertain(
        _ id: Tandem.Operation.ID, attempt: Int, _ error: OperationError, retryAt: Date?
    ) throws -> Bool {
        try base.leaveUncertain(id, attempt: attempt, error, retryAt: retryAt)
    }

    open func sides(
        of id: Tandem.Operation.ID, against item: ServerItem, rounding: WireRounding
    ) throws -> ConflictSides {
        try base.sides(of: id, against: item, rounding: rounding)
    }

    open func rebase(
        _ id: Tandem.Operation.ID, onto item: ServerItem, takingServers: Set<String>, rounding: WireRounding
    ) throws -> RebaseOutcome {
        try base.rebase(id, onto: item, takingServers: takingServers, rounding: rounding)
    }

    open func makeInsert(_ id: Tandem.Operation.ID) throws {
        try base.makeInsert(id)
    }

    open func hold(_ id: Tandem.Operation.ID) throws {
        try base.hold(id)
    }

    open func release(_ id: Tandem.Operation.ID) throws {
        try base.release(id)
    }

    open func discard(_ id: Tandem.Operation.ID, for item: ServerItem?) throws -> [String: StorageValue] {
        try base.discard(id, for: item)
    }

    open func receive(_ item: ServerItem, in table: String, identity: ServerIdentity) throws -> ServerReceipt {
        try base.receive(item, in: table, identity: identity)
    }

    open func receiveTogether(
        _ items: [ServerItem], in table: String, identity: ServerIdentity
    ) throws -> [ServerReceipt] {
        try base.receiveTogether(items, in: table, identity: identity)
    }

    open func removeSynced(_ rows: [Int64], in table: String) throws -> Int {
        try base.removeSynced(rows, in: table)
    }

    open func removeUnlisted(_ rows: [Int64], in table: String) throws -> Int {
        try base.removeUnlisted(rows, in: table)
    }

    open func dropOperations(in tables: [String], where filter: LocalFilter?) throws -> Int {
        try base.dropOperations(in: tables, where: filter)
    }

    open func setSyncToken(_ token: SyncToken?, of queryID: String, in table: String) throws {
        try base.setSyncToken(token, of: queryID, in: table)
    }

    open func removeSyncTokens(of table: String) throws {
        try base.removeSyncTokens(of: table)
    }

    open func setSyncSetting(_ key: SyncSetting, _ value: String?) throws {
        try base.setSyncSetting(key, value)
    }
}

import Foundation
import Tandem
import TandemSync

/// A transaction that forwards every call to another one. A conforming type replaces single methods, to plant a fault.
package protocol ForwardingTransaction: LocalTransaction {
    /// The transaction that does the work.
    var base: any LocalTransaction { get }
}

extension ForwardingTransaction {
    package func operations(after id: PendingOperation.ID?, limit: Int) throws -> [PendingOperation] {
        try base.operations(after: id, limit: limit)
    }

    package func operation(withID id: PendingOperation.ID) throws -> PendingOperation? {
        try base.operation(withID: id)
    }

    package func operation(on localID: LocalID, in table: String) throws -> PendingOperation? {
        try base.operation(on: localID, in: table)
    }

    package func countOfOperations(in table: String) throws -> Int {
        try base.countOfOperations(in: table)
    }

    package func countOfOperations() throws -> Int {
        try base.countOfOperations()
    }

    package func countOfOperations(in state: PendingOperation.State) throws -> Int {
        try base.countOfOperations(in: state)
    }

    package func countOfOperationsToRetry() throws -> Int {
        try base.countOfOperationsToRetry()
    }

    package func operationMarks() throws -> OperationMarks {
        try base.operationMarks()
    }

    package func pendingFiles(of localID: LocalID, in table: String) throws -> (count: Int, reason: String?) {
        try base.pendingFiles(of: localID, in: table)
    }

    package func countOfPendingFiles(in table: String?) throws -> Int {
        try base.countOfPendingFiles(in: table)
    }

    package func waitsForReplacements(_ id: PendingOperation.ID) throws -> Bool {
        try base.waitsForReplacements(id)
    }

    package func object(_ localID: LocalID, in table: String) throws -> LocalObject? {
        try base.object(localID, in: table)
    }

    package func localIDs(in table: String) throws -> [LocalID] {
        try base.localIDs(in: table)
    }

    package func serverID(of localID: LocalID, in table: String) throws -> ServerID? {
        try base.serverID(of: localID, in: table)
    }

    package func hasObject(_ localID: LocalID, in table: String) throws -> Bool {
        try base.hasObject(localID, in: table)
    }

    package func blocker(of localID: LocalID, in table: String) throws -> (localID: LocalID, model: String)? {
        try base.blocker(of: localID, in: table)
    }

    package func mayHaveDeleted(_ id: PendingOperation.ID) throws -> Bool {
        try base.mayHaveDeleted(id)
    }

    package func deferredItem(of operation: PendingOperation.ID) throws -> DeferredItem? {
        try base.deferredItem(of: operation)
    }

    package func deferredItemsWithoutOperation(
        in table: String, after serverID: ServerID?, limit: Int
    ) throws -> [DeferredItem] {
        try base.deferredItemsWithoutOperation(in: table, after: serverID, limit: limit)
    }

    package func row(of serverID: ServerID, in table: String) throws -> Int64? {
        try base.row(of: serverID, in: table)
    }

    package func forEachSyncedRow(
        in table: String, where filter: LocalFilter?, body: (Int64, ServerID) throws -> Void
    ) throws {
        try base.forEachSyncedRow(in: table, where: filter, body: body)
    }

    package func countOfServerItems(in table: String) throws -> Int {
        try base.countOfServerItems(in: table)
    }

    package func syncToken(of queryID: String, in table: String) throws -> SyncToken? {
        try base.syncToken(of: queryID, in: table)
    }

    package func lastSuccesses() throws -> [String: Date] {
        try base.lastSuccesses()
    }

    package func syncSetting(_ key: SyncSetting) throws -> String? {
        try base.syncSetting(key)
    }

    package func exchangedTablesWithoutModel() throws -> [String] {
        try base.exchangedTablesWithoutModel()
    }

    package func insert(_ values: [String: StorageValue], in table: String, as localID: LocalID?) throws -> LocalID {
        try base.insert(values, in: table, as: localID)
    }

    package func change(_ localID: LocalID, in table: String, to values: [String: StorageValue]?) throws {
        try base.change(localID, in: table, to: values)
    }

    package func outgoing(_ id: PendingOperation.ID) throws -> OutgoingObject? {
        try base.outgoing(id)
    }

    package func beginAttempt(
        _ object: OutgoingObject, leavingOut: Set<String>, rounding: WireRounding
    ) throws -> PendingOperation {
        try base.beginAttempt(object, leavingOut: leavingOut, rounding: rounding)
    }

    package func acknowledge(
        _ id: PendingOperation.ID, attempt: Int, with item: ServerItem?, keepsTombstones: Bool
    ) throws -> ResponseOutcome {
        try base.acknowledge(id, attempt: attempt, with: item, keepsTombstones: keepsTombstones)
    }

    package func fail(
        _ id: PendingOperation.ID, attempt: Int, with error: OperationError, retry: Bool, retryAt: Date?
    ) throws -> Bool {
        try base.fail(id, attempt: attempt, with: error, retry: retry, retryAt: retryAt)
    }

    package func fail(_ id: PendingOperation.ID, with error: OperationError, retry: Bool) throws {
        try base.fail(id, with: error, retry: retry)
    }

    package func withdraw(
        _ id: PendingOperation.ID, attempt: Int, restoring error: OperationError?, retryAt: Date?
    ) throws -> Bool {
        try base.withdraw(id, attempt: attempt, restoring: error, retryAt: retryAt)
    }

    package func markOutcomeUnknown(
        _ id: PendingOperation.ID, attempt: Int, error: OperationError, retryAt: Date?
    ) throws -> Bool {
        try base.markOutcomeUnknown(id, attempt: attempt, error: error, retryAt: retryAt)
    }

    package func sides(
        of id: PendingOperation.ID, against item: ServerItem, rounding: WireRounding
    ) throws -> ConflictSides {
        try base.sides(of: id, against: item, rounding: rounding)
    }

    package func rebase(
        _ id: PendingOperation.ID, onto item: ServerItem, takingServers: Set<String>, rounding: WireRounding
    ) throws -> RebaseOutcome {
        try base.rebase(id, onto: item, takingServers: takingServers, rounding: rounding)
    }

    package func makeInsert(_ id: PendingOperation.ID) throws {
        try base.makeInsert(id)
    }

    package func hold(_ id: PendingOperation.ID) throws {
        try base.hold(id)
    }

    package func release(_ id: PendingOperation.ID) throws {
        try base.release(id)
    }

    package func discard(_ id: PendingOperation.ID, for item: ServerItem?) throws -> [String: StorageValue] {
        try base.discard(id, for: item)
    }

    package func applyServerItem(_ item: ServerItem, in table: String, identity: IdentityRule) throws -> ServerReceipt {
        try base.applyServerItem(item, in: table, identity: identity)
    }

    package func receiveTogether(
        _ items: [ServerItem], in table: String, identity: IdentityRule
    ) throws -> [ServerReceipt] {
        try base.receiveTogether(items, in: table, identity: identity)
    }

    package func removeSynced(_ rows: [Int64], in table: String) throws -> Int {
        try base.removeSynced(rows, in: table)
    }

    package func removeUnlisted(_ rows: [Int64], in table: String) throws -> Int {
        try base.removeUnlisted(rows, in: table)
    }

    package func dropOperations(in tables: [String], where filter: LocalFilter?) throws -> Int {
        try base.dropOperations(in: tables, where: filter)
    }

    package func deferToUpload(_ id: PendingOperation.ID, removingAdditions: Bool) throws -> Bool {
        try base.deferToUpload(id, removingAdditions: removingAdditions)
    }

    package func filesReleased(
        by id: PendingOperation.ID, for item: ServerItem?, isOver: Bool
    ) throws -> [UnwantedFile] {
        try base.filesReleased(by: id, for: item, isOver: isOver)
    }

    package func addUnwanted(_ file: UnwantedFile) throws {
        try base.addUnwanted(file)
    }

    package func forgetUnwantedFiles() throws {
        try base.forgetUnwantedFiles()
    }

    package func setSyncToken(_ token: SyncToken?, of queryID: String, in table: String) throws {
        try base.setSyncToken(token, of: queryID, in: table)
    }

    package func removeSyncTokens(of table: String) throws {
        try base.removeSyncTokens(of: table)
    }

    package func setSyncSetting(_ key: SyncSetting, to value: String?) throws {
        try base.setSyncSetting(key, to: value)
    }
}

import Foundation
import Tandem

/// A transaction of Tandem's store as sync writes it.
package final class StoreWriting: StoreReading, LocalWriting, FileForgetting, FileWaiting {
    private let transaction: WriteTransaction

    package init(_ transaction: WriteTransaction) {
        self.transaction = transaction
        super.init(transaction)
    }

    package func insert(_ values: [String: StorageValue], in table: String, as localID: LocalID?) throws -> LocalID {
        try transaction.insert(values, in: table, as: localID)
    }

    package func change(_ localID: LocalID, in table: String, to values: [String: StorageValue]?) throws {
        try transaction.change(localID, in: table, to: values)
    }

    package func outgoing(_ id: Operation.ID) throws -> OutgoingObject? {
        try transaction.outgoing(id)
    }

    package func beginAttempt(_ id: Operation.ID, leavingOut: Set<String>, rounding: WireRounding) throws -> Operation {
        try transaction.beginAttempt(id, leavingOut: leavingOut, rounding: rounding)
    }

    package func acknowledge(
        _ id: Operation.ID, attempt: Int, with item: ServerItem?, keepsTombstones: Bool
    ) throws -> AnswerOutcome {
        try transaction.acknowledge(id, attempt: attempt, with: item, keepsTombstones: keepsTombstones)
    }

    package func fail(
        _ id: Operation.ID, attempt: Int, _ error: OperationError, retry: Bool, retryAt: Date?
    ) throws -> Bool {
        try transaction.fail(id, attempt: attempt, error, retry: retry, retryAt: retryAt)
    }

    package func fail(_ id: Operation.ID, _ error: OperationError, retry: Bool) throws {
        try transaction.fail(id, error, retry: retry)
    }

    package func leaveUncertain(
        _ id: Operation.ID, attempt: Int, _ error: OperationError, retryAt: Date?
    ) throws -> Bool {
        try transaction.leaveUncertain(id, attempt: attempt, error, retryAt: retryAt)
    }

    package func sides(of id: Operation.ID, against item: ServerItem, rounding: WireRounding) throws -> ConflictSides {
        try transaction.sides(of: id, against: item, rounding: rounding)
    }

    package func rebase(
        _ id: Operation.ID, onto item: ServerItem, takingServers: Set<String>, rounding: WireRounding
    ) throws -> RebaseOutcome {
        try transaction.rebase(id, onto: item, takingServers: takingServers, rounding: rounding)
    }

    package func makeInsert(_ id: Operation.ID) throws {
        try transaction.makeInsert(id)
    }

    package func hold(_ id: Operation.ID) throws {
        try transaction.hold(id)
    }

    package func release(_ id: Operation.ID) throws {
        try transaction.release(id)
    }

    package func discard(_ id: Operation.ID, for item: ServerItem?) throws -> [String: StorageValue] {
        try transaction.discard(id, for: item)
    }

    package func receive(_ item: ServerItem, in table: String, identity: ServerIdentity) throws -> ServerReceipt {
        try transaction.receive(item, in: table, identity: identity)
    }

    package func receiveTogether(
        _ items: [ServerItem], in table: String, identity: ServerIdentity
    ) throws -> [ServerReceipt] {
        try transaction.receiveTogether(items, in: table, identity: identity)
    }

    package func removeSynced(_ rows: [Int64], in table: String) throws -> Int {
        try transaction.removeSynced(rows, in: table)
    }

    package func removeUnlisted(_ rows: [Int64], in table: String) throws -> Int {
        try transaction.removeUnlisted(rows, in: table)
    }

    package func dropOperations(in tables: [String], where filter: LocalFilter?) throws -> Int {
        try transaction.dropOperations(in: tables, where: filter?.node)
    }

    package func filesLetGo(by id: Operation.ID, for item: ServerItem?, isOver: Bool) throws -> [UnwantedFile] {
        try transaction.filesLetGo(by: id, for: item, isOver: isOver)
    }

    package func addUnwanted(_ file: UnwantedFile) throws {
        try transaction.addUnwanted(file)
    }

    func leaveToFiles(_ id: Operation.ID, removingAdditions: Bool) throws -> Bool {
        try transaction.leaveToFiles(id, removingAdditions: removingAdditions)
    }

    package func forgetUnwantedFiles() throws {
        try transaction.forgetAllUnwanted()
    }

    package func setSyncToken(_ token: SyncToken?, of queryID: String, in table: String) throws {
        try transaction.setSyncToken(token, of: queryID, in: table)
    }

    package func removeSyncTokens(of table: String) throws {
        try transaction.removeSyncTokens(of: table)
    }

    package func setSyncSetting(_ key: SyncSetting, _ value: String?) throws {
        try transaction.setSyncSetting(key, value)
    }
}

import Foundation
import Tandem

/// A transaction of Tandem's store as sync reads it.
package class StoreReading: LocalReading {
    fileprivate let transaction: ReadTransaction

    package init(_ transaction: ReadTransaction) {
        self.transaction = transaction
    }

    package func operations(after id: Operation.ID?, limit: Int) throws -> [Operation] {
        try transaction.operations(after: id, limit: limit)
    }

    package func operation(withID id: Operation.ID) throws -> Operation? {
        try transaction.operation(withID: id)
    }

    package func operation(on localID: LocalID, in table: String) throws -> Operation? {
        try transaction.operation(on: localID, in: table)
    }

    package func countOfOperations(in table: String) throws -> Int {
        try transaction.countOfOperations(in: table)
    }

    package func countOfOperations() throws -> Int {
        try transaction.countOfOperations()
    }

    package func countOfOperations(in state: Operation.State) throws -> Int {
        try transaction.countOfOperations(in: state)
    }

    package func countOfOperationsToRetry() throws -> Int {
        try transaction.countOfOperationsToRetry()
    }

    package func object(_ localID: LocalID, in table: String) throws -> LocalObject? {
        try transaction.storedObject(localID, in: table)
    }

    package func localIDs(in table: String) throws -> [LocalID] {
        try transaction.localIDs(in: table)
    }

    package func serverID(of localID: LocalID, in table: String) throws -> ServerID? {
        try transaction.serverID(of: localID, in: table)
    }

    package func hasObject(_ localID: LocalID, in table: String) throws -> Bool {
        try transaction.hasObject(localID, in: table)
    }

    package func blocker(of localID: LocalID, in table: String) throws -> (localID: LocalID, model: String)? {
        try transaction.blocker(of: localID, in: table)
    }

    package func mayHaveDeleted(_ id: Operation.ID) throws -> Bool {
        try transaction.mayHaveDeleted(id)
    }

    package func keptItem(of operation: Operation.ID) throws -> KeptItem? {
        try transaction.keptItem(of: operation)
    }

    package func keptItemsWithoutOperation(in table: String, after serverID: ServerID?, limit: Int) throws -> [KeptItem]
    {
        try transaction.keptItemsWithoutOperation(in: table, after: serverID, limit: limit)
    }

    package func row(of serverID: ServerID, in table: String) throws -> Int64? {
        try transaction.row(of: serverID, in: table)
    }

    package func forEachSyncedRow(
        in table: String, where filter: LocalFilter?, _ body: (Int64, ServerID) throws -> Void
    ) throws {
        try transaction.forEachSyncedRow(in: table, where: filter?.node, body)
    }

    package func syncToken(of queryID: String, in table: String) throws -> SyncToken? {
        try transaction.syncToken(of: queryID, in: table)
    }

    package func lastSuccesses() throws -> [String: Date] {
        try transaction.lastSuccesses()
    }

    package func syncSetting(_ key: SyncSetting) throws -> String? {
        try transaction.syncSetting(key)
    }

    package func exchangedTablesWithoutModel() throws -> [String] {
        try transaction.exchangedTablesWithoutModel()
    }
}

extension StoreReading: FileReading {
    func pendingFiles(of localID: LocalID, in table: String) throws -> (count: Int, reason: String?) {
        try transaction.pendingFiles(of: localID, in: table)
    }

    func waitsForReplacements(_ id: Operation.ID) throws -> Bool {
        try transaction.waitsForReplacements(id)
    }

    func countOfPendingFiles(in table: String) throws -> Int {
        try transaction.countOfPendingFiles(in: table)
    }
}

extension StoreReading: MarkedReading {
    func operationMarks() throws -> OperationMarks {
        try transaction.operationMarks()
    }
}

import Foundation
import Tandem
import TandemSync

/// A transaction of an engine that makes a mistake.
struct SlippingWriting: LocalWriting {
    private let store: WriteTransaction
    private let slip: SimSlip
    /// How far a pull came, as the transaction is about to keep it.
    let place = Place()

    init(_ store: WriteTransaction, _ slip: SimSlip) {
        self.store = store
        self.slip = slip
    }

    final class Place {
        var token: SyncToken?
        var queryID = ""
        var table = ""
    }

    // MARK: Where it goes wrong

    func beginAttempt(
        _ id: Tandem.Operation.ID, leavingOut: Set<String>, rounding: WireRounding
    ) throws
        -> Tandem.Operation
    {
        try store.beginAttempt(
            id, leavingOut: slip == .forgetsWhatWasLeftOut ? [] : leavingOut,
            rounding: { property, value in
                slip == .forgetsWhatWasSent ? .text("something else") : try rounding(property, value)
            })
    }

    func receive(_ item: ServerItem, in table: String, identity: ServerIdentity) throws -> ServerReceipt {
        if slip == .pullsOverChanges, !item.isDeleted, let operation = try operation(on: item, in: table) {
            _ = try store.discard(operation.id, for: item)
        }
        return try store.receive(item, in: table, identity: identity)
    }

    private func operation(on item: ServerItem, in table: String) throws -> Tandem.Operation? {
        try operations(after: nil, limit: 1000).first {
            try $0.table == table && $0.kind == .update
                && serverID(of: $0.localID, in: table) == item.serverID
        }
    }

    // MARK: All else

    func outgoing(_ id: Tandem.Operation.ID) throws -> OutgoingObject? { try store.outgoing(id) }
    func operations(after id: Tandem.Operation.ID?, limit: Int) throws -> [Tandem.Operation] {
        try store.operations(after: id, limit: limit)
    }
    func operation(withID id: Tandem.Operation.ID) throws -> Tandem.Operation? { try store.operation(withID: id) }
    func operation(on localID: LocalID, in table: String) throws -> Tandem.Operation? {
        try store.operation(on: localID, in: table)
    }
    func countOfOperations(in table: String) throws -> Int { try store.countOfOperations(in: table) }
    func countOfOperations() throws -> Int { try store.countOfOperations() }
    func countOfOperations(in state: Tandem.Operation.State) throws -> Int { try store.countOfOperations(in: state) }
    func serverID(of localID: LocalID, in table: String) throws -> ServerID? {
        try store.serverID(of: localID, in: table)
    }
    func hasObject(_ localID: LocalID, in table: String) throws -> Bool { try store.hasObject(localID, in: table) }
    func blocker(of localID: LocalID, in table: String) throws -> (localID: LocalID, model: String)? {
        try store.blocker(of: localID, in: table)
    }
    func mayHaveDeleted(_ id: Tandem.Operation.ID) throws -> Bool { try store.mayHaveDeleted(id) }
    func keptItem(of operation: Tandem.Operation.ID) throws -> KeptItem? { try store.keptItem(of: operation) }
    func keptItemsWithoutOperation(in table: String, after serverID: ServerID?, limit: Int) throws -> [KeptItem] {
        try store.keptItemsWithoutOperation(in: table, after: serverID, limit: limit)
    }
    func row(of serverID: ServerID, in table: String) throws -> Int64? { try store.row(of: serverID, in: table) }
    func syncedRows(in table: String, where filter: LocalFilter?) throws -> RowSet {
        try store.syncedRows(in: table, where: filter)
    }
    func syncToken(of queryID: String, in table: String) throws -> SyncToken? {
        try store.syncToken(of: queryID, in: table)
    }
    func lastSuccesses() throws -> [String: Date] { try store.lastSuccesses() }
    func syncSetting(_ key: SyncSetting) throws -> String? { try store.syncSetting(key) }

    func acknowledge(
        _ id: Tandem.Operation.ID, attempt: Int, with item: ServerItem?, keepsTombstones: Bool
    ) throws -> AnswerOutcome {
        try store.acknowledge(id, attempt: attempt, with: item, keepsTombstones: keepsTombstones)
    }
    func fail(
        _ id: Tandem.Operation.ID, attempt: Int, _ error: OperationError, retry: Bool, retryAt: Date?
    ) throws -> Bool {
        try store.fail(id, attempt: attempt, error, retry: retry, retryAt: retryAt)
    }
    func fail(_ id: Tandem.Operation.ID, _ error: OperationError, retry: Bool) throws {
        try store.fail(id, error, retry: retry)
    }
    func leaveUncertain(
        _ id: Tandem.Operation.ID, attempt: Int, _ error: OperationError, retryAt: Date?
    ) throws -> Bool {
        try store.leaveUncertain(id, attempt: attempt, error, retryAt: retryAt)
    }
    func sides(of id: Tandem.Operation.ID, against item: ServerItem, rounding: WireRounding) throws -> ConflictSides {
        try store.sides(of: id, against: item, rounding: rounding)
    }
    func rebase(
        _ id: Tandem.Operation.ID, onto item: ServerItem, takingServers: Set<String>, rounding: WireRounding
    ) throws -> RebaseOutcome {
        try store.rebase(id, onto: item, takingServers: takingServers, rounding: rounding)
    }
    func makeInsert(_ id: Tandem.Operation.ID) throws { try store.makeInsert(id) }
    func change(_ localID: LocalID, in table: String, to values: [String: StorageValue]?) throws {
        try store.change(localID, in: table, to: values)
    }
    func hold(_ id: Tandem.Operation.ID) throws { try store.hold(id) }
    func release(_ id: Tandem.Operation.ID) throws { try store.release(id) }
    func discard(_ id: Tandem.Operation.ID, for item: ServerItem?) throws -> [String: StorageValue] {
        try store.discard(id, for: item)
    }
    func receiveTogether(
        _ items: [ServerItem], in table: String, identity: ServerIdentity
    ) throws -> [ServerReceipt] {
        try store.receiveTogether(items, in: table, identity: identity)
    }
    func removeSynced(_ rows: [Int64], in table: String) throws -> Int { try store.removeSynced(rows, in: table) }
    func dropOperations(in table: String, where filter: LocalFilter?) throws -> Int {
        try store.dropOperations(in: table, where: filter)
    }
    func setSyncToken(_ token: SyncToken?, of queryID: String, in table: String) throws {
        (place.token, place.queryID, place.table) = (token, queryID, table)
        try store.setSyncToken(token, of: queryID, in: table)
    }
    func removeSyncTokens(of table: String) throws { try store.removeSyncTokens(of: table) }
    func setSyncSetting(_ key: SyncSetting, _ value: String?) throws { try store.setSyncSetting(key, value) }
}

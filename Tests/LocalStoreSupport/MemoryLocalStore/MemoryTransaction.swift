import Foundation
import Tandem
import TandemSync

/// A transaction of a ``MemoryLocalStore``: a copy of its state, which replaces it at the end.
///
/// Dictionaries replace the SQLite tables of Tandem's store. Each file implements one part of `LocalTransaction`.
final class MemoryTransaction: LocalTransaction {
    /// The origin of a change.
    enum Origin {
        case app
        case server
    }

    let schema: MemorySchema
    var state: MemoryState
    let now: Date
    /// The tables whose operations have changed.
    var touched: Set<String> = []
    private var isOver = false

    init(_ schema: MemorySchema, _ state: MemoryState, _ now: Date) {
        self.schema = schema
        self.state = state
        self.now = now
    }

    func end() { isOver = true }

    func checkUsable() throws {
        guard isOver else { return }
        throw TandemError(
            .transactionOver, message: "The transaction is over.", advice: "Use it inside its block only.")
    }

    /// Runs changes that are rolled back together if one of them fails.
    func together<T>(_ body: () throws -> T) throws -> T {
        try checkUsable()
        let (state, touched) = (state, touched)
        do {
            return try body()
        } catch {
            (self.state, self.touched) = (state, touched)
            throw error
        }
    }

    func model(_ table: String) throws -> MemoryModel { try schema.model(ofTable: table) }
    func model(of object: MemoryObject) throws -> MemoryModel { try model(object.table) }

    /// Returns an operation that must be in the queue, with its object and its model.
    func storedOperation(
        _ id: PendingOperation.ID
    ) throws -> (operation: MemoryOperation, object: MemoryObject, model: MemoryModel) {
        guard let operation = state[id], let object = state.object(operation.object) else { throw stale(id) }
        return (operation, object, try model(of: object))
    }

    /// Returns an operation with a running attempt, or with one without a response. Returns `nil` if that attempt is
    /// over or was replaced.
    func underWay(
        _ id: PendingOperation.ID, attempt: Int
    ) throws -> (operation: MemoryOperation, object: MemoryObject, model: MemoryModel)? {
        guard let operation = state[id], operation.sent != nil, operation.attempts == attempt else { return nil }
        return try storedOperation(id)
    }

    func stale(_ id: PendingOperation.ID) -> TandemError {
        TandemError(
            .staleOperation, message: "The operation \(id) is not under way.",
            advice: "Read the queue again: the operation got a response, or was merged with a change.")
    }

    func notFound(_ localID: LocalID, _ model: MemoryModel) -> TandemError {
        TandemError(
            .notFound, message: "No object has the local ID \(localID).", advice: "Insert it.",
            model: model.definition.name)
    }

    // MARK: The queue

    func put(_ operation: MemoryOperation) {
        state.replace(operation)
        touched.insert(operation.object.table)
    }

    func drop(_ operation: MemoryOperation) {
        state.drop(operation)
        touched.insert(operation.object.table)
    }

    // MARK: State of sync

    func setSyncToken(_ token: SyncToken?, of queryID: String, in table: String) throws {
        try checkUsable()
        state.tokens[table, default: [:]][queryID] = token
    }

    func removeSyncTokens(of table: String) throws {
        try checkUsable()
        state.tokens[table] = nil
    }

    func setSyncSetting(_ key: SyncSetting, to value: String?) throws {
        try checkUsable()
        state.settings[key] = value
    }
}

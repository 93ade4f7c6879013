import Foundation
import Synchronization
import Tandem
import TandemSync

/// A local store of dictionaries in memory. It serves tests of sync without a database, and as an example for your own
/// local store.
///
/// For example:
///
/// ```swift
/// let store = try MemoryLocalStore(Card.self)
/// let sync = SyncContext(localStore: store, remote: ScriptedRemote())
/// let id = try await store.insert(["shop": "Лента", "barcode": "1"], in: "Card")
/// try await sync.push()
/// #expect(try await store.object(id, in: "Card")?.serverID != nil)
/// ```
///
/// It behaves like Tandem's own store, but has only an object's stored values: no folding, no search, and no
/// observation except ``operationChanges``. A transaction copies the parts that it changes.
public final class MemoryLocalStore: LocalStore {
    /// The models of the store.
    public let models: [ModelDefinition]
    private let schema: MemorySchema
    private let now: @Sendable () -> Date
    private let state: Mutex<MemoryState>
    private let listeners = Mutex<[UInt64: AsyncStream<Set<String>>.Continuation]>([:])
    private let lastListener = Atomic<UInt64>(0)

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - models: The models of the store.
    ///   - now: Returns the local time, which becomes the time of changes.
    /// - Throws: `TandemError.Code.invalidSchema` if a reference leads to a model outside the store.
    public convenience init(_ models: any Model.Type..., now: @escaping @Sendable () -> Date = Date.init) throws {
        try self.init(models: models, now: now)
    }

    /// Creates an empty store. See ``init(_:now:)``.
    public init(models: [any Model.Type], now: @escaping @Sendable () -> Date = Date.init) throws {
        self.models = models.map { $0.__definition }
        self.now = now
        schema = try MemorySchema(self.models)
        state = Mutex(MemoryState(schema))
    }

    deinit {
        listeners.withLock { listeners in
            for listener in listeners.values { listener.finish() }
        }
    }

    /// Runs a block with read access to the current state.
    public func read<T: Sendable>(_ body: @escaping @Sendable (any LocalReading) throws -> T) async throws -> T {
        let state = state.withLock { $0 }
        let transaction = MemoryTransaction(schema, state, now())
        defer { transaction.end() }
        // The state of a read is dropped at its end. Its type also prevents writing.
        return try body(transaction)
    }

    /// Runs a block with write access. An error rolls its changes back.
    public func write<T: Sendable>(_ body: @escaping @Sendable (any LocalWriting) throws -> T) async throws -> T {
        let (result, tables) = try state.withLock { state in
            let transaction = MemoryTransaction(schema, state, now())
            defer { transaction.end() }
            let result = try body(transaction)
            state = transaction.state
            return (result, transaction.touched)
        }
        if !tables.isEmpty {
            for listener in listeners.withLock({ Array($0.values) }) { listener.yield(tables) }
        }
        return result
    }

    /// The tables whose operations each write has changed.
    public var operationChanges: AsyncStream<Set<String>> {
        let (stream, continuation) = AsyncStream.makeStream(of: Set<String>.self)
        let id = lastListener.add(1, ordering: .relaxed).newValue
        listeners.withLock { $0[id] = continuation }
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLock { $0[id] = nil }
        }
        return stream
    }

    /// The name of this store's lock, unique within the process.
    public var lockName: String { "\(ObjectIdentifier(self))" }
    /// The path of the lock's file. It is `nil`, because no other process can open the store.
    public var lockPath: String? { nil }
}

// MARK: - Changes by the app

extension MemoryLocalStore {
    /// Inserts an object, as an app does. See ``TandemSync/LocalWriting/insert(_:in:as:)``.
    @discardableResult
    public func insert(
        _ values: [String: StorageValue], in table: String, as localID: LocalID? = nil
    ) async throws -> LocalID {
        try await write { try $0.insert(values, in: table, as: localID) }
    }

    /// Changes an object, or deletes it if the values are `nil`. See ``TandemSync/LocalWriting/change(_:in:to:)``.
    public func change(_ localID: LocalID, in table: String, to values: [String: StorageValue]?) async throws {
        try await write { try $0.change(localID, in: table, to: values) }
    }

    /// Deletes an object, as an app does.
    public func delete(_ localID: LocalID, in table: String) async throws {
        try await change(localID, in: table, to: nil)
    }

    /// Returns an object, or `nil` if it does not exist or is deleted.
    public func object(_ localID: LocalID, in table: String) async throws -> LocalObject? {
        try await read { try $0.object(localID, in: table) }.flatMap { $0.isDeleted ? nil : $0 }
    }

    /// Returns a table's objects that are not deleted, ordered by local ID.
    public func objects(in table: String) async throws -> [LocalObject] {
        try await read { local in
            try local.localIDs(in: table).compactMap { try local.object($0, in: table) }.filter { !$0.isDeleted }
        }
    }

    /// Returns the pending operations, in the order of the queue.
    public func operations() async throws -> [Tandem.Operation] {
        try await read { try $0.operations(after: nil, limit: .max) }
    }
}

import Foundation
import Synchronization
import Tandem
import TandemSync

/// A local store in memory, of plain dictionaries: for tests of sync that need no database, and to be read by whoever
/// writes a local store of their own.
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
/// It does what Tandem's own store does, and knows no more of an object than its stored values: no folding, no search,
/// no watching but ``operationChanges``. A transaction copies what it changes.
public final class MemoryLocalStore: LocalStore {
    public let models: [ModelDefinition]
    private let schema: MemorySchema
    private let now: @Sendable () -> Date
    private let state: Mutex<MemoryState>
    private let listeners = Mutex<[UInt64: AsyncStream<Set<String>>.Continuation]>([:])
    private let lastListener = Atomic<UInt64>(0)

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - models: The models that it keeps.
    ///   - now: The local time, for when changes were made.
    /// - Throws: `TandemError.Code.invalidSchema` if a reference leads to a model that is not among them.
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

    public func read<T: Sendable>(_ body: @escaping @Sendable (any LocalReading) throws -> T) async throws -> T {
        let state = state.withLock { $0 }
        let transaction = MemoryTransaction(schema, state, now())
        defer { transaction.end() }
        // Nothing of it is kept: what is read can't be written through it either, by its type.
        return try body(transaction)
    }

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

    public var operationChanges: AsyncStream<Set<String>> {
        let (stream, continuation) = AsyncStream.makeStream(of: Set<String>.self)
        let id = lastListener.add(1, ordering: .relaxed).newValue
        listeners.withLock { $0[id] = continuation }
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLock { $0[id] = nil }
        }
        return stream
    }

    public var lockName: String { "\(ObjectIdentifier(self))" }
    public var lockPath: String? { nil }
}

// MARK: - As the app does

extension MemoryLocalStore {
    /// Adds an object, as the app would. See ``TandemSync/LocalWriting/insert(_:in:as:)``.
    @discardableResult
    public func insert(
        _ values: [String: StorageValue], in table: String, as localID: LocalID? = nil
    ) async throws -> LocalID {
        try await write { try $0.insert(values, in: table, as: localID) }
    }

    /// Changes an object, as the app would; with `nil`, deletes it. See ``TandemSync/LocalWriting/change(_:in:to:)``.
    public func change(_ localID: LocalID, in table: String, to values: [String: StorageValue]?) async throws {
        try await write { try $0.change(localID, in: table, to: values) }
    }

    /// Deletes an object, as the app would.
    public func delete(_ localID: LocalID, in table: String) async throws {
        try await change(localID, in: table, to: nil)
    }

    /// An object; `nil` if there is none, or it is deleted.
    public func object(_ localID: LocalID, in table: String) async throws -> LocalObject? {
        try await read { try $0.object(localID, in: table) }.flatMap { $0.isDeleted ? nil : $0 }
    }

    /// A table's objects that are not deleted, in the order of their local IDs.
    public func objects(in table: String) async throws -> [LocalObject] {
        try await read { local in
            try local.localIDs(in: table).compactMap { try local.object($0, in: table) }.filter { !$0.isDeleted }
        }
    }

    /// The operations that wait to be sent, in the order of the queue.
    public func operations() async throws -> [Tandem.Operation] {
        try await read { try $0.operations(after: nil, limit: .max) }
    }
}

import Foundation
import Synchronization
import Tandem
import TandemSync

/// A local store of dictionaries in memory: a second implementation, with which tests compare Tandem's store.
///
/// It has only an object's stored values: no folding, no search, and no observation except ``operationChanges``. A
/// transaction copies the parts that it changes.
package final class MemoryLocalStore: LocalStore {
    package let models: [ModelDefinition]
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
    package init(models: [any Model.Type], now: @escaping @Sendable () -> Date = Date.init) throws {
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

    package func read<T: Sendable>(_ body: @escaping @Sendable (any LocalReadTransaction) throws -> T) async throws -> T
    {
        let state = state.withLock { $0 }
        let transaction = MemoryTransaction(schema, state, now())
        defer { transaction.end() }
        // The state of a read is dropped at its end. Its type also prevents writing.
        return try body(transaction)
    }

    package func write<T: Sendable>(_ body: @escaping @Sendable (any LocalTransaction) throws -> T) async throws -> T {
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

    package var operationChanges: AsyncStream<Set<String>> {
        let (stream, continuation) = AsyncStream.makeStream(of: Set<String>.self)
        let id = lastListener.add(1, ordering: .relaxed).newValue
        listeners.withLock { $0[id] = continuation }
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLock { $0[id] = nil }
        }
        return stream
    }

    package var lockName: String { "\(ObjectIdentifier(self))" }
    package var lockPath: String? { nil }
}

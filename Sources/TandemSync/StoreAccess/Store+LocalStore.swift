import Foundation
import OpenCombine
import Tandem

/// Tandem's store as a local store for sync.
///
/// Its transactions are Tandem's ``Tandem/ReadTransaction`` and ``Tandem/SyncTransaction``.
package struct TandemStore: LocalStore {
    package let store: Store

    package init(_ store: Store) {
        self.store = store
    }

    package var models: [ModelDefinition] { store.models }

    package func read<T: Sendable>(_ body: @escaping @Sendable (any LocalReadTransaction) throws -> T) async throws -> T
    {
        try await store.read { transaction in try body(transaction) }
    }

    package func write<T: Sendable>(_ body: @escaping @Sendable (any LocalTransaction) throws -> T) async throws -> T {
        // Not cancelled with its caller: the response of a server must be stored.
        try await Task { try await store.write { transaction in try body(transaction.sync) } }.value
    }

    package var operationChanges: AsyncStream<Set<String>> { store.operationChanges }

    package func observeOperations(
        onChange: @escaping @Sendable () -> Void, onEnd: @escaping @Sendable () -> Void
    ) -> AnyCancellable {
        store.observeOperations(onChange: onChange, onEnd: onEnd)
    }

    package var lockName: String { store.lockName }
    package var lockPath: String? { store.lockPath }
}

extension Store {
    package var operationChanges: AsyncStream<Set<String>> { operations.changes }

    package var lockName: String { lockPath ?? "\(ObjectIdentifier(self))" }

    package var lockPath: String? {
        guard let file, !configuration.isReadOnly else { return nil }
        return file + "-sync"
    }

    /// As ``lockName``, for uploads: they do not hold that lock.
    package var uploadLockName: String { uploadLockPath ?? "\(ObjectIdentifier(self))-upload" }

    /// As ``lockPath``, for uploads.
    package var uploadLockPath: String? {
        guard let file, !configuration.isReadOnly else { return nil }
        return file + "-upload"
    }
}

extension ReadTransaction: LocalReadTransaction {
    package func forEachSyncedRow(
        in table: String, where filter: LocalFilter?, body: (Int64, ServerID) throws -> Void
    ) throws {
        try forEachSyncedRow(in: table, matching: filter?.node, body)
    }
}

extension SyncTransaction: LocalTransaction {
    package func dropOperations(in tables: [String], where filter: LocalFilter?) throws -> Int {
        try dropOperations(in: tables, matching: filter?.node)
    }
}

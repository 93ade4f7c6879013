import Foundation
import Tandem

extension Store: LocalStore {
    package var models: [ModelDefinition] { modelDefinitions }

    package func read<T: Sendable>(_ body: @escaping @Sendable (any LocalReading) throws -> T) async throws -> T {
        try await read { (transaction: ReadTransaction) in try body(transaction) }
    }

    package func write<T: Sendable>(_ body: @escaping @Sendable (any LocalWriting) throws -> T) async throws -> T {
        // Not cancelled with its caller: what a server has answered is to be kept.
        try await Task { try await self.write { (transaction: WriteTransaction) in try body(transaction) } }.value
    }

    package var operationChanges: AsyncStream<Set<String>> { operations.changes }

    package var lockName: String { lockPath ?? "\(ObjectIdentifier(self))" }

    package var lockPath: String? {
        guard path != ":memory:", !configuration.isReadOnly else { return nil }
        // Beside the file itself, not beside a link to it.
        let real = realpath(path, nil)
        defer { free(real) }
        return (real.map { String(cString: $0) } ?? path) + "-sync"
    }
}

extension ReadTransaction: LocalReading {
    package func syncedRows(in table: String, where filter: LocalFilter?) throws -> RowSet {
        var rows = RowSet()
        try forEachSyncedRow(in: table, where: filter?.node) { rows.insert($0) }
        return rows
    }
}

extension WriteTransaction: LocalWriting {
    package func dropOperations(in table: String, where filter: LocalFilter?) throws -> Int {
        try dropOperations(in: table, where: filter?.node)
    }
}

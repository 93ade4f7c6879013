import Tandem

@testable import TandemSync

/// A store that counts its write transactions.
struct CountingStore: LocalStore {
    let base: TandemStore
    let writes = Counter()

    var models: [ModelDefinition] { base.models }
    var operationChanges: AsyncStream<Set<String>> { base.operationChanges }
    var lockName: String { base.lockName }
    var lockPath: String? { base.lockPath }

    func read<T: Sendable>(_ body: @escaping @Sendable (any LocalReading) throws -> T) async throws -> T {
        try await base.read(body)
    }

    func write<T: Sendable>(_ body: @escaping @Sendable (any LocalWriting) throws -> T) async throws -> T {
        _ = writes.next()
        return try await base.write(body)
    }
}

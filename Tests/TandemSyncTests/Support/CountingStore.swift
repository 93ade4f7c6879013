import Tandem

@testable import TandemSync

/// A store that counts its write transactions, and may run a function before each transaction.
struct CountingStore: LocalStore {
    let base: TandemStore
    let writes = Counter()
    var beforeEach: (@Sendable () async throws -> Void)?

    var models: [ModelDefinition] { base.models }
    var operationChanges: AsyncStream<Set<String>> { base.operationChanges }
    var lockName: String { base.lockName }
    var lockPath: String? { base.lockPath }

    func read<T: Sendable>(_ body: @escaping @Sendable (any LocalReadTransaction) throws -> T) async throws -> T {
        try await beforeEach?()
        return try await base.read(body)
    }

    func write<T: Sendable>(_ body: @escaping @Sendable (any LocalTransaction) throws -> T) async throws -> T {
        try await beforeEach?()
        _ = writes.next()
        return try await base.write(body)
    }
}

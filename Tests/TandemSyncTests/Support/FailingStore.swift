import Synchronization
import Tandem

@testable import TandemSync

/// A store that fails at one write, as if the process were killed there.
final class FailingStore: LocalStore {
    struct Failure: Error {}

    private struct Plan {
        /// The number of writes until it fails, or 0 for never.
        var writesLeft = 0
        var commits = false
    }

    let store: Store
    private let plan = Mutex(Plan())

    init(_ store: Store) { self.store = store }

    /// Fails at the write of a number, from 1 on.
    ///
    /// - Parameter commits: Whether the write is committed before the failure.
    func fail(atWrite number: Int, commits: Bool = false) {
        plan.withLock { $0 = Plan(writesLeft: number, commits: commits) }
    }

    /// Ends the failures.
    func recover() { plan.withLock { $0 = Plan() } }

    var models: [ModelDefinition] { store.models }
    var lockPath: String? { nil }
    var lockName: String { store.lockName }
    var operationChanges: AsyncStream<Set<String>> { store.operationChanges }

    func read<T: Sendable>(_ body: @escaping @Sendable (any LocalReadTransaction) throws -> T) async throws -> T {
        try await TandemStore(store).read { local in try body(local) }
    }

    func write<T: Sendable>(_ body: @escaping @Sendable (any LocalTransaction) throws -> T) async throws -> T {
        let (fails, commits) = plan.withLock { plan in
            plan.writesLeft -= 1
            return (plan.writesLeft == 0, plan.commits)
        }
        let result = try await TandemStore(store).write { local in
            let result = try body(local)
            if fails, !commits { throw Failure() }
            return result
        }
        if fails { throw Failure() }
        return result
    }
}

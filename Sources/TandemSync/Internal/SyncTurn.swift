import Synchronization

/// The time in which a sync, or the uploads of a push, have a lock of a store.
///
/// A request for that lock within the turn would deadlock, and is refused. Tasks that are begun within it, in closures
/// of the app's, inherit it: one that is over stands in nobody's way, so that such a task may sync when it lives longer.
final class SyncTurn: Sendable {
    private enum Stage { case waiting, running, over }

    /// Those that the current task is inside of, or was begun in.
    @TaskLocal static var inherited: [SyncTurn] = []

    /// The lock, by its name: ``LocalStore/lockName``, or that of uploads.
    let lock: String
    private let stage = Mutex(Stage.waiting)

    init(of lock: String) {
        self.lock = lock
    }

    /// Whether the current task is within a turn of the lock.
    static func isWithin(_ lock: String) -> Bool {
        inherited.contains { $0.lock == lock && !$0.isOver }
    }

    /// Runs what is done in the turn.
    func run<T: Sendable>(_ body: () async throws -> T) async throws -> T {
        stage.withLock { $0 = .running }
        defer { stage.withLock { $0 = .over } }
        let outer = Self.inherited.filter { !$0.isOver }
        return try await Self.$inherited.withValue(outer + [self], operation: body)
    }

    /// Whether it ever came.
    var hasBegun: Bool { stage.withLock { $0 != .waiting } }

    private var isOver: Bool { stage.withLock { $0 == .over } }
}

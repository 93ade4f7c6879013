import Synchronization

/// The period in which a sync, or the uploads of a push, hold a lock of a store.
///
/// A request for that lock within the sync would deadlock, and is refused. Tasks that the app's closures start within
/// the turn inherit it. A turn that has ended does not block them, so a task that outlives it may sync.
final class ActiveSync: Sendable {
    private enum Stage { case waiting, running, over }

    /// The turns that the current task runs in or was started in.
    @TaskLocal static var inherited: [ActiveSync] = []

    /// The lock, by its name: ``LocalStore/lockName``, or that of uploads.
    let lock: String
    private let stage = Mutex(Stage.waiting)

    init(of lock: String) {
        self.lock = lock
    }

    /// Returns whether the current task is within a turn of the lock.
    static func isWithin(_ lock: String) -> Bool {
        inherited.contains { $0.lock == lock && !$0.isOver }
    }

    /// Runs the body of the turn.
    func run<T: Sendable>(_ body: () async throws -> T) async throws -> T {
        stage.withLock { $0 = .running }
        defer { stage.withLock { $0 = .over } }
        let outer = Self.inherited.filter { !$0.isOver }
        return try await Self.$inherited.withValue(outer + [self], operation: body)
    }

    /// Whether the turn has begun.
    var hasBegun: Bool { stage.withLock { $0 != .waiting } }

    private var isOver: Bool { stage.withLock { $0 == .over } }
}

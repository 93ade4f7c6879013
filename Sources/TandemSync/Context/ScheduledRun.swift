import Synchronization

/// The scheduler's sync that the current task belongs to.
///
/// Tasks started within the sync inherit this value and may outlive it. After the end of the sync, the value has no
/// effect.
final class ScheduledRun: Sendable {
    private let job: ObjectIdentifier
    /// Whether the scheduler started the sync without a request.
    private let isAutomatic: Bool
    /// Whether files wait for another network.
    private let leavesFiles: Bool
    /// The tables to pull, by their names in the store; `nil` for all.
    private let tables: Set<String>?
    /// Called when only uploads of files remain.
    private let onUploads: @Sendable () -> Void
    private let isOver = Atomic(false)

    init(
        job: ObjectIdentifier, isAutomatic: Bool, leavesFiles: Bool = false, tables: Set<String>? = nil,
        onUploads: @escaping @Sendable () -> Void = {}
    ) {
        self.job = job
        self.leavesFiles = leavesFiles
        self.isAutomatic = isAutomatic
        self.tables = tables
        self.onUploads = onUploads
    }

    func end() { isOver.store(true, ordering: .releasing) }

    @TaskLocal private static var inherited: ScheduledRun?
    /// Whether the task runs the app's code.
    @TaskLocal private static var isTheApps = false

    /// Runs the body of the sync.
    func run<T: Sendable>(_ body: () async throws -> T) async throws -> T {
        try await Self.$inherited.withValue(self, operation: body)
    }

    /// Runs the app's code within the sync. Syncs that this code starts count as requested.
    static func asTheApp(_ body: () async -> Void) async { await $isTheApps.withValue(true, operation: body) }

    private static var current: ScheduledRun? {
        inherited.flatMap { $0.isOver.load(ordering: .acquiring) ? nil : $0 }
    }

    /// Whether this task runs without a request. Operations with a later retry date then wait for that date.
    static var isAutomatic: Bool { !isTheApps && current?.isAutomatic ?? false }

    /// Whether this task is part of a scheduler's sync.
    static var isScheduled: Bool { !isTheApps && current != nil }

    /// Notifies this task's scheduler that the objects were sent and the uploads begin.
    static func recordUploads() {
        if !isTheApps { current?.onUploads() }
    }

    /// Whether this task must not upload files.
    static var leavesFiles: Bool { !isTheApps && current?.leavesFiles ?? false }

    /// The tables that ``SyncContext/synchronize(_:)`` pulls in this task; `nil` for all.
    static var tables: Set<String>? { isTheApps ? nil : current?.tables }

    /// Returns whether this task belongs to a sync of a scheduler's loop, given by its identity.
    static func isInside(_ job: ObjectIdentifier) -> Bool { current?.job == job }
}

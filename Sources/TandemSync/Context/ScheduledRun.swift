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

    /// Returns whether this task belongs to a sync of a job.
    static func isInside(_ job: SchedulerLoop) -> Bool { current?.job == ObjectIdentifier(job) }
}

/// The events for a scheduler. Several tasks post them, and a single task reads them.
final class ScheduleInbox: Sendable {
    struct Mail: Sendable {
        /// Whether the queue has changed.
        var hasChanged = false
        /// Whether the store is closed.
        var isClosed = false
        /// Whether the app has requested a sync.
        var isAsked = false
        /// The states of the network, the oldest first.
        var networks: [NetworkState] = []
        /// The verdicts on syncs that have ended, by their numbers.
        var verdicts: [(run: Int, verdict: RetryDecision)] = []
        /// The sync that has only files left to upload.
        var uploading: Int?
        /// The responses to the poll that has ended.
        var poll: PolledTables.Answer?
        /// The number of the timer that has elapsed.
        var timer: Int?
        /// The continuations that wait until no work is left.
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// A single pending signal is enough for any number of events.
    let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation
    private let mail = Mutex(Mail())
    /// This flag changes only while `mail` is locked.
    private let isClosed = Atomic(false)

    init() {
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        signal.yield()
    }

    /// Waits until all due work is done.
    func waitUntilIdle() async {
        await withCheckedContinuation { waiter in
            let isOver = mail.withLock { mail in
                if !isClosed.load(ordering: .relaxed) { mail.waiters.append(waiter) }
                return isClosed.load(ordering: .relaxed)
            }
            if isOver { waiter.resume() } else { signal.yield() }
        }
    }

    /// Stops accepting waiting tasks, and returns the current ones.
    func close() -> [CheckedContinuation<Void, Never>] {
        mail.withLock { mail in
            isClosed.store(true, ordering: .relaxed)
            return mail.waiters
        }
    }

    func post(_ change: (inout Mail) -> Void) {
        mail.withLock { change(&$0) }
        signal.yield()
    }

    func drain() -> Mail {
        mail.withLock { mail in
            defer { mail = Mail() }
            return mail
        }
    }
}

extension ScheduleInbox.Mail {
    /// Adds a state of the network. Keeps a short interruption, but not each of many.
    mutating func add(_ network: NetworkState) {
        guard networks.last != network else { return }
        networks.append(network)
        if networks.count > 8 { networks.removeFirst() }
    }
}

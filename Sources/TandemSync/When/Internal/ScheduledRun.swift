import Synchronization

/// A sync that a scheduler has begun, to those whom it calls.
///
/// Tasks that are begun within it inherit it, and may live longer: one that is over is nobody's any more.
final class ScheduledRun: Sendable {
    private let job: ObjectIdentifier
    /// Whether nobody has asked for it.
    private let isAutomatic: Bool
    /// Whether files are left for another network.
    private let leavesFiles: Bool
    /// Called when all that is left to do is to upload files.
    private let onUploads: @Sendable () -> Void
    private let isOver = Atomic(false)

    init(
        job: ObjectIdentifier, isAutomatic: Bool, leavesFiles: Bool = false,
        onUploads: @escaping @Sendable () -> Void = {}
    ) {
        self.job = job
        self.leavesFiles = leavesFiles
        self.isAutomatic = isAutomatic
        self.onUploads = onUploads
    }

    func end() { isOver.store(true, ordering: .releasing) }

    @TaskLocal private static var inherited: ScheduledRun?
    /// Whether the task is in the app's hands meanwhile.
    @TaskLocal private static var isTheApps = false

    /// Runs what is done in the sync.
    func run<T: Sendable>(_ body: () async throws -> T) async throws -> T {
        try await Self.$inherited.withValue(self, operation: body)
    }

    /// Runs what is the app's to do within the sync: what it begins there, somebody has asked for.
    static func asTheApp(_ body: () async -> Void) async { await $isTheApps.withValue(true, operation: body) }

    private static var current: ScheduledRun? {
        inherited.flatMap { $0.isOver.load(ordering: .acquiring) ? nil : $0 }
    }

    /// Whether nobody has asked for what this task does: what is to be sent again at a later time is then left until
    /// that.
    static var isAutomatic: Bool { !isTheApps && current?.isAutomatic ?? false }

    /// Whether this task is part of a scheduler's sync.
    static var isScheduled: Bool { !isTheApps && current != nil }

    /// Tells the scheduler whose sync this task is part of that the objects have gone, and files are about to.
    static func noteUploads() {
        if !isTheApps { current?.onUploads() }
    }

    /// Whether what this task does is not to upload files.
    static var leavesFiles: Bool { !isTheApps && current?.leavesFiles ?? false }

    /// Whether this task is a job's sync.
    static func isInside(_ job: ScheduleJob) -> Bool { current?.job == ObjectIdentifier(job) }
}

/// What a schedule has to hear of. Several tell it, and one task takes it out.
final class ScheduleInbox: Sendable {
    struct Mail: Sendable {
        /// Whether the queue has changed.
        var hasChanged = false
        /// Whether the store is closed.
        var isClosed = false
        /// Whether the app wants a sync.
        var isAsked = false
        /// The states of the network, the oldest first.
        var networks: [NetworkState] = []
        /// The verdicts on syncs that have ended, by their numbers.
        var verdicts: [(run: Int, verdict: SyncVerdict)] = []
        /// The sync that has only files left to upload.
        var uploading: Int?
        /// Which timer has run out.
        var timer: Int?
        /// Those who wait until there is nothing to do.
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// One that nobody has acted upon says as much as ten.
    let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation
    private let mail = Mutex(Mail())
    /// Changed with `mail` locked.
    private let isClosed = Atomic(false)

    init() {
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        signal.yield()
    }

    /// Waits until all that is due is done.
    func settle() async {
        await withCheckedContinuation { waiter in
            let isOver = mail.withLock { mail in
                if !isClosed.load(ordering: .relaxed) { mail.waiters.append(waiter) }
                return isClosed.load(ordering: .relaxed)
            }
            if isOver { waiter.resume() } else { signal.yield() }
        }
    }

    /// Takes no more who wait.
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

    func take() -> Mail {
        mail.withLock { mail in
            defer { mail = Mail() }
            return mail
        }
    }
}

extension ScheduleInbox.Mail {
    /// Adds a state of the network. A blip is remembered, not each of a thousand.
    mutating func note(_ network: NetworkState) {
        guard networks.last != network else { return }
        networks.append(network)
        if networks.count > 8 { networks.removeFirst() }
    }
}

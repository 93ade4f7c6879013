import Synchronization

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
        /// The outcomes of syncs that have ended, by their numbers.
        var outcomes: [(run: Int, outcome: SyncOutcome)] = []
        /// The sync that has only files left to upload.
        var uploading: Int?
        /// The responses to the poll that has ended.
        var poll: PolledTables.Responses?
        /// The number of the timer that has elapsed.
        var timer: Int?
        /// The tasks that wait until no work is left. Each waits for the end of its stream.
        var waiters: [AsyncStream<Void>.Continuation] = []
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

    /// Waits until all due work is done, or the task is cancelled.
    func waitUntilIdle() async {
        let (end, waiter) = AsyncStream<Void>.makeStream()
        let isOver = mail.withLock { mail in
            if !isClosed.load(ordering: .relaxed) { mail.waiters.append(waiter) }
            return isClosed.load(ordering: .relaxed)
        }
        guard !isOver else { return }
        signal.yield()
        for await _ in end {}
    }

    /// Stops accepting waiting tasks, and returns the current ones.
    func close() -> [AsyncStream<Void>.Continuation] {
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

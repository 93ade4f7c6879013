import Dispatch
import Synchronization

/// The engine for a store's live queries. It knows the watches of all subscriptions, and distributes the changes of
/// each commit.
///
/// The path of a commit: the transaction records the rows that it changes (``ChangeCapture``). Before COMMIT their new
/// state is read, and evaluated for the parts of subscriptions that they can affect (``WatchPlan``). After COMMIT,
/// before the writer is released, each affected subscription gets its events. After the writer is released,
/// subscriptions with the immediate scheduler run on the writing thread. The others run on the engine's queue
/// (``LiveSubscription``).
///
/// Commits have numbers. A subscription that reloads knows the number of the last commit in the state that it reads.
/// Such a read begins while this process is not committing (``commitLock``). Events with this number or an earlier one
/// are then outdated.
final class LiveEngine: StorePart {
    struct State {
        var plan = WatchPlan()
        var subscriptions: [ObjectIdentifier: LiveSubscription] = [:]
        /// The owner of each part.
        var owners: [(subscription: LiveSubscription, index: Int)?] = []
        var freeParts: [PartID] = []
        var sequence: UInt64 = 0
        /// The number of the last commit of another process.
        var lastExternal: UInt64 = 0
        var isFinished = false
        var tuning = LiveTuning()
    }

    /// A weak reference to the store, which owns the engine.
    private final class StoreLink: Sendable {
        private struct Link { weak var store: Store? }
        private let link = Mutex(Link())

        var store: Store? {
            get { link.withLock { $0.store } }
            set { link.withLock { $0.store = newValue } }
        }
    }

    let state = Mutex(State())
    /// Whether the monitor for other processes is running.
    private let watching = Mutex(false)
    /// Held while a transaction commits and its events are dispatched, and while a read with a known number begins.
    private let commitLock = Mutex(())
    /// The queue on which subscriptions run after commits, one at a time.
    let queue = DispatchQueue(label: "tandem.live")
    /// The queues for reloads, so that a long read does not delay other subscriptions' events.
    private let loaders = [DispatchQueue(label: "tandem.live.load.0"), DispatchQueue(label: "tandem.live.load.1")]
    private let nextLoader = Atomic<Int>(0)
    private let path: String
    private let link = StoreLink()
    let isInMemory: Bool
    /// The monitor for commits of other processes, which runs while there are subscriptions. It is `nil` for a store in
    /// memory.
    private let watcher: ExternalCommitMonitor?
    /// The lock that shows others that this store has subscriptions. It is `nil` for a store in memory.
    let observerLock: ObserverLock?
    /// The position in the log up to which all commits are accounted for: each subscription's state includes them, or
    /// they are among its events. Only code on the writer's queue uses it.
    let known = Mutex<CommitLog.Known?>(nil)
    /// Whether this store may have recorded commits for others.
    private let hasRecorded = Atomic<Bool>(false)

    init(path: String, isInMemory: Bool) {
        self.path = path
        self.isInMemory = isInMemory
        observerLock = isInMemory ? nil : ObserverLock(path: ExternalCommitMonitor.logPath(ofStoreAt: path))
        watcher =
            isInMemory
            ? nil
            : ExternalCommitMonitor(path: path) { [link] in
                link.store.map { $0.live.checkForExternalCommit($0) } ?? .none
            }
    }

    /// Sets the engine's store. Called once, when the store is open.
    func attach(to store: Store) { link.store = store }

    func commitParticipant(on connection: Connection) -> any CommitParticipant { LiveCommit(self, on: connection) }

    func storeWillClose() { finish() }

    func storeDidClose() { observerLock?.close() }

    /// Whether other stores observe commits. They then write the log back. If this store did, the log would begin
    /// again, and they would have to reload.
    var leavesLogToOthers: Bool { observerLock?.isHeldElsewhere ?? false }

    // MARK: Subscribing

    /// Adds a subscription. It gets the events of all later commits.
    ///
    /// - Throws: ``TandemError`` with the code `closed`, or if the store lacks a model.
    func add(_ subscription: LiveSubscription) throws {
        let schema = subscription.store.schema
        let watches = try subscription.parts.map { try $0.watch(in: schema) }
        let isFirst = try state.withLock { state in
            if state.isFinished { throw TandemError(.closed, message: "The store is closed.", store: path) }
            var ids: [PartID] = []
            for (index, watch) in watches.enumerated() {
                let id = state.freeParts.popLast() ?? state.owners.count
                if id == state.owners.count { state.owners.append(nil) }
                state.owners[id] = (subscription, index)
                state.plan.add(id, watch: watch)
                ids.append(id)
            }
            state.subscriptions[ObjectIdentifier(subscription)] = subscription
            subscription.registration.withLock { $0 = Registration(parts: ids, planVersion: state.plan.version) }
            return state.subscriptions.count == 1
        }
        if isFirst { adjustWatcher() }
    }

    /// Starts or stops the monitor. It runs while there are subscriptions, or while the operation queue is observed.
    func adjustWatcher() {
        watching.withLock { isWatching in
            let isQueueWatched = link.store?.commits.isObserved ?? false
            let isWanted = state.withLock { (!$0.subscriptions.isEmpty || isQueueWatched) && !$0.isFinished }
            guard isWanted != isWatching else { return }
            isWatching = isWanted
            // Others record their commits from here on. The first result is read after that.
            if isWanted { observerLock?.hold() } else { observerLock?.release() }
            if isWanted { watcher?.start() } else { watcher?.stop() }
        }
    }

    /// Removes a subscription. It gets no more events.
    func remove(_ subscription: LiveSubscription) {
        let isLast = state.withLock { state in
            guard state.subscriptions.removeValue(forKey: ObjectIdentifier(subscription)) != nil else { return false }
            for id in subscription.registration.withLock({ $0 })?.parts ?? [] {
                state.plan.remove(id)
                state.owners[id] = nil
                state.freeParts.append(id)
            }
            return state.subscriptions.isEmpty
        }
        if isLast { adjustWatcher() }
    }

    /// The engine's registration of a subscription.
    struct Registration: Sendable {
        let parts: [PartID]
        /// The plan's version at registration. Transactions with an older plan have not recorded the changes that it
        /// needs.
        let planVersion: Int
    }

    /// The current subscriptions.
    var present: [LiveSubscription] { state.withLock { Array($0.subscriptions.values) } }

    /// The number of the last distributed commit.
    var lastCommit: UInt64 { state.withLock { $0.sequence } }

    /// Tests set it before they subscribe.
    var tuning: LiveTuning {
        get { state.withLock { $0.tuning } }
        set { state.withLock { $0.tuning = newValue } }
    }

    /// Ends all subscriptions because the store closes.
    func finish() {
        let subscriptions = state.withLock { state in
            state.isFinished = true
            return Array(state.subscriptions.values)
        }
        adjustWatcher()
        for subscription in subscriptions { subscription.end(with: nil) }
    }

    // MARK: Committing

    /// Begins to record the changes of a transaction.
    func beginCapture(on connection: Connection, recorder: CommitRecorder? = nil) -> ChangeCapture {
        let (plan, tuning) = state.withLock { ($0.plan, $0.tuning) }
        return ChangeCapture(plan, on: connection, tuning: tuning, recorder: recorder)
    }

    /// Begins to record the changes of a transaction for other stores. Returns `nil` if no other store observes
    /// commits.
    func makeRecorder(on connection: Connection) -> CommitRecorder? {
        guard let observerLock else { return nil }
        let tuning = tuning
        guard tuning.recordsCommits, observerLock.isHeldElsewhere(within: tuning.observerInterval),
            ChangeCapture.isAvailable, let store = link.store
        else { return nil }
        return CommitRecorder(store.schema, on: connection, tuning: tuning)
    }

    /// Writes the entry of a transaction, or removes earlier entries if no other store observes commits any more.
    func record(
        _ recorder: CommitRecorder?, basedOn position: LogPosition?, on connection: Connection
    ) throws {
        if let recorder {
            guard let position else { return }
            try recorder.write(basedOn: position)
            hasRecorded.store(true, ordering: .relaxed)
        } else if hasRecorded.load(ordering: .relaxed) {
            try CommitRecorder.clear(connection)
            hasRecorded.store(false, ordering: .relaxed)
        }
    }

    /// Whether there are subscriptions.
    var isObserving: Bool { state.withLock { !$0.subscriptions.isEmpty } }

    /// Records the position on which an own transaction is based. The transaction has the write lock.
    func recordOwnBegin(at position: LogPosition?) {
        known.withLock { $0 = position.map { CommitLog.Known(position: $0) } }
    }

    /// Records that the transaction has committed changes.
    func recordOwnEnd() {
        known.withLock { $0?.ownCommits += 1 }
    }

    /// Records that a transaction has begun and has checked for commits of other processes.
    func recordOwnWrite() { watcher?.recordOwnWrite() }

    /// Commits, and distributes the changes.
    ///
    /// - Returns: The subscriptions with events. Run them after the writer is released.
    func commit(
        _ resolved: CommitChanges, withoutNotifying quiet: Set<LiveToken>, commit: () throws -> Void
    ) rethrows -> PendingNotifications {
        try commitLock.withLock { _ in
            try commit()
            watcher?.recordOwnCommit()
            guard resolved.hasChanges else { return PendingNotifications() }
            return state.withLock { state in
                guard !state.subscriptions.isEmpty else { return PendingNotifications() }
                state.sequence += 1
                return state.dispatch(resolved, quiet: quiet)
            }
        }
    }

    /// Ends all subscriptions with an error, because another process has changed the schema.
    func fail(with error: TandemError) {
        let subscriptions = state.withLock { Array($0.subscriptions.values) }
        for subscription in subscriptions { subscription.end(with: error) }
    }

    /// Runs the subscriptions with events: immediate ones on this thread, others on the engine's queue.
    func run(_ notifications: PendingNotifications) {
        guard !notifications.isEmpty else { return }
        if notifications.hasExternalCommit { queue.async { [link] in link.store?.commits.committedElsewhere() } }
        if !notifications.background.isEmpty {
            queue.async {
                for subscription in notifications.background { subscription.run() }
            }
        }
        for subscription in notifications.immediate { subscription.runHere() }
    }

    // MARK: Reading

    /// Reads a state whose commit number is known.
    func read<T>(_ store: Store, body: (LiveSnapshot) throws -> T) throws -> T {
        try store.checkOpen()
        guard let readers = store.readers else {
            return try store.writer.queue.unsafeReentrantRead { _ in
                try store.checkOpen()
                let sequence = state.withLock { $0.sequence }
                return try body(
                    LiveSnapshot(store: store, connection: store.writer.connection, sequence: sequence, position: nil))
            }
        }
        let reader = try readers.borrow()
        defer { store.giveBack(reader) }
        let connection = reader.connection
        return try connection.reading {
            let (sequence, position) = try commitLock.withLock { _ in
                // Get the number first: commits of other processes do not wait for our lock. A commit that gets its
                // number later may or may not be in the state that is read. It counts as an event.
                let sequence = state.withLock { $0.sequence }
                let before = connection.logPosition
                try connection.statement("BEGIN DEFERRED").run()
                // The first read determines the state. The tables must still match the prepared statements.
                try store.checkStamp(connection)
                return (sequence, connection.logPosition == before ? before : nil)
            }
            return try body(
                LiveSnapshot(store: store, connection: connection, sequence: sequence, position: position))
        }
    }

    /// Returns a queue for a reload.
    func loader() -> DispatchQueue {
        let number = nextLoader.add(1, ordering: .relaxed).oldValue
        return loaders[Int(bitPattern: UInt(bitPattern: number) % UInt(loaders.count))]
    }
}

extension Store {
    /// The engine of the live queries.
    var live: LiveEngine { part(LiveEngine.self) }
}

extension LiveEngine.State {
    /// A subscription and its event of a commit.
    private struct SubscriptionEvent {
        let subscription: LiveSubscription
        let event: CommitEvent
    }

    /// Distributes the events of a commit to the subscriptions.
    ///
    /// - Parameters:
    ///   - isExternal: Whether the commit is of another process.
    ///   - logStart: The position before the commit, if it is of another process and its changes are known.
    ///   - wakesAll: Whether a subscription without a change also gets an event.
    mutating func dispatch(
        _ resolved: CommitChanges, quiet: Set<LiveToken>, isExternal: Bool = false, logStart: LogPosition? = nil,
        wakesAll: Bool = false
    ) -> PendingNotifications {
        var events: [SubscriptionEvent] = []
        // The event of each subscription, once there are many. For few, a linear search is faster.
        var known: [ObjectIdentifier: CommitEvent] = [:]
        func knownEvent(of subscription: LiveSubscription) -> CommitEvent? {
            guard events.count >= 8 else { return events.first { $0.subscription === subscription }?.event }
            if known.isEmpty {
                for item in events { known[ObjectIdentifier(item.subscription)] = item.event }
            }
            return known[ObjectIdentifier(subscription)]
        }
        func event(for subscription: LiveSubscription) -> CommitEvent {
            if let event = knownEvent(of: subscription) { return event }
            let isQuiet = subscription.token.map(quiet.contains) ?? false
            let event = CommitEvent(sequence: sequence, logStart: logStart, isQuiet: isQuiet)
            if !known.isEmpty { known[ObjectIdentifier(subscription)] = event }
            events.append(SubscriptionEvent(subscription: subscription, event: event))
            return event
        }
        for entry in resolved.changes {
            // Skip parts that were removed during the transaction. A new part with the same number is handled below.
            guard entry.part < owners.count, let owner = owners[entry.part],
                owner.subscription.isRecorded(by: resolved.planVersion)
            else { continue }
            event(for: owner.subscription).add(entry.change, to: owner.index)
        }
        for id in resolved.reloads {
            guard id < owners.count, let owner = owners[id] else { continue }
            event(for: owner.subscription).mustReload = true
        }
        if wakesAll {
            for subscription in subscriptions.values { _ = event(for: subscription) }
        }
        if resolved.planVersion != plan.version {
            for subscription in subscriptions.values where !subscription.isRecorded(by: resolved.planVersion) {
                event(for: subscription).mustReload = true
            }
        }
        var notifications = PendingNotifications(hasExternalCommit: isExternal)
        for item in events { notifications.add(item.subscription, event: item.event) }
        return notifications
    }
}

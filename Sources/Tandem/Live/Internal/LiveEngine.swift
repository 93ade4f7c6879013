import Dispatch
import Synchronization

/// Keeps the live queries of a store: who watches what, and what each commit says to whom.
///
/// The way of a commit: the transaction notes which rows it changes (``ChangeCapture``); before COMMIT they are read as
/// they are now and shown to the parts of subscriptions that they can matter to (``WatchPlan``); after COMMIT, with the
/// writer's turn not yet over, each of these subscriptions gets its news; with the writer free, subscriptions with the
/// immediate scheduler run on the thread that wrote, the others on the engine's queue (``LiveSubscription``).
///
/// Commits have numbers. A subscription that reads afresh does so in a state of which it knows the number of the last
/// commit in it: a read begins while no commit of this process is under way (``commitLock``). News of that number or an
/// earlier one is then old.
final class LiveEngine: Sendable {
    fileprivate struct State {
        var plan = WatchPlan()
        var subscriptions: [ObjectIdentifier: LiveSubscription] = [:]
        /// Whose part each is.
        var owners: [(subscription: LiveSubscription, index: Int)?] = []
        var freeParts: [PartID] = []
        var sequence: UInt64 = 0
        /// The number of the last commit of another process.
        var lastForeign: UInt64 = 0
        var isFinished = false
        var tuning = LiveTuning()
    }

    /// The store, which has the engine.
    private final class StoreLink: Sendable {
        private struct Link { weak var store: Store? }
        private let link = Mutex(Link())

        var store: Store? {
            get { link.withLock { $0.store } }
            set { link.withLock { $0.store = newValue } }
        }
    }

    private let state = Mutex(State())
    /// Whether the watcher runs.
    private let watching = Mutex(false)
    /// Held while a transaction commits and its news is given out, and while a read of known number begins.
    private let commitLock = Mutex(())
    /// Runs subscriptions after commits, one after the other.
    let queue = DispatchQueue(label: "tandem.live")
    /// Where results are read afresh, so that a long reading holds up nobody's news.
    private let loaders = [DispatchQueue(label: "tandem.live.load.0"), DispatchQueue(label: "tandem.live.load.1")]
    private let nextLoader = Atomic<Int>(0)
    private let path: String
    private let link = StoreLink()
    let isInMemory: Bool
    /// Notices commits of other processes, while somebody subscribes; `nil` in memory.
    private let watcher: ForeignCommits?

    init(path: String, isInMemory: Bool) {
        self.path = path
        self.isInMemory = isInMemory
        watcher =
            isInMemory
            ? nil
            : ForeignCommits(path: path) { [link] in
                link.store.map { $0.live.lookForForeignCommit($0) } ?? .none
            }
    }

    /// Tells whose engine it is. Called once, when the store is open.
    func attach(to store: Store) { link.store = store }

    // MARK: Subscribing

    /// Adds a subscription. What is committed from now on is news to it.
    ///
    /// - Throws: ``TandemError`` with the code `closed`, or if a model is not the store's.
    func add(_ subscription: LiveSubscription) throws {
        let schema = subscription.store.schema
        let watches = try subscription.parts.map { try $0.watch(in: schema) }
        let isFirst = try state.withLock { state in
            if state.isFinished { throw TandemError(.closed, "The store is closed.", store: path) }
            var ids: [PartID] = []
            for (index, watch) in watches.enumerated() {
                let id = state.freeParts.popLast() ?? state.owners.count
                if id == state.owners.count { state.owners.append(nil) }
                state.owners[id] = (subscription, index)
                state.plan.add(id, watch)
                ids.append(id)
            }
            state.subscriptions[ObjectIdentifier(subscription)] = subscription
            subscription.registration.withLock { $0 = Registration(parts: ids, planVersion: state.plan.version) }
            return state.subscriptions.count == 1
        }
        if isFirst { adjustWatcher() }
    }

    /// Watches for other processes as long as somebody subscribes, or watches the queue.
    func adjustWatcher() {
        watching.withLock { isWatching in
            let isQueueWatched = link.store?.commits.isObserved ?? false
            let isWanted = state.withLock { (!$0.subscriptions.isEmpty || isQueueWatched) && !$0.isFinished }
            guard isWanted != isWatching else { return }
            isWatching = isWanted
            if isWanted { watcher?.start() } else { watcher?.stop() }
        }
    }

    /// Removes a subscription: nothing is news to it any more.
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

    /// What the engine knows a subscription by.
    struct Registration: Sendable {
        let parts: [PartID]
        /// Transactions that go by an older plan have not noted what it wants to know.
        let planVersion: Int
    }

    var subscriptionCount: Int { state.withLock { $0.subscriptions.count } }

    /// The subscriptions there are.
    var present: [LiveSubscription] { state.withLock { Array($0.subscriptions.values) } }

    /// The number of the last commit that was told of.
    var lastCommit: UInt64 { state.withLock { $0.sequence } }

    /// Set by tests, before they subscribe.
    var tuning: LiveTuning {
        get { state.withLock { $0.tuning } }
        set { state.withLock { $0.tuning = newValue } }
    }

    /// The store closes: all subscriptions end.
    func finish() {
        let subscriptions = state.withLock { state in
            state.isFinished = true
            return Array(state.subscriptions.values)
        }
        adjustWatcher()
        for subscription in subscriptions { subscription.end(with: nil) }
    }

    // MARK: Committing

    /// Begins to note what a transaction changes.
    func beginCapture(on connection: Connection) -> ChangeCapture {
        let (plan, tuning) = state.withLock { ($0.plan, $0.tuning) }
        return ChangeCapture(plan, on: connection, tuning)
    }

    /// A transaction has begun and has looked for commits of other processes.
    func noteOwnWrite() { watcher?.noteOwnWrite() }

    /// Commits, and gives out what that says to whom.
    ///
    /// - Returns: The subscriptions that have news, to be run when the writer is free.
    func commit(
        _ sealed: SealedCommit, withoutNotifying quiet: Set<LiveToken>, _ commit: () throws -> Void
    ) rethrows -> LiveWakeUp {
        try commitLock.withLock { _ in
            try commit()
            watcher?.noteOwnCommit()
            guard sealed.hasChanges else { return LiveWakeUp() }
            return state.withLock { state in
                guard !state.subscriptions.isEmpty else { return LiveWakeUp() }
                state.sequence += 1
                return state.giveOut(sealed, quiet)
            }
        }
    }

    /// Another process has committed: what it did is not known, and all subscriptions must read afresh.
    func noteForeignCommit() -> LiveWakeUp {
        state.withLock { state in
            state.sequence += 1
            state.lastForeign = state.sequence
            var wakeUp = LiveWakeUp()
            wakeUp.hasForeignCommit = true
            if state.tuning.has(.foreignCommitMissed) { return wakeUp }
            wakeUp.isForeign = true
            for subscription in state.subscriptions.values {
                wakeUp.add(subscription, LiveNews(sequence: state.sequence, mustReload: true))
            }
            return wakeUp
        }
    }

    /// Nothing can be read any more: another process has changed the schema.
    func fail(with error: TandemError) {
        let subscriptions = state.withLock { Array($0.subscriptions.values) }
        for subscription in subscriptions { subscription.end(with: error) }
    }

    /// Runs those who have news: on this thread if they want that, else on the engine's queue.
    func run(_ wakeUp: LiveWakeUp) {
        guard !wakeUp.isEmpty else { return }
        if let failure = wakeUp.failure { fail(with: failure) }
        if wakeUp.hasForeignCommit { queue.async { [link] in link.store?.commits.committedElsewhere() } }
        if !wakeUp.background.isEmpty || (wakeUp.isForeign && !wakeUp.immediate.isEmpty) {
            let woken = wakeUp.isForeign ? wakeUp.background + wakeUp.immediate : wakeUp.background
            queue.async {
                for subscription in woken { subscription.run() }
            }
        }
        if !wakeUp.isForeign {
            for subscription in wakeUp.immediate { subscription.runHere() }
        }
    }

    // MARK: Reading

    /// Reads in a state of known number.
    func read<T>(_ store: Store, _ body: (Connection, _ sequence: UInt64) throws -> T) throws -> T {
        try store.checkOpen()
        guard let readers = store.readers else {
            return try store.writer.queue.unsafeReentrantRead { _ in
                try store.checkOpen()
                return try body(store.writer.connection, state.withLock { $0.sequence })
            }
        }
        let reader = try readers.borrow()
        defer { store.giveBack(reader) }
        let connection = reader.connection
        return try connection.reading {
            let sequence = try commitLock.withLock { _ in
                // Looked up first: commits of other processes wait for no lock of ours. One that is numbered from here
                // on may be in what is read or not, and is news.
                let sequence = state.withLock { $0.sequence }
                try connection.statement("BEGIN DEFERRED").run()
                // The state is that of the first read. The tables must still be those that the statements were made for.
                try SchemaKeeper.checkStamp(connection, store: store)
                return sequence
            }
            return try body(connection, sequence)
        }
    }

    /// A queue to read on.
    func loader() -> DispatchQueue {
        let number = nextLoader.add(1, ordering: .relaxed).oldValue
        return loaders[Int(bitPattern: UInt(bitPattern: number) % UInt(loaders.count))]
    }

    // MARK: Other processes

    func lookForForeignCommit(_ store: Store) -> ForeignTransactions {
        do {
            let (others, wakeUp) = try store.writer.queue.unsafeReentrantRead { _ in
                try store.checkOpen()
                let connection = store.writer.connection
                // Asked first: who is in a transaction now may commit after the look.
                let others = connection.foreignTransactions
                // Noted before the writer is free: the next commit's news must not come before this one.
                let hasMoved = try SchemaKeeper.checkUnchanged(connection, store: store)
                return (others, hasMoved ? noteForeignCommit() : LiveWakeUp())
            }
            run(wakeUp)
            return others
        } catch let error as TandemError where error.code == .foreignSchemaChange {
            fail(with: error)
            return .none
        } catch {
            // The file can't be read just now: there may be something to be seen later.
            return store.isOpen ? .some : .none
        }
    }

    /// Whether another process has committed since a commit of ours, so that what was read in between may hold that too.
    func hasForeignCommit(since sequence: UInt64, _ store: Store) -> Bool {
        guard !isInMemory else { return false }
        _ = lookForForeignCommit(store)
        return state.withLock { $0.lastForeign > sequence }
    }
}

extension LiveEngine.State {
    /// Gives each subscription its news of a commit.
    fileprivate mutating func giveOut(_ sealed: SealedCommit, _ quiet: Set<LiveToken>) -> LiveWakeUp {
        func isQuiet(_ subscription: LiveSubscription) -> Bool {
            (subscription.token.map(quiet.contains) ?? false) && !tuning.has(.quietWriteTold)
        }
        var news: [(subscription: LiveSubscription, news: LiveNews)] = []
        // Where each subscription's news is, once there are many: few are looked through faster.
        var places: [ObjectIdentifier: Int] = [:]
        func place(of subscription: LiveSubscription) -> Int? {
            guard news.count >= 8 else { return news.firstIndex { $0.subscription === subscription } }
            if places.isEmpty {
                for (place, item) in news.enumerated() { places[ObjectIdentifier(item.subscription)] = place }
            }
            return places[ObjectIdentifier(subscription)]
        }
        func note(_ subscription: LiveSubscription, _ change: (inout LiveNews) -> Void) {
            if let place = place(of: subscription) { return change(&news[place].news) }
            var item = LiveNews(sequence: sequence, isQuiet: isQuiet(subscription))
            change(&item)
            if !places.isEmpty { places[ObjectIdentifier(subscription)] = news.count }
            news.append((subscription, item))
        }
        for (id, change) in sealed.changes {
            // Who went while the transaction was under way is gone; who came since by the same number is told below.
            guard id < owners.count, let owner = owners[id], owner.subscription.isNoted(by: sealed.planVersion)
            else { continue }
            note(owner.subscription) { $0.changes.append((owner.index, change)) }
        }
        for id in sealed.reloads {
            guard id < owners.count, let owner = owners[id] else { continue }
            note(owner.subscription) { $0.mustReload = true }
        }
        if sealed.planVersion != plan.version, !tuning.has(.lateSubscriberForgotten) {
            for subscription in subscriptions.values where !subscription.isNoted(by: sealed.planVersion) {
                note(subscription) { $0.mustReload = true }
            }
        }
        var wakeUp = LiveWakeUp()
        for (subscription, news) in news { wakeUp.add(subscription, news) }
        return wakeUp
    }
}

/// The subscriptions that have news of a commit.
struct LiveWakeUp: Sendable {
    fileprivate(set) var immediate: [LiveSubscription] = []
    fileprivate(set) var background: [LiveSubscription] = []
    fileprivate var isForeign = false
    /// Whether another process has committed, which may have changed the queue.
    fileprivate var hasForeignCommit = false
    /// Why nothing can be read any more.
    var failure: TandemError?

    var isEmpty: Bool { immediate.isEmpty && background.isEmpty && failure == nil && !hasForeignCommit }

    fileprivate mutating func add(_ subscription: LiveSubscription, _ news: LiveNews) {
        subscription.take(news)
        if subscription.isImmediate { immediate.append(subscription) } else { background.append(subscription) }
    }

    mutating func add(_ other: LiveWakeUp) {
        // What another process did needs no thread of ours.
        background += other.isForeign ? other.background + other.immediate : other.background
        immediate += other.isForeign ? [] : other.immediate
        hasForeignCommit = hasForeignCommit || other.hasForeignCommit
    }
}

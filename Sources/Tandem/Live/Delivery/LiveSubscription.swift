import Dispatch
import Foundation
import OpenCombine
import Synchronization

/// A subscription to a live query. It receives events from the engine, updates its parts, and delivers changes on
/// demand.
///
/// Only one thread at a time *runs* the subscription. It takes the pending events, updates the parts and delivers,
/// until there is nothing left to do. It holds no lock meanwhile. Other threads add their events and leave. An
/// exception is a writer with the immediate scheduler: it waits for the run and continues it, so that `write` returns
/// after its change was delivered. A thread inside a delivery does not wait for another thread's run, which then also
/// delivers its events.
///
/// At most one delivery is in progress. The parts merge commits that arrive during it, or while there is no demand.
///
/// Proof of `@unchecked Sendable`: `condition` protects the variables, except those of the run (`parts`, `loads`,
/// `loadedSequence`, `loadedPosition`, `hasLoadedQuietly`). Only the thread with the run accesses the run's variables.
/// Another thread accesses them only if it has seen under the lock that no thread has the run. The condition orders the
/// accesses of successive threads.
class LiveSubscription: @unchecked Sendable {
    let store: Store
    let scheduler: LiveScheduler
    let token: LiveToken?
    /// The engine's registration of this subscription.
    let registration = Mutex<LiveEngine.Registration?>(nil)

    private let condition = NSCondition()
    private var events: [CommitEvent] = []
    private var demand = Subscribers.Demand.none
    private var isRunning = false
    private var runner = pthread_t(bitPattern: 0)
    private var waiting = 0
    private var isDelivering = false
    private var isCancelled = false
    private var isOver = false
    private var ending: Subscribers.Completion<TandemError>?
    private var isLoaderCalled = false
    private var isDelivererCalled = false
    /// The queue on which an immediate subscription delivers if no caller waits for it. It is `nil` for other
    /// schedulers.
    ///
    /// A subscriber that blocks then delays only this queue, and no other subscription's events or reads.
    private let deliverer: DispatchQueue?
    /// Whether the store was open when the subscriber requested values.
    private var hasBegun = false
    /// The connection of the current reload, which is interrupted if the subscription is cancelled.
    private var reader: Connection?

    /// Written by the run, while it holds the condition's lock.
    private var isLoaded = false

    // Variables of the run.
    private(set) var parts: [any LivePart]
    /// The number of reloads. Tests read it.
    private(set) var loads = 0
    private var loadedSequence: UInt64 = 0
    /// The position in the log up to which the last reload has read at most.
    private var loadedPosition: LogPosition?
    /// Whether the last reload was the first one, or was caused by a write of the subscriber itself.
    private var hasLoadedQuietly = true

    init(store: Store, parts: [any LivePart], scheduler: LiveScheduler, token: LiveToken?) {
        self.store = store
        self.parts = parts
        self.scheduler = scheduler
        self.token = token
        deliverer = scheduler.isImmediate ? DispatchQueue(label: "tandem.live.immediate") : nil
    }

    // MARK: Overridden by subclasses

    /// Creates the output from the parts, and marks it as delivered.
    func makeOutput() throws {}
    /// Delivers the last output.
    func deliver() -> Subscribers.Demand { .none }
    func complete(_ completion: Subscribers.Completion<TandemError>) {}
    /// Releases the subscriber.
    func release() {}
    /// Releases the parts, which are not read any more.
    func forgetParts() {}

    /// The state of the subscription. The parts are read only while no thread runs it.
    var status: Status {
        condition.withLock {
            let isStopped = !isRunning && !isDelivering && !isLoaderCalled && !isDelivererCalled
            let isAsked = demand > .none
            var status = Status(isIdle: isOver, isAsked: isAsked, isLoaded: isLoaded, isOver: isOver)
            guard isStopped, !isOver, ending == nil else { return status }
            if isCancelled {
                status.isIdle = true
            } else if isLoaded {
                status.isIdle = events.isEmpty && !(isAsked && parts.contains(where: \.isDirty))
            } else {
                status.isIdle = !isAsked
            }
            return status
        }
    }

    // MARK: Events

    var isImmediate: Bool { scheduler.isImmediate }

    /// Returns whether a transaction with a given plan has recorded the changes that this subscription needs.
    func isRecorded(by planVersion: Int) -> Bool {
        registration.withLock { $0.map { $0.planVersion <= planVersion } ?? false }
    }

    /// Adds the events of a commit, in the order of the commits.
    func enqueue(_ item: CommitEvent) {
        condition.withLock {
            if !isCancelled, ending == nil { events.append(item) }
        }
    }

    /// Adds demand of the subscriber.
    func ask(for more: Subscribers.Demand) {
        let isOpen = (try? store.checkOpen()) != nil
        let (isMine, isLoaded) = condition.withLock {
            demand += more
            if more > .none, isOpen { hasBegun = true }
            // The run continues after a delivery in any case.
            return (!(isRunning && runner == pthread_self()), self.isLoaded)
        }
        guard isMine else { return }
        if isImmediate, !store.isBusyInMemory {
            // The thread with the run sees the demand. Waiting for it could deadlock: this thread may be in a
            // transaction that the other thread's delivery waits for.
            if acquireRun(waits: false) { work(mayLoad: mayReadHere, mayDeliver: true) }
        } else if isLoaded {
            store.live.queue.async { self.run() }
        } else {
            callLoader()
        }
    }

    /// Cancels the subscription.
    func stop() {
        let isIdle = condition.withLock {
            isCancelled = true
            events = []
            if let reader { reader.mustStop.isSet = true }
            condition.broadcast()
            return !isRunning
        }
        store.live.remove(self)
        release()
        if isIdle { releaseParts() }
    }

    /// Ends the subscription. There is no error if the store was closed. An error, found on a thread of Tandem, means
    /// that the store can't be read any more.
    func end(with error: TandemError?) {
        let isFirst = condition.withLock {
            guard ending == nil, !isCancelled else { return false }
            ending = error.map { .failure($0) } ?? .finished
            events = []
            return true
        }
        guard isFirst else { return }
        store.live.remove(self)
        if isImmediate, error == nil { runHere() } else { store.live.queue.async { self.run() } }
    }

    // MARK: The run

    /// Runs on a thread of Tandem, unless another thread has the run, which then sees the pending work.
    func run() {
        if acquireRun(waits: false) { work(mayLoad: false, mayDeliver: deliverer == nil) }
    }

    /// Runs on this thread, after another thread has released the run.
    func runHere() {
        if acquireRun(waits: !DeliveryDepth.isInside) { work(mayLoad: mayReadHere, mayDeliver: true) }
    }

    /// Whether this thread may reload the results. A cancelled task's statements are interrupted, but the subscription
    /// outlives the task.
    private var mayReadHere: Bool { !Task.isCancelled }

    private func callLoader() {
        let isMine = condition.withLock {
            defer { isLoaderCalled = true }
            return !isLoaderCalled
        }
        guard isMine else { return }
        store.live.loader().async { [self] in
            condition.withLock { isLoaderCalled = false }
            if acquireRun(waits: false) { work(mayLoad: true, mayDeliver: deliverer == nil) }
        }
    }

    /// Continues the run on the subscription's own queue.
    private func callDeliverer() {
        let isMine = condition.withLock {
            defer { isDelivererCalled = true }
            return !isDelivererCalled
        }
        guard isMine else { return }
        deliverer?.async { [self] in
            condition.withLock { isDelivererCalled = false }
            if acquireRun(waits: false) { work(mayLoad: false, mayDeliver: true) }
        }
    }

    private func acquireRun(waits: Bool) -> Bool {
        condition.withLock {
            if isOver { return false }
            if isRunning {
                guard waits, runner != pthread_self() else { return false }
                waiting += 1
                while isRunning { condition.wait() }
                waiting -= 1
                // The subscription may have ended in the meantime, which is reported only once.
                if isOver { return false }
            }
            isRunning = true
            runner = pthread_self()
            return true
        }
    }

    /// The next step of the run.
    private enum Step {
        case forget
        case end(Subscribers.Completion<TandemError>)
        case load
        case callLoader
        case callDeliverer
        case apply([CommitEvent])
        case deliver
        case leave
    }

    /// - Parameters:
    ///   - mayLoad: Whether this thread may reload the results.
    ///   - mayDeliver: Whether this thread may run an immediate subscriber, which can block it.
    private func work(mayLoad: Bool, mayDeliver: Bool) {
        while true {
            switch next(mayLoad, mayDeliver: mayDeliver) {
            case .leave: return
            case .callDeliverer:
                callDeliverer()
                return
            case .forget:
                // The run may have registered the subscription after it was cancelled.
                store.live.remove(self)
                return
            case .callLoader:
                callLoader()
                return
            case .end(let completion):
                finish(completion)
                return
            case .load: attempt { try begin() }
            case .apply(let items): attempt { try apply(items) }
            case .deliver:
                startDelivery()
                if yieldRun() { return }
            }
        }
    }

    private func next(_ mayLoad: Bool, mayDeliver: Bool) -> Step {
        // Free the parts after the lock is released: they hold the app's objects, and can be large.
        var gone: [any LivePart] = []
        defer { withExtendedLifetime(gone) {} }
        return condition.withLock {
            func leave(_ step: Step = .leave) -> Step {
                isRunning = false
                condition.broadcast()
                return step
            }
            if isCancelled {
                isOver = true
                gone = discardParts()
                return leave(.forget)
            }
            if let ending {
                if isDelivering { return leave() }
                guard mayDeliver else { return leave(.callDeliverer) }
                isOver = true
                gone = discardParts()
                return leave(.end(ending))
            }
            if !isLoaded {
                guard demand > .none else { return leave() }
                return mayLoad ? .load : leave(.callLoader)
            }
            if !events.isEmpty {
                let mustLoad = events.contains { mustReload($0) && $0.sequence > loadedSequence }
                guard mayLoad || !mustLoad else { return leave(.callLoader) }
                return .apply(dequeueEvents())
            }
            // Only this thread accesses the parts now.
            if demand > .none, !isDelivering, parts.contains(where: \.isDirty) {
                guard mayDeliver else { return leave(.callDeliverer) }
                demand -= 1
                isDelivering = true
                return .deliver
            }
            return leave()
        }
    }

    /// Releases the run for a waiting writer. The writer has its own events, and would wait forever if others kept
    /// adding more.
    private func yieldRun() -> Bool {
        condition.withLock {
            guard waiting > 0 else { return false }
            isRunning = false
            condition.broadcast()
            return true
        }
    }

    private func dequeueEvents() -> [CommitEvent] {
        defer { events = [] }
        return events
    }

    private func attempt(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            let error = store.located(error)
            guard let error = error as? TandemError else {
                return fail(
                    TandemError(.sql, message: "The live query can't be read.", store: store.path, underlying: error))
            }
            // A store that closes ends its subscriptions without an error. A later subscriber gets an error.
            if error.code == .closed, condition.withLock({ hasBegun }) { return fail(nil) }
            fail(error)
        }
    }

    private func fail(_ error: TandemError?) {
        condition.withLock {
            guard ending == nil, !isCancelled else { return }
            ending = error.map { .failure($0) } ?? .finished
            events = []
        }
        store.live.remove(self)
    }

    // MARK: Bringing forward

    /// Loads the parts for the first time. Commits after the subscription was added are events.
    private func begin() throws {
        try store.live.add(self)
        try load()
        condition.withLock { isLoaded = true }
    }

    /// Reloads the parts. Events of commits that are in the loaded state are then outdated.
    private func load() throws {
        loads += 1
        loadedSequence = try store.live.read(store) { snapshot in
            if store.readers != nil {
                let isWanted = condition.withLock {
                    if !isCancelled { reader = snapshot.connection }
                    return !isCancelled
                }
                guard isWanted else { return snapshot.sequence }
            }
            defer {
                condition.withLock { reader = nil }
                if store.readers != nil { snapshot.connection.mustStop.isSet = false }
            }
            // Another process may have committed after the read began. The position may be too late, never too early.
            loadedPosition = store.readers == nil ? nil : snapshot.connection.logPosition
            for part in parts { try part.load(snapshot) }
            return snapshot.sequence
        }
    }

    /// Returns whether the parts must reload because of an event. The loaded state may already include some of the
    /// commits of other processes: they do not wait while a read begins.
    private func mustReload(_ item: CommitEvent) -> Bool {
        if item.mustReload { return true }
        guard let start = item.logStart else { return false }
        return loadedPosition.map { !$0.isUpTo(start) } ?? true
    }

    private func apply(_ items: [CommitEvent]) throws {
        for (place, item) in items.enumerated() {
            guard item.sequence > loadedSequence else {
                // It was loaded together with another commit.
                if item.isQuiet, !hasLoadedQuietly { resetBaseline(item) }
                continue
            }
            if item.isQuiet, item.dirt.isEmpty { item.dirt = parts.map(\.isDirty) }
            if mustReload(item) {
                try load()
                hasLoadedQuietly = item.isQuiet
            } else if try !apply(item) {
                // This thread may not be allowed to read.
                item.mustReload = true
                condition.withLock { events = items[place...] + events }
                return
            }
            if item.isQuiet { applySilently(item, later: items[(place + 1)...]) }
        }
    }

    /// Marks a write as delivered, if the subscriber left itself out of its notifications.
    private func applySilently(_ item: CommitEvent, later: some Sequence<CommitEvent>) {
        // A reload may include other commits, of this store or of another process, which the subscriber must get. The
        // state of the subscriber, with its own change, is then not one of the known states.
        let isMixed =
            hasReadOn(item, later: later)
            || item.mustReload && store.live.hasExternalCommit(since: loadedSequence, in: store)
        if isMixed { return resetBaseline(item) }
        for index in indices(of: item) { parts[index].applySilently(wasDirty: item.dirt[index]) }
    }

    private func resetBaseline(_ item: CommitEvent) {
        for index in indices(of: item) { parts[index].resetBaseline() }
    }

    /// Returns the parts that a commit changes.
    private func indices(of item: CommitEvent) -> Set<Int> {
        Set(item.mustReload ? Array(parts.indices) : item.parts.map(\.part))
    }

    /// Returns whether the loaded state includes later commits, which the subscriber must get.
    private func hasReadOn(_ item: CommitEvent, later: some Sequence<CommitEvent>) -> Bool {
        func mustReach(_ other: CommitEvent) -> Bool { !other.isQuiet && other.sequence <= loadedSequence }
        guard loadedSequence > item.sequence else { return false }
        return later.contains(where: mustReach) || condition.withLock { events.contains(where: mustReach) }
    }

    /// Applies a commit to all parts. Returns `false` if a part must reload.
    private func apply(_ item: CommitEvent) throws -> Bool {
        let failed = try item.parts.firstIndex { try !parts[$0.part].apply($0.changes, isQuiet: item.isQuiet) }
        guard let failed else { return true }
        // After a reload, the parts before the failed one can't tell the subscriber's own changes from pending ones.
        let applied = item.parts[..<failed].map(\.part)
        for part in applied where item.isQuiet && item.dirt[part] { parts[part].resetBaseline() }
        return false
    }

    // MARK: Delivering

    private func startDelivery() {
        do {
            try makeOutput()
        } catch {
            condition.withLock { isDelivering = false }
            attempt { throw error }
            return
        }
        guard let queue = scheduler.deliveryQueue else { return deliverNow() }
        queue.async { [self] in
            deliverNow()
            // Continue outside the subscriber's queue: updating the parts is not its work.
            store.live.queue.async { self.run() }
        }
    }

    private func deliverNow() {
        let isWanted = condition.withLock { !isCancelled }
        let more = isWanted ? DeliveryDepth.deeper { deliver() } : .none
        condition.withLock {
            isDelivering = false
            demand += more
        }
    }

    private func finish(_ completion: Subscribers.Completion<TandemError>) {
        @Sendable func deliverCompletion() {
            if !condition.withLock({ isCancelled }) { DeliveryDepth.deeper { complete(completion) } }
            release()
        }
        if let queue = scheduler.deliveryQueue { queue.async { deliverCompletion() } } else { deliverCompletion() }
    }

    // MARK: Letting go

    /// Frees the content of the parts, if no thread runs the subscription.
    private func releaseParts() {
        let gone: [any LivePart] = condition.withLock {
            guard !isRunning else { return [] }
            isOver = true
            return discardParts()
        }
        withExtendedLifetime(gone) {}
    }

    /// - Returns: The parts, to be freed after the lock is released.
    private func discardParts() -> [any LivePart] {
        defer {
            parts = []
            forgetParts()
            isLoaded = false
        }
        return parts
    }
}

import Dispatch
import Foundation
import OpenCombine
import Synchronization

/// One subscription to a live query: it takes news from the engine, keeps its parts up to date by it, and delivers what
/// has changed as its subscriber asks for it.
///
/// One thread at a time has its *run*: it takes the news there is, brings the parts forward and delivers, with no lock
/// held, until there is nothing left to do. Who comes meanwhile leaves its news and goes, but for a writer with the
/// immediate scheduler: it waits for the run and goes on with it, so that `write` returns when its change was
/// delivered. A thread that is inside a delivery does not wait for another's run; that one delivers its news too.
///
/// At most one delivery is under way. What is committed meanwhile, or while the subscriber asks for nothing, is merged
/// in the parts.
///
/// `@unchecked Sendable`: what changes is guarded by `condition`, save what belongs to the run (`parts`,
/// `loadedSequence`, `hasLoadedQuietly`), which its owner alone touches; the condition orders one owner's doings before
/// the next one's.
class LiveSubscription: @unchecked Sendable {
    let store: Store
    let scheduler: LiveScheduler
    let token: LiveToken?
    /// What the engine knows it by.
    let registration = Mutex<LiveEngine.Registration?>(nil)

    private let tuning: LiveTuning
    private let condition = NSCondition()
    private var news: [LiveNews] = []
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
    /// Where an immediate subscription delivers what no caller waits for; `nil` for other schedulers.
    ///
    /// A subscriber that blocks then holds up this queue, and no other subscription's news or reading.
    private let deliverer: DispatchQueue?
    /// Whether the store was open when the subscriber asked.
    private var hasBegun = false
    /// The connection that it reads afresh by, to be stopped when it is cancelled.
    private var reader: Connection?

    /// Written by the run, with the condition's lock held.
    private var isLoaded = false

    // The run's own.
    private(set) var parts: [any LivePart]
    private var loadedSequence: UInt64 = 0
    /// Whether the parts were read last at the beginning, or for a write that the subscriber made itself.
    private var hasLoadedQuietly = true

    init(store: Store, parts: [any LivePart], scheduler: LiveScheduler, token: LiveToken?) {
        self.store = store
        let tuning = store.live.tuning
        for part in parts { part.tuning = tuning }
        self.parts = parts
        self.tuning = tuning
        self.scheduler = scheduler
        self.token = token
        deliverer = scheduler.isImmediate ? DispatchQueue(label: "tandem.live.immediate") : nil
    }

    // MARK: What a subclass does

    /// Makes what is to be delivered from the parts, and takes it for told.
    func makeOutput() throws {}
    /// Delivers what was made last.
    func deliver() -> Subscribers.Demand { .none }
    func complete(_ completion: Subscribers.Completion<TandemError>) {}
    /// Lets the subscriber go.
    func release() {}
    /// Lets the parts go, which are not read any more.
    func forgetParts() {}

    /// How it stands. The parts are looked at only while nobody runs.
    var standing: Standing {
        condition.withLock {
            let isIdle = !isRunning && !isDelivering && !isLoaderCalled && !isDelivererCalled
            let isAsked = demand > .none
            var standing = Standing(isSettled: isOver, isAsked: isAsked, isLoaded: isLoaded, isOver: isOver)
            guard isIdle, !isOver, ending == nil else { return standing }
            if isCancelled {
                standing.isSettled = true
            } else if isLoaded {
                standing.isSettled = news.isEmpty && !(isAsked && parts.contains(where: \.isDirty))
            } else {
                standing.isSettled = !isAsked
            }
            return standing
        }
    }

    /// How often it has read afresh.
    private(set) var loads = 0

    // MARK: News

    var isImmediate: Bool { scheduler.isImmediate }

    /// Whether a transaction that went by a plan has noted what this subscription wants to know.
    func isNoted(by planVersion: Int) -> Bool {
        registration.withLock { $0.map { $0.planVersion <= planVersion } ?? false }
    }

    /// Takes news of a commit, in the order of the commits.
    func take(_ item: LiveNews) {
        condition.withLock {
            if isCancelled || ending != nil { return }
            news.append(item)
        }
    }

    /// The subscriber asks for more.
    func ask(for more: Subscribers.Demand) {
        let isOpen = (try? store.checkOpen()) != nil
        let (isMine, isLoaded) = condition.withLock {
            demand += more
            if more > .none, isOpen { hasBegun = true }
            // The run that asks, in its delivery, goes on anyway.
            return (!(isRunning && runner == pthread_self()), self.isLoaded)
        }
        guard isMine else { return }
        if isImmediate, !store.isBusyInMemory {
            // Whoever has the run sees what is asked for. To wait for it could be for ever: this thread may be in a
            // transaction that the other's delivery waits for.
            if enter(waits: false) { work(mayLoad: mayReadHere, mayDeliver: true) }
        } else if isLoaded {
            store.live.queue.async { self.run() }
        } else {
            callLoader()
        }
    }

    /// Nobody wants to know any more.
    func stop() {
        let isIdle = condition.withLock {
            isCancelled = true
            news = []
            if let reader { reader.mustStop.isSet = true }
            condition.broadcast()
            return !isRunning
        }
        store.live.remove(self)
        release()
        if isIdle { letGo() }
    }

    /// The store has closed (no error), or nothing can be read any more (an error, found on a thread of Tandem's).
    func end(with error: TandemError?) {
        let isFirst = condition.withLock {
            guard ending == nil, !isCancelled else { return false }
            ending = error.map { .failure($0) } ?? .finished
            news = []
            return true
        }
        guard isFirst else { return }
        store.live.remove(self)
        if isImmediate, error == nil { runHere() } else { store.live.queue.async { self.run() } }
    }

    // MARK: The run

    /// Runs on a thread of Tandem's, unless another thread does: that one sees what there is.
    func run() {
        if enter(waits: false) { work(mayLoad: false, mayDeliver: deliverer == nil) }
    }

    /// Runs on this thread, when whoever runs has let go.
    func runHere() {
        if enter(waits: !DeliveryDepth.isInside) { work(mayLoad: mayReadHere, mayDeliver: true) }
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
            if enter(waits: false) { work(mayLoad: true, mayDeliver: deliverer == nil) }
        }
    }

    /// Goes on with the run on the subscription's own queue.
    private func callDeliverer() {
        let isMine = condition.withLock {
            defer { isDelivererCalled = true }
            return !isDelivererCalled
        }
        guard isMine else { return }
        deliverer?.async { [self] in
            condition.withLock { isDelivererCalled = false }
            if enter(waits: false) { work(mayLoad: false, mayDeliver: true) }
        }
    }

    private func enter(waits: Bool) -> Bool {
        condition.withLock {
            if isOver { return false }
            if isRunning {
                guard waits, runner != pthread_self() else { return false }
                waiting += 1
                while isRunning { condition.wait() }
                waiting -= 1
                // It may have ended meanwhile, and is told so once.
                if isOver { return false }
            }
            isRunning = true
            runner = pthread_self()
            return true
        }
    }

    /// What the run does next.
    private enum Step {
        case forget
        case end(Subscribers.Completion<TandemError>)
        case load
        case callLoader
        case callDeliverer
        case apply([LiveNews])
        case deliver
        case leave
    }

    /// - Parameters:
    ///   - mayLoad: Whether this thread may reload the results.
    ///   - mayDeliver: Whether this thread may run an immediate subscriber, which can block it.
    private func work(mayLoad: Bool, mayDeliver: Bool) {
        while true {
            switch next(mayLoad, mayDeliver) {
            case .leave: return
            case .callDeliverer:
                callDeliverer()
                return
            case .forget:
                // It may have been made known after it was cancelled, by the run that was under way.
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
                handOver()
                if passOn() { return }
            }
        }
    }

    private func next(_ mayLoad: Bool, _ mayDeliver: Bool) -> Step {
        // Freed when the lock is open: what goes with the parts is the app's, and may be much.
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
                gone = letGoOfParts()
                return leave(.forget)
            }
            if let ending {
                if isDelivering { return leave() }
                guard mayDeliver else { return leave(.callDeliverer) }
                isOver = true
                gone = letGoOfParts()
                return leave(.end(ending))
            }
            if !isLoaded {
                guard demand > .none else { return leave() }
                return mayLoad ? .load : leave(.callLoader)
            }
            if !news.isEmpty {
                let mustLoad = news.contains { $0.mustReload && $0.sequence > loadedSequence }
                guard mayLoad || !mustLoad else { return leave(.callLoader) }
                return .apply(takeNews())
            }
            // Only this thread touches the parts now.
            if demand > .none || tuning.has(.demandIgnored), !isDelivering, parts.contains(where: \.isDirty) {
                guard mayDeliver else { return leave(.callDeliverer) }
                if demand > .none { demand -= 1 }
                isDelivering = true
                return .deliver
            }
            return leave()
        }
    }

    /// Lets a writer go on that waits to run: it has news of its own, and would wait for ever if others had more and
    /// more.
    private func passOn() -> Bool {
        condition.withLock {
            guard waiting > 0 else { return false }
            isRunning = false
            condition.broadcast()
            return true
        }
    }

    private func takeNews() -> [LiveNews] {
        defer { news = [] }
        return news
    }

    private func attempt(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            let error = store.located(error)
            guard let error = error as? TandemError else {
                return fail(
                    TandemError(.sql, "The live query can't be read.", store: store.path, underlying: error))
            }
            // A store that closes ends its subscriptions without an error. Who comes later gets one.
            if error.code == .closed, condition.withLock({ hasBegun }) { return fail(nil) }
            fail(error)
        }
    }

    private func fail(_ error: TandemError?) {
        condition.withLock {
            guard ending == nil, !isCancelled else { return }
            ending = error.map { .failure($0) } ?? .finished
            news = []
        }
        store.live.remove(self)
    }

    // MARK: Bringing forward

    /// Reads for the first time. What is committed from before that on is news.
    private func begin() throws {
        try store.live.add(self)
        try load()
        condition.withLock { isLoaded = true }
    }

    /// Reads afresh, which makes news of commits that are in what is read old.
    private func load() throws {
        loads += 1
        loadedSequence = try store.live.read(store) { connection, sequence in
            if store.readers != nil {
                let isWanted = condition.withLock {
                    if !isCancelled { reader = connection }
                    return !isCancelled
                }
                guard isWanted else { return sequence }
            }
            defer {
                condition.withLock { reader = nil }
                if store.readers != nil { connection.mustStop.isSet = false }
            }
            for part in parts { try part.load(connection) }
            return sequence
        }
    }

    private func apply(_ items: [LiveNews]) throws {
        for (place, item) in items.enumerated() {
            guard item.sequence > loadedSequence else {
                // It was read together with somebody else's commit.
                if item.isQuiet, !hasLoadedQuietly { tellAnew(item) }
                continue
            }
            let dirt = item.isQuiet ? item.dirt ?? parts.map(\.isDirty) : []
            if item.mustReload {
                try load()
                hasLoadedQuietly = item.isQuiet
            } else if try !apply(item) {
                // Where this runs may be no place to read.
                var rest = Array(items[place...])
                rest[0].mustReload = true
                if item.isQuiet { rest[0].dirt = dirt }
                condition.withLock { news = rest + news }
                return
            }
            if item.isQuiet { settleQuietly(item, dirt, later: items[(place + 1)...]) }
        }
    }

    /// Takes a write for told of by those who asked not to be told.
    private func settleQuietly(_ item: LiveNews, _ dirt: [Bool], later: some Sequence<LiveNews>) {
        // What was read afresh may hold other commits too, this store's or another process's, of which the subscriber
        // must be told; and what it shows, with the change that it made, is in none of the states that are known.
        let isMixed =
            hasReadOn(item, later) || item.mustReload && store.live.hasForeignCommit(since: loadedSequence, store)
        if isMixed { return tellAnew(item) }
        for index in indices(of: item) { parts[index].settleQuietly(wasDirty: dirt[index]) }
    }

    private func tellAnew(_ item: LiveNews) {
        for index in indices(of: item) { parts[index].tellAnew() }
    }

    /// The parts that a commit changes.
    private func indices(of item: LiveNews) -> Set<Int> {
        Set(item.mustReload ? Array(parts.indices) : item.changes.map(\.part))
    }

    /// Whether what was read holds later commits too, of which the subscriber must be told.
    private func hasReadOn(_ item: LiveNews, _ later: some Sequence<LiveNews>) -> Bool {
        func isTold(_ other: LiveNews) -> Bool { !other.isQuiet && other.sequence <= loadedSequence }
        guard loadedSequence > item.sequence else { return false }
        return later.contains(where: isTold) || condition.withLock { news.contains(where: isTold) }
    }

    /// Brings all parts forward by one commit; `false` if one of them must be read afresh.
    private func apply(_ item: LiveNews) throws -> Bool {
        if parts.count == 1 { return try item.changes.isEmpty || parts[0].apply(item.changes.map(\.change)) }
        for (index, part) in parts.enumerated() {
            if index > 0, tuning.has(.combinedTorn) { continue }
            let changes = item.changes.filter { $0.part == index }.map(\.change)
            if !changes.isEmpty, try !part.apply(changes) { return false }
        }
        return true
    }

    // MARK: Delivering

    private func handOver() {
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
            // Off the subscriber's queue again: bringing forward is not its work.
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
        @Sendable func tell() {
            if !condition.withLock({ isCancelled }) { DeliveryDepth.deeper { complete(completion) } }
            release()
        }
        if let queue = scheduler.deliveryQueue { queue.async { tell() } } else { tell() }
    }

    // MARK: Letting go

    /// Frees what the parts hold, if nobody runs.
    private func letGo() {
        let gone: [any LivePart] = condition.withLock {
            guard !isRunning else { return [] }
            isOver = true
            return letGoOfParts()
        }
        withExtendedLifetime(gone) {}
    }

    /// - Returns: The parts, to be freed with the lock open.
    private func letGoOfParts() -> [any LivePart] {
        defer {
            parts = []
            forgetParts()
            isLoaded = false
        }
        return parts
    }
}

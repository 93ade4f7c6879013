import Dispatch
import Foundation
import Synchronization

/// Notices that another process (or another `Store` of this one) has committed, by watching the store's log file.
///
/// It tells nothing itself: it calls `check`, on a serial queue of its own, whenever there may be something new. While
/// nothing happens to the file nothing runs: there is no thread, and no timer. ``CheckSeries`` decides when.
///
/// What it relies on:
/// - `check` asks ``Connection/foreignTransactions`` **first**, then looks at `PRAGMA data_version`, deals with what is
///   new, and returns the answer of the first; ``ForeignTransactions/unknown`` if looking failed.
/// - A write of this store calls ``noteOwnWrite()`` when it has begun (`BEGIN IMMEDIATE`) and has looked at
///   `data_version` itself, and ``noteOwnCommit()`` when it has committed.
final class ForeignCommits: Sendable {
    typealias Check = @Sendable () -> ForeignTransactions

    private struct State {
        var session: Session?
        var member: Int?
    }

    private let logPath: String
    private let check: Check
    private let makeChanges: FileChangesMaker
    private let neighbours: Neighbours
    private let ownWrites = OwnWrites()
    private let state = Mutex(State())
    /// This store's own place among its neighbours, 0 for none: read at each commit.
    private let member = Atomic<Int>(0)

    /// - Parameters:
    ///   - path: The store's path. The store must exist.
    ///   - check: Looks for commits. It may use the writer and wait for it, and may call ``stop()``.
    init(path: String, makeChanges: @escaping FileChangesMaker = systemFileChanges, check: @escaping Check) {
        // SQLite keeps the log beside the file itself, not beside a link to it.
        let real = realpath(path, nil)
        defer { free(real) }
        logPath = (real.map { String(cString: $0) } ?? path) + "-wal"
        neighbours = .of(path)
        self.makeChanges = makeChanges
        self.check = check
    }

    deinit { stop() }

    /// Begins to watch. Does nothing if it has begun already.
    ///
    /// What is committed from now on is noticed; `check` is called once soon, for a commit that is on its way now.
    func start() {
        state.withLock { state in
            guard state.session == nil else { return }
            let session = Session(logPath: logPath, ownWrites: ownWrites, makeChanges: makeChanges, check: check)
            state.session = session
            let place = neighbours.join { [weak session] in session?.wake() }
            state.member = place
            member.store(place, ordering: .relaxed)
        }
    }

    /// Ends watching; ``start()`` begins anew.
    ///
    /// Returns at once: a `check` under way goes on (this may have been called from it, or while it waits for what the
    /// caller holds). None begins afterwards.
    func stop() {
        state.withLock { state in
            state.session?.stop()
            state.session = nil
            if let place = state.member { neighbours.leave(place) }
            state.member = nil
            member.store(0, ordering: .relaxed)
        }
    }

    /// An own write has begun and has looked for other processes' commits.
    @inline(__always)
    func noteOwnWrite() { ownWrites.count.wrappingAdd(1, ordering: .sequentiallyConsistent) }

    /// An own write has committed: neighbours in this process are told.
    @inline(__always)
    func noteOwnCommit() {
        let member = member.load(ordering: .relaxed)
        neighbours.wake(except: member == 0 ? nil : member)
    }
}

/// How many own writes have begun.
private final class OwnWrites: Sendable {
    let count = Atomic<Int>(0)
}

/// Watching, from a start to its stop.
///
/// `@unchecked`: what is not constant is behind a lock, or atomic, or used on the queue alone once `init` has handed it
/// over.
private final class Session: @unchecked Sendable {
    private let queue = DispatchQueue(label: "tandem.foreign-commits", qos: .userInitiated)
    private let check: ForeignCommits.Check
    private let ownWrites: OwnWrites
    private let isStopped = Mutex(false)
    /// Whether a neighbour has committed since the last step.
    private let isWoken = Atomic<Bool>(false)

    // On the queue.
    private let timer: any DispatchSourceTimer
    private var changes: (any FileChanges)?
    private var series = CheckSeries()
    private var isResting = false

    init(
        logPath: String, ownWrites: OwnWrites, makeChanges: FileChangesMaker, check: @escaping ForeignCommits.Check
    ) {
        self.check = check
        self.ownWrites = ownWrites
        timer = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
        timer.setEventHandler { [weak self] in self?.step() }
        timer.activate()
        // Here, not on the queue: what happens after the start is told of. Until the first series has ended `begin`
        // touches nothing.
        changes = makeChanges(logPath, queue) { [weak self] in self?.begin() }
        queue.async { self.startSeries() }
    }

    func stop() {
        isStopped.withLock { $0 = true }
        queue.async {
            self.timer.cancel()
            self.changes?.cancel()
            self.changes = nil
        }
    }

    /// A neighbour has committed.
    func wake() {
        guard !isWoken.exchange(true, ordering: .acquiringAndReleasing) else { return }
        queue.async { self.begin() }
    }

    // MARK: On the queue

    private var isOver: Bool { isStopped.withLock { $0 } }

    /// Begins a series if something has changed. While one is under way its next step finds out.
    private func begin() {
        guard isResting, !isOver, takeChanges() else { return }
        startSeries()
    }

    private func startSeries() {
        isResting = false
        // Until the series ends its steps ask for changes themselves: a busy writer does not wake us each time.
        changes?.pause()
        schedule(series.begin(ownWrites: ownWritesBegun, at: Self.now))
    }

    private func step() {
        guard !isOver else { return }
        let hasChanged = takeChanges()
        switch series.step(hasChanged: hasChanged, ownWrites: ownWritesBegun, at: Self.now) {
        case .check:
            // From here on this check is under way.
            guard !isOver else { return }
            let foreign = check()
            if let delay = series.checked(foreign, at: Self.now) { schedule(delay) } else { rest() }
        case .wait(let delay): schedule(delay)
        case .rest: rest()
        }
    }

    private func rest() {
        isResting = true
        if let changes, changes.isWatching {
            changes.resume()
            if isWoken.load(ordering: .acquiring) { begin() }
        } else {
            schedule(CheckSeries.blindPause)
        }
    }

    private func takeChanges() -> Bool {
        let isWoken = isWoken.exchange(false, ordering: .acquiringAndReleasing)
        return changes?.takeChanges() != false || isWoken
    }

    /// Read after changes were taken. An own write that ended before a foreign one raised a change is counted by then:
    /// the lock went from the one to the other in between.
    private var ownWritesBegun: Int { ownWrites.count.load(ordering: .sequentiallyConsistent) }

    private func schedule(_ delay: Duration) {
        guard !isOver else { return }
        let (seconds, attoseconds) = delay.components
        let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
        timer.schedule(deadline: .now() + .nanoseconds(nanoseconds), leeway: .nanoseconds(0))
    }

    private static var now: Duration { .nanoseconds(Int64(DispatchTime.now().uptimeNanoseconds)) }
}

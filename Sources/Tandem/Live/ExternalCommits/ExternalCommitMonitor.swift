import Dispatch
import Foundation
import Synchronization

/// A monitor for commits of other processes, or of another `Store` of this process. It watches the store's log file.
///
/// It does not report commits itself. It calls `check`, on its own serial queue, whenever there may be a new commit.
/// While the file does not change, nothing runs: there is neither a thread nor a timer. ``PollingSchedule`` decides on
/// the times.
///
/// Requirements:
/// - `check` **first** calls ``Connection/externalTransactions``, and then reads `PRAGMA data_version`. It handles new
///   commits, and returns the result of the first call, or ``ExternalTransactions/unknown`` if the check failed.
/// - A write of this store calls ``recordOwnWrite()`` after it has begun (`BEGIN IMMEDIATE`) and has read
///   `data_version` itself. It calls ``recordOwnCommit()`` after its commit.
final class ExternalCommitMonitor: Sendable {
    typealias Check = @Sendable () -> ExternalTransactions

    private struct State {
        var session: Session?
        var member: Int?
    }

    private let logPath: String
    private let check: Check
    private let makeChanges: FileChangesMaker
    private let instances: StoreInstances
    private let ownWrites = OwnWrites()
    private let state = Mutex(State())
    /// The number of this store among its neighbors, or 0. It is read at each commit.
    private let member = Atomic<Int>(0)

    /// - Parameters:
    ///   - path: The store's path. The store must exist.
    ///   - check: Checks for commits. It may use the writer and wait for it, and may call ``stop()``.
    init(path: String, makeChanges: @escaping FileChangesMaker = systemFileChanges, check: @escaping Check) {
        logPath = Self.logPath(ofStoreAt: path)
        instances = .of(path)
        self.makeChanges = makeChanges
        self.check = check
    }

    deinit { stop() }

    /// Returns the path of a store's log. SQLite keeps it beside the file itself, and not beside a link to it.
    static func logPath(ofStoreAt path: String) -> String {
        let real = realpath(path, nil)
        defer { free(real) }
        return (real.map { String(cString: $0) } ?? path) + "-wal"
    }

    /// Starts the monitor. Does nothing if it is already running.
    ///
    /// Later commits are detected. `check` is also called once soon, for a commit that is already in progress.
    func start() {
        state.withLock { state in
            guard state.session == nil else { return }
            let session = Session(logPath: logPath, ownWrites: ownWrites, makeChanges: makeChanges, check: check)
            state.session = session
            let place = instances.join { [weak session] in session?.wake() }
            state.member = place
            member.store(place, ordering: .relaxed)
        }
    }

    /// Stops the monitor. ``start()`` starts it again.
    ///
    /// It returns at once. A running `check` continues, because it may have called this function, or may wait for a
    /// lock of the caller. No check begins after that.
    func stop() {
        state.withLock { state in
            state.session?.stop()
            state.session = nil
            if let place = state.member { instances.leave(place) }
            state.member = nil
            member.store(0, ordering: .relaxed)
        }
    }

    /// Notes that an own write has begun and has checked for commits of other processes.
    @inline(__always)
    func recordOwnWrite() { ownWrites.count.wrappingAdd(1, ordering: .sequentiallyConsistent) }

    /// Notes that an own write has committed, and wakes the neighbors in this process.
    @inline(__always)
    func recordOwnCommit() {
        let member = member.load(ordering: .relaxed)
        instances.wake(except: member == 0 ? nil : member)
    }
}

/// The number of own writes that have begun.
private final class OwnWrites: Sendable {
    let count = Atomic<Int>(0)
}

/// A running monitor, from start to stop.
///
/// Proof of `@unchecked Sendable`: its variables are protected by a lock, or atomic, or used only on the queue after
/// `init`.
private final class Session: @unchecked Sendable {
    private let queue = DispatchQueue(label: "tandem.foreign-commits", qos: .userInitiated)
    private let check: ExternalCommitMonitor.Check
    private let ownWrites: OwnWrites
    private let isStopped = Mutex(false)
    /// Whether a neighbor has committed since the last step.
    private let isWoken = Atomic<Bool>(false)

    // Used only on the queue.
    private let timer: any DispatchSourceTimer
    private var changes: (any FileChanges)?
    private var pollingSchedule = PollingSchedule()
    private var isResting = false

    init(
        logPath: String, ownWrites: OwnWrites, makeChanges: FileChangesMaker,
        check: @escaping ExternalCommitMonitor.Check
    ) {
        self.check = check
        self.ownWrites = ownWrites
        timer = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
        timer.setEventHandler { [weak self] in self?.step() }
        timer.activate()
        // This runs here and not on the queue, so that changes after the start are reported. `begin` does nothing until
        // the first series has ended.
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

    /// Notes that a neighbor has committed.
    func wake() {
        guard !isWoken.exchange(true, ordering: .acquiringAndReleasing) else { return }
        queue.async { self.begin() }
    }

    // MARK: On the queue

    private var isOver: Bool { isStopped.withLock { $0 } }

    /// Begins a series if something has changed. If a series is running, its next step detects the change.
    private func begin() {
        guard isResting, !isOver, consumeChanges() else { return }
        startSeries()
    }

    private func startSeries() {
        isResting = false
        // During the series, its steps query the changes themselves. A busy writer then does not wake this queue for
        // each change.
        changes?.pause()
        schedule(pollingSchedule.begin(ownWrites: ownWritesBegun, at: Self.now))
    }

    private func step() {
        guard !isOver else { return }
        let hasChanged = consumeChanges()
        switch pollingSchedule.step(hasChanged: hasChanged, ownWrites: ownWritesBegun, at: Self.now) {
        case .check:
            // From here on this check counts as running.
            guard !isOver else { return }
            let foreign = check()
            if let delay = pollingSchedule.checked(foreign, at: Self.now) { schedule(delay) } else { rest() }
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
            schedule(PollingSchedule.blindPause)
        }
    }

    private func consumeChanges() -> Bool {
        let isWoken = isWoken.exchange(false, ordering: .acquiringAndReleasing)
        return changes?.drainChanges() != false || isWoken
    }

    /// The number of own writes that have begun, read after the changes were drained.
    ///
    /// An own write may end before another process's write causes a change. Such an own write is already counted,
    /// because the lock passed from one to the other in between.
    private var ownWritesBegun: Int { ownWrites.count.load(ordering: .sequentiallyConsistent) }

    private func schedule(_ delay: Duration) {
        guard !isOver else { return }
        let (seconds, attoseconds) = delay.components
        let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
        timer.schedule(deadline: .now() + .nanoseconds(nanoseconds), leeway: .nanoseconds(0))
    }

    private static var now: Duration { .nanoseconds(Int64(DispatchTime.now().uptimeNanoseconds)) }
}

import Foundation

/// The plan of the next sync. It uses no clock and no task: the caller passes the time and the events.
struct SchedulePlan {
    /// The next step.
    enum Step: Equatable {
        case sync(isAsked: Bool)
        /// Sync the tables that a poll has found to be changed.
        case pull
        /// Ask the server for the change tags of the tables.
        case poll
        /// Check the queue for operations that no sync has tried.
        case check
        /// Wait until the given time, or until an event.
        case wait(until: Date?)
    }

    private let options: SyncScheduler.Options
    private let random: @Sendable () -> UInt64
    private(set) var now: Date
    private(set) var isSyncing = false
    private var polls: PollPlan
    /// Whether the running sync pulls only some of the tables. The next sync of all tables does not become due later.
    private var isPartial = false
    /// The same of the sync that uploads files.
    private var isUploadPartial = false
    /// Whether a sync is running that has only files left to upload. It also sends changes made meanwhile.
    private var isUploading = false

    /// Whether the app has requested a sync.
    private var isAsked = false
    /// Whether the network has returned.
    private var isBack = false
    /// Whether the queue has operations that no sync has tried.
    private var hasNews = false
    private var startDue: Date?
    private var intervalDue: Date?
    private var retryDue: Date?
    /// The time at which the files that the last uploads left are due.
    private var filesDue: Date?
    /// The times of the first and last change of the queue.
    private var change: (first: Date, last: Date)?

    /// The end of the backoff.
    private var backoffEnd: Date?
    /// The end of the backoff for a problem that only the app can resolve. The return of the network does not end it.
    private var appEnd: Date?
    /// The end of the server's `Retry-After`.
    private var pauseEnd: Date?
    /// The end of the backoff that the server requested with a successful response.
    private var serverBackoffEnd: Date?
    /// The number of consecutive failed syncs.
    private var failures = 0
    /// The number of syncs with unfinished work since the last complete one.
    private var remainders = 0
    private var lastEnd: Date?

    private var network: NetworkState
    /// Whether a sync has succeeded while the network was reported as down.
    private var distrustsNetwork = false

    /// The pause after a sync, in seconds. It ignores shorter changes of state.
    private static let pauseAfterSync: TimeInterval = 1

    init(
        _ options: SyncScheduler.Options, network: NetworkState, at now: Date, random: @escaping @Sendable () -> UInt64
    ) {
        self.options = options
        self.network = network
        self.now = now
        polls = PollPlan(options.polling, at: now)
        self.random = random
        if options.syncsAtStart { startDue = now }
        intervalDue = options.interval.map { now + max(0, $0.seconds) }
    }

    // MARK: Events

    /// Sets the time.
    ///
    /// If the clock was set back, due times move along. So nothing waits for a past day to come again.
    mutating func advance(to date: Date) {
        let step = date.timeIntervalSince(now)
        now = date
        guard step < 0 else { return }
        func moved(_ date: Date?) -> Date? { date.map { $0 + step } }
        (startDue, intervalDue, retryDue) = (moved(startDue), moved(intervalDue), moved(retryDue))
        filesDue = moved(filesDue)
        polls.move(by: step)
        (backoffEnd, appEnd) = (moved(backoffEnd), moved(appEnd))
        (pauseEnd, lastEnd) = (moved(pauseEnd), moved(lastEnd))
        change = change.map { ($0.first + step, $0.last + step) }
    }

    /// Records the server's `Retry-After`, whichever request received it.
    mutating func recordPause(until date: Date?) {
        if let date { pauseEnd = max(pauseEnd ?? date, date) }
    }

    /// Records the current end of the backoff that the server requested with a successful response; `nil` if there is
    /// none.
    mutating func recordServerBackoff(until date: Date?) { serverBackoffEnd = date }

    mutating func ask() { isAsked = true }

    mutating func recordChange() { change = (change?.first ?? now, now) }

    /// Records the result of a check of the queue.
    mutating func checked(hasNews: Bool) {
        change = nil
        self.hasNews = hasNews
    }

    mutating func update(_ state: NetworkState) {
        guard state != network else { return }
        let wasBlocked = isBlockedByCost
        let isBetter = state.reach > network.reach
        network = state
        distrustsNetwork = false
        guard isBetter || wasBlocked, state.isUp, !isBlockedByCost else { return }
        isBack = true
        failures = 0
        backoffEnd = nil
    }

    /// - Parameter isPartial: Whether the sync pulls only the tables that a poll has found to be changed.
    mutating func began(isPartial: Bool = false) {
        isSyncing = true
        self.isPartial = isPartial
        polls.beganSync()
        if isPartial {
            // It sends all changes.
            (hasNews, change) = (false, nil)
            return
        }
        (isAsked, isBack, hasNews) = (false, false, false)
        (startDue, intervalDue, retryDue, filesDue, change) = (nil, nil, nil, nil, nil)
    }

    /// Records that the sync has only files left to upload. Another sync may begin.
    mutating func beganUploads() {
        (isSyncing, isUploading) = (false, true)
        (isPartial, isUploadPartial) = (false, isPartial)
        lastEnd = now
        if !isUploadPartial { intervalDue = options.interval.map { now + max(0, $0.seconds) } }
    }

    /// Records that the sync that uploaded files has ended. Another sync may be running.
    mutating func endedUploads(_ outcome: SyncOutcome) {
        let (wasSyncing, wasPartial) = (isSyncing, isPartial)
        isPartial = isUploadPartial
        ended(outcome)
        (isSyncing, isPartial) = (wasSyncing, wasPartial)
        (isUploading, isUploadPartial) = (false, false)
        filesDue = outcome.nextDue
    }

    mutating func ended(_ outcome: SyncOutcome) {
        // After a partial sync, the other tables are still due as before.
        let earlierRetry = isPartial ? retryDue : nil
        let wasPartial = isPartial
        (isSyncing, isPartial) = (false, false)
        lastEnd = now
        polls.endedSync(outcome.kind)
        if !wasPartial { intervalDue = options.interval.map { now + max(0, $0.seconds) } }
        // Changes made meanwhile count as if they had been made now.
        if change != nil { change = (now, now) }
        (backoffEnd, appEnd, retryDue) = (nil, nil, nil)
        switch outcome.kind {
        case .fine where wasPartial: failures = 0
        case .fine:
            (failures, remainders) = (0, 0)
            isBack = false
        case .leftOver:
            failures = 0
            remainders += 1
            retryDue = now + delay(after: remainders)
        case .failed:
            failures += 1
            backoffEnd = now + delay(after: failures)
        case .needsApp: appEnd = now + max(0, options.longestRetry.seconds)
        }
        if outcome.kind == .fine || outcome.kind == .leftOver {
            distrustsNetwork = !network.isUp
            // Otherwise no response since then has ended the server's pause.
            pauseEnd = nil
        }
        let asked = [outcome.retryAfter.map { now + $0.seconds }, outcome.retryAt].compactMap { $0 }.max()
        if let asked { pauseEnd = min(asked, now + RetryPolicy.longestPause) }
        if let end = backoffEnd ?? appEnd { retryDue = end }
        for next in [outcome.nextDue, earlierRetry].compactMap({ $0 }) { retryDue = min(retryDue ?? next, next) }
    }

    mutating func beganPoll() { polls.began() }

    /// - Parameter hasPull: Whether tables have to be pulled.
    mutating func endedPoll(_ outcome: PollPlan.Outcome, hasPull: Bool) {
        polls.ended(outcome, hasPull: hasPull, at: now)
    }

    /// Returns the delay after a number of failures. Half of it is random.
    private func delay(after failures: Int) -> TimeInterval {
        let first = max(0, options.firstRetry.seconds)
        let longest = min(max(0, options.longestRetry.seconds), first * pow(2, Double(min(failures - 1, 60))))
        return longest * (1 - 0.5 * Double(random() >> 11) * 0x1p-53)
    }

    // MARK: Due steps

    private var isBlockedByCost: Bool { network.isMetered && !options.allowsMetered }
    private var isDown: Bool { !network.isUp && !distrustsNetwork }

    /// Returns the step to take now.
    func next() -> Step {
        guard !isSyncing else { return .wait(until: nil) }
        if isAsked { return .sync(isAsked: true) }
        let (sync, check) = (syncDue, checkDue)
        if let sync, sync <= now { return .sync(isAsked: false) }
        if let check, check <= now { return .check }
        let (pull, poll) = (pullDue, pollDue)
        if let pull, pull <= now { return .pull }
        if let poll, poll <= now { return .poll }
        return .wait(until: [sync, check, pull, poll].compactMap { $0 }.min())
    }

    /// The time of the next known sync.
    private var syncDue: Date? {
        guard !isBlockedByCost else { return nil }
        var dates = [startDue, intervalDue]
        if !isDown {
            dates += [retryDue, filesDue]
            if hasNews { dates.append(now) }
            if isBack { dates.append(now) }
        }
        return dates.compactMap { $0 }.min().map(afterPauses)
    }

    private var checkDue: Date? {
        guard !isBlockedByCost, !isDown, !isUploading, let change else { return nil }
        let quiet = change.last + max(0, options.debounce.seconds)
        return afterPauses(min(quiet, change.first + max(0, options.debounceCeiling.seconds)))
    }

    private var pullDue: Date? {
        guard !isBlockedByCost, !isDown, polls.isPullDue else { return nil }
        return afterPauses(now)
    }

    private var pollDue: Date? {
        guard !isBlockedByCost, !isDown else { return nil }
        return polls.nextPoll.map(afterPauses)
    }

    private func afterPauses(_ date: Date) -> Date {
        // The network has returned during a sync that failed without it.
        let backoff = isBack ? nil : backoffEnd
        // Options with zero durations must not cause syncs without a pause.
        let rest = lastEnd.map { $0 + Self.pauseAfterSync }
        return [date, backoff, appEnd, pauseEnd, serverBackoffEnd, rest].compactMap { $0 }.max() ?? date
    }

    var state: SyncScheduler.State {
        if isSyncing || isUploading { return .syncing }
        if isBlockedByCost { return .waitingForUnmeteredNetwork }
        if isDown { return .waitingForNetwork }
        return .waiting(until: syncDue)
    }
}

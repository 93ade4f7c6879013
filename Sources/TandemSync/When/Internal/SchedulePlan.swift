import Foundation

/// When the next sync is due. Knows no clock and no task: it is told the time, and what has happened.
struct SchedulePlan {
    /// What is to be done.
    enum Step: Equatable {
        case sync(isAsked: Bool)
        /// The queue is to be looked at, whether it has anything that no sync has tried.
        case look
        /// Nothing until that time, or until something happens.
        case wait(until: Date?)
    }

    private let options: SyncScheduler.Options
    private let random: @Sendable () -> UInt64
    private(set) var now: Date
    private(set) var isSyncing = false
    /// Whether a sync goes on that has only files left to upload. It sends what is changed meanwhile.
    private var isUploading = false

    /// The app wants a sync.
    private var isAsked = false
    /// The network is back.
    private var isBack = false
    /// The queue has something that no sync has tried.
    private var hasNews = false
    private var startDue: Date?
    private var intervalDue: Date?
    private var retryDue: Date?
    /// When the files are due that the last uploads have left.
    private var filesDue: Date?
    /// The queue has changed, first and last.
    private var change: (first: Date, last: Date)?

    /// Until when trying is in vain.
    private var backoffEnd: Date?
    /// Until when trying is in vain, unless the app does something: no network helps.
    private var appEnd: Date?
    /// Until when the server wants to be left alone.
    private var pauseEnd: Date?
    /// How many syncs in a row have failed.
    private var failures = 0
    /// How many since the last one that was fine have left something over.
    private var remainders = 0
    private var lastEnd: Date?

    private var network: NetworkState
    /// Whether the network was said to be down, and a sync has succeeded.
    private var distrustsNetwork = false

    /// What comes back and goes again within a second is not run after.
    private static let pauseAfterSync: TimeInterval = 1

    init(
        _ options: SyncScheduler.Options, network: NetworkState, at now: Date, random: @escaping @Sendable () -> UInt64
    ) {
        self.options = options
        self.network = network
        self.now = now
        self.random = random
        if options.syncsAtStart { startDue = now }
        intervalDue = options.interval.map { now + max(0, $0.seconds) }
    }

    // MARK: What happens

    /// Sets the time. A clock that was set back takes along what is due: nothing is to wait for a day to come again.
    mutating func advance(to date: Date) {
        let step = date.timeIntervalSince(now)
        now = date
        guard step < 0 else { return }
        func moved(_ date: Date?) -> Date? { date.map { $0 + step } }
        (startDue, intervalDue, retryDue) = (moved(startDue), moved(intervalDue), moved(retryDue))
        filesDue = moved(filesDue)
        (backoffEnd, appEnd) = (moved(backoffEnd), moved(appEnd))
        (pauseEnd, lastEnd) = (moved(pauseEnd), moved(lastEnd))
        change = change.map { ($0.first + step, $0.last + step) }
    }

    /// The server has asked to be left alone until then, whoever it was that asked it.
    mutating func notePause(until date: Date?) {
        if let date { pauseEnd = max(pauseEnd ?? date, date) }
    }

    mutating func ask() { isAsked = true }

    mutating func noteChange() { change = (change?.first ?? now, now) }

    /// The queue was looked at.
    mutating func looked(hasNews: Bool) {
        change = nil
        self.hasNews = hasNews
    }

    mutating func note(_ state: NetworkState) {
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

    mutating func began() {
        isSyncing = true
        (isAsked, isBack, hasNews) = (false, false, false)
        (startDue, intervalDue, retryDue, filesDue, change) = (nil, nil, nil, nil, nil)
    }

    /// The sync has only files left to upload: another one may begin.
    mutating func beganUploads() {
        (isSyncing, isUploading) = (false, true)
        lastEnd = now
        intervalDue = options.interval.map { now + max(0, $0.seconds) }
    }

    /// The sync that has uploaded files is over. Another one may be running.
    mutating func endedUploads(_ verdict: SyncVerdict) {
        let wasSyncing = isSyncing
        ended(verdict)
        (isSyncing, isUploading) = (wasSyncing, false)
        filesDue = verdict.nextDue
    }

    mutating func ended(_ verdict: SyncVerdict) {
        isSyncing = false
        lastEnd = now
        intervalDue = options.interval.map { now + max(0, $0.seconds) }
        // What has changed meanwhile is looked at as if it had just now.
        if change != nil { change = (now, now) }
        (backoffEnd, appEnd, retryDue) = (nil, nil, nil)
        switch verdict.kind {
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
        if verdict.kind == .fine || verdict.kind == .leftOver {
            distrustsNetwork = !network.isUp
            // Else it has not been heard since that it may be asked again.
            pauseEnd = nil
        }
        let asked = [verdict.retryAfter.map { now + $0.seconds }, verdict.retryAt].compactMap { $0 }.max()
        if let asked { pauseEnd = min(asked, now + RetryPolicy.longestPause) }
        if let end = backoffEnd ?? appEnd { retryDue = end }
        if let next = verdict.nextDue { retryDue = min(retryDue ?? next, next) }
    }

    /// How long to wait after so many failures: half of it is by lot.
    private func delay(after failures: Int) -> TimeInterval {
        let first = max(0, options.firstRetry.seconds)
        let longest = min(max(0, options.longestRetry.seconds), first * pow(2, Double(min(failures - 1, 60))))
        return longest * (1 - 0.5 * Double(random() >> 11) * 0x1p-53)
    }

    // MARK: What is due

    private var isBlockedByCost: Bool { network.isMetered && !options.allowsMetered }
    private var isDown: Bool { !network.isUp && !distrustsNetwork }

    /// What is to be done now.
    func next() -> Step {
        guard !isSyncing else { return .wait(until: nil) }
        if isAsked { return .sync(isAsked: true) }
        let (sync, look) = (syncDue, lookDue)
        if let sync, sync <= now { return .sync(isAsked: false) }
        if let look, look <= now { return .look }
        return .wait(until: [sync, look].compactMap { $0 }.min())
    }

    /// When the next sync is due that is known of.
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

    private var lookDue: Date? {
        guard !isBlockedByCost, !isDown, !isUploading, let change else { return nil }
        let quiet = change.last + max(0, options.debounce.seconds)
        return afterPauses(min(quiet, change.first + max(0, options.debounceCeiling.seconds)))
    }

    private func afterPauses(_ date: Date) -> Date {
        // The network has come back during a sync that failed for the lack of it.
        let backoff = isBack ? nil : backoffEnd
        // Options of no time at all are not to make one sync after the other without a pause.
        let rest = lastEnd.map { $0 + Self.pauseAfterSync }
        return [date, backoff, appEnd, pauseEnd, rest].compactMap { $0 }.max() ?? date
    }

    var state: SyncScheduler.State {
        if isSyncing || isUploading { return .syncing }
        if isBlockedByCost { return .waitingForUnmeteredNetwork }
        if isDown { return .waitingForNetwork }
        return .waiting(until: syncDue)
    }
}

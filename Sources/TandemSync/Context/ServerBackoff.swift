import Foundation
import Synchronization
import Tandem

/// The end of the server's `Retry-After`, and of the backoff that it requests with a successful response. They apply to
/// all exchanges of a context, whichever table received them.
///
/// `Retry-After` applies to pushes, pulls and schedulers. The backoff of a response only delays the next sync or poll
/// of a scheduler. A running sync goes on, because it would never reach its last table if each response ended it.
final class ServerBackoff: Sendable {
    private struct Period {
        var since = Date.distantPast
        var until: Date?

        /// The largest correction of the clock in seconds that is ignored. A clock that is set back further would
        /// prolong each pause.
        static let slack: Double = 60

        mutating func extend(to end: Date, at now: Date) { (since, until) = (now, max(until ?? end, end)) }

        mutating func end(at now: Date) -> Date? {
            if let end = until, end <= now || now < since - Self.slack { until = nil }
            return until
        }
    }

    private struct State {
        var pause = Period()
        var backoff = Period()
    }

    private let state = Mutex(State())

    /// Returns the end of a delay that a server requested, after at most a day.
    static func end(of delay: Duration, at now: Date) -> Date { now + min(delay.seconds, RetryPolicy.longestPause) }

    /// Records a pause that the server requested.
    func record(until end: Date, at now: Date) {
        state.withLock { $0.pause.extend(to: end, at: now) }
    }

    /// Returns the end of the pause, for a sync that begins; `nil` if there is none.
    func end(at now: Date) -> Date? {
        state.withLock { $0.pause.end(at: now) }
    }

    /// Records the backoff of a successful response; `nil` if the response has none.
    func record(backoff: Duration?, at now: Date) {
        guard let backoff, backoff > .zero else { return }
        state.withLock { $0.backoff.extend(to: Self.end(of: backoff, at: now), at: now) }
    }

    /// Returns the end of the backoff for a scheduler's own requests; `nil` if there is none.
    func backoffEnd(at now: Date) -> Date? {
        state.withLock { $0.backoff.end(at: now) }
    }

    /// Returns the remaining seconds of the pause, for a waiting sync.
    ///
    /// - Parameter longest: The maximum to return if the clock was set back meanwhile.
    func secondsLeft(at now: Date, atMost longest: Double) -> Double {
        state.withLock { state in
            guard let until = state.pause.until else { return 0 }
            if now < state.pause.since - Period.slack {
                state.pause = Period(since: now, until: min(until, now + longest))
            }
            return state.pause.until.map { $0.timeIntervalSince(now) } ?? 0
        }
    }
}

extension SyncContext {
    /// Waits until requests are allowed, or ends the sync. A requested sync waits for a short pause. A scheduler
    /// retries by itself.
    ///
    /// - Throws: ``SyncError/Code/later``; `CancellationError`.
    func waitOutPause(for coder: ItemCoder) async throws {
        while pause.end(at: options.clock.now()) != nil {
            if let error = pauseError(for: coder) { throw error }
            let left = pause.secondsLeft(at: options.clock.now(), atMost: options.retry.ceiling.seconds)
            if left > 0 { try await options.clock.sleep(for: .seconds(left)) }
        }
    }

    /// Returns the error if requests for a table are not allowed now; `nil` if they are, possibly after a short wait.
    func pauseError(for coder: ItemCoder?) -> SyncError? {
        let now = options.clock.now()
        guard let end = pause.end(at: now),
            ScheduledRun.isAutomatic || end.timeIntervalSince(now) > options.retry.ceiling.seconds
        else { return nil }
        return SyncError(
            .later, message: "The server accepts no requests until \(end).", advice: "Sync again then.",
            table: coder?.table.rawValue, url: coder?.url, retryAt: end)
    }

    /// Returns the error to throw for a failed exchange, and applies its `Retry-After`.
    func thrown(for failure: RemoteFailure, coder: ItemCoder) -> any Error {
        let thrown = SyncError.thrown(for: failure, coder: coder)
        guard case .later(_, let delay?) = failure, delay > .zero, var error = thrown as? SyncError else {
            return thrown
        }
        let now = options.clock.now()
        let end = ServerBackoff.end(of: delay, at: now)
        pause.record(until: end, at: now)
        error.retryAt = end
        return error
    }
}

import Foundation
import Synchronization
import Tandem

/// The end of the server's `Retry-After`. It applies to all exchanges of a context: pushes, pulls and schedulers,
/// whichever table received it.
final class ServerBackoff: Sendable {
    private struct State {
        var since = Date.distantPast
        var until: Date?
    }

    private let state = Mutex(State())

    /// The largest correction of the clock in seconds that is ignored. A clock that is set back further would prolong
    /// each pause.
    private static let slack: Double = 60

    /// Returns the end of a delay that a server requested, after at most a day.
    static func end(of delay: Duration, at now: Date) -> Date { now + min(delay.seconds, RetryPolicy.longestPause) }

    /// Records a pause that the server requested.
    func record(until end: Date, at now: Date) {
        state.withLock { state in (state.since, state.until) = (now, max(state.until ?? end, end)) }
    }

    /// Returns the end of the pause, for a sync that begins; `nil` if there is none.
    func end(at now: Date) -> Date? {
        state.withLock { state in
            if let until = state.until, until <= now || now < state.since - Self.slack { state.until = nil }
            return state.until
        }
    }

    /// Returns the remaining seconds of the pause, for a waiting sync.
    ///
    /// - Parameter longest: The maximum to return if the clock was set back meanwhile.
    func secondsLeft(at now: Date, atMost longest: Double) -> Double {
        state.withLock { state in
            guard let until = state.until else { return 0 }
            if now < state.since - Self.slack { (state.since, state.until) = (now, min(until, now + longest)) }
            return state.until.map { $0.timeIntervalSince(now) } ?? 0
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
            .later, message: "The server has asked to be left alone until \(end).", advice: "Sync again then.",
            table: coder?.table.rawValue, url: coder?.url, retryAt: end)
    }

    /// Returns the error to throw for a failed exchange, and applies its `Retry-After`.
    func thrown(for failure: RemoteFailure, _ coder: ItemCoder) -> any Error {
        let thrown = SyncError.thrown(for: failure, coder)
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

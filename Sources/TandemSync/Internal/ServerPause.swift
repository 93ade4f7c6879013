import Foundation
import Synchronization
import Tandem

/// Until when the server wants to be left alone. It is one for all that a context exchanges with its server: whichever
/// table was told so, a push, a pull and a scheduler heed it.
final class ServerPause: Sendable {
    private struct State {
        var since = Date.distantPast
        var until: Date?
    }

    private let state = Mutex(State())

    /// By how many seconds a clock may be put right. One that is set back by more would make of each pause a longer one.
    private static let slack: Double = 60

    /// When a delay ends that a server has asked for: after a day at the latest.
    static func end(of delay: Duration, at now: Date) -> Date { now + min(delay.seconds, RetryPolicy.longestPause) }

    /// The server wants to be left alone until then.
    func note(until end: Date, at now: Date) {
        state.withLock { state in (state.since, state.until) = (now, max(state.until ?? end, end)) }
    }

    /// When the pause ends, for who is about to begin; `nil` if there is none.
    func end(at now: Date) -> Date? {
        state.withLock { state in
            if let until = state.until, until <= now || now < state.since - Self.slack { state.until = nil }
            return state.until
        }
    }

    /// How many seconds are left of the pause, for who waits for its end.
    ///
    /// - Parameter longest: The most that are left if the clock was set back meanwhile.
    func secondsLeft(at now: Date, atMost longest: Double) -> Double {
        state.withLock { state in
            guard let until = state.until else { return 0 }
            if now < state.since - Self.slack { (state.since, state.until) = (now, min(until, now + longest)) }
            return state.until.map { $0.timeIntervalSince(now) } ?? 0
        }
    }
}

extension SyncContext {
    /// Waits until the server may be asked, or ends the sync: for a short pause, and one that somebody has asked for, that
    /// is to wait; a scheduler comes back by itself.
    ///
    /// - Throws: ``SyncError/Code/later``; `CancellationError`.
    func waitOutPause(for forms: ItemForms) async throws {
        while pause.end(at: options.clock.now()) != nil {
            if let error = pauseError(for: forms) { throw error }
            let left = pause.secondsLeft(at: options.clock.now(), atMost: options.retry.ceiling.seconds)
            if left > 0 { try await options.clock.sleep(for: .seconds(left)) }
        }
    }

    /// Why the server can't be asked about a table now; `nil` if it can, at the latest after a short wait.
    func pauseError(for forms: ItemForms?) -> SyncError? {
        let now = options.clock.now()
        guard let end = pause.end(at: now),
            ScheduledRun.isAutomatic || end.timeIntervalSince(now) > options.retry.ceiling.seconds
        else { return nil }
        return SyncError(
            .later, "The server has asked to be left alone until \(end).", advice: "Sync again then.",
            table: forms?.table.rawValue, url: forms?.url, retryAt: end)
    }

    /// What to throw for an exchange that failed. What it says of when to come back is heeded from now on.
    func thrown(for failure: RemoteFailure, _ forms: ItemForms) -> any Error {
        let thrown = SyncError.thrown(for: failure, forms)
        guard case .later(_, let delay?) = failure, delay > .zero, var error = thrown as? SyncError else {
            return thrown
        }
        let now = options.clock.now()
        let end = ServerPause.end(of: delay, at: now)
        pause.note(until: end, at: now)
        error.retryAt = end
        return error
    }
}

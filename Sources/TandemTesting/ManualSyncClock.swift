import Foundation
import Synchronization
import TandemSync

/// A clock for a `SyncContext`, which only advances on demand. Sleeping tasks wait for that.
///
/// ```swift
/// let clock = ManualSyncClock()
/// var options = SyncContext.Options()
/// options.clock = clock
/// clock.advance(by: .seconds(5))
/// ```
public final class ManualSyncClock: SyncClock {
    private struct Sleeper {
        let id: Int
        let until: Date
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var date: Date
        var sleepers: [Sleeper] = []
        var lastID = 0
    }

    private let state: Mutex<State>

    /// Creates a clock.
    ///
    /// - Parameter date: The initial time, by default 2001-01-01 00:00 UTC.
    public init(_ date: Date = Date(timeIntervalSinceReferenceDate: 0)) {
        state = Mutex(State(date: date))
    }

    /// Returns the time of the clock.
    public func now() -> Date { state.withLock { $0.date } }

    /// Waits until the clock has advanced by a duration.
    ///
    /// - Parameter duration: The duration, by this clock.
    /// - Throws: `CancellationError`.
    public func sleep(for duration: Duration) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    guard duration > .zero else { return .success(()) }
                    state.sleepers.append(
                        Sleeper(id: id, until: state.date + duration.seconds, continuation: continuation))
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.sleepers.firstIndex { $0.id == id }.map { state.sleepers.remove(at: $0) }
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Advances the clock, and resumes the sleepers whose time has come.
    public func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.date += duration.seconds
            let woken = state.sleepers.filter { $0.until <= state.date }
            state.sleepers.removeAll { $0.until <= state.date }
            return woken
        }
        for sleeper in woken.sorted(by: { $0.until < $1.until }) { sleeper.continuation.resume() }
    }

    /// Corrects the clock to another time, as a user does. Sleepers are not resumed, and wait for the rest of their
    /// duration.
    public func jump(by duration: Duration) {
        state.withLock { state in
            state.date += duration.seconds
            state.sleepers = state.sleepers.map {
                Sleeper(id: $0.id, until: $0.until + duration.seconds, continuation: $0.continuation)
            }
        }
    }

    /// The wake-up times of the sleepers, earliest first.
    public var alarms: [Date] { state.withLock { $0.sleepers.map(\.until).sorted() } }
}

import Foundation
import Synchronization
import TandemSync

/// A clock for a `SyncContext` that stands still until it is told to go on: whoever waits, waits for that.
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

    /// - Parameter date: What the clock shows first; 2001-01-01 00:00 UTC if not said.
    public init(_ date: Date = Date(timeIntervalSinceReferenceDate: 0)) {
        state = Mutex(State(date: date))
    }

    public func now() -> Date { state.withLock { $0.date } }

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

    /// Sets the clock on, and wakes those who have waited for long enough.
    public func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.date += duration.seconds
            let woken = state.sleepers.filter { $0.until <= state.date }
            state.sleepers.removeAll { $0.until <= state.date }
            return woken
        }
        for sleeper in woken.sorted(by: { $0.until < $1.until }) { sleeper.continuation.resume() }
    }

    /// Sets the clock to another time, as somebody does who puts it right: those who wait are not woken by it, and wait
    /// for as long as they would have.
    public func jump(by duration: Duration) {
        state.withLock { state in
            state.date += duration.seconds
            state.sleepers = state.sleepers.map {
                Sleeper(id: $0.id, until: $0.until + duration.seconds, continuation: $0.continuation)
            }
        }
    }

    /// When those who wait are to be woken, the first one first.
    public var alarms: [Date] { state.withLock { $0.sleepers.map(\.until).sorted() } }
}

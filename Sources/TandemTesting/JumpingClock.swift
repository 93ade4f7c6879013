import Foundation
import TandemSync

/// A clock for a `SyncContext` on which nobody waits: who would, finds the time passed.
///
/// ```swift
/// let clock = ManualClock()
/// var options = SyncContext.Options()
/// options.clock = JumpingClock(clock)
/// ```
public struct JumpingClock: SyncClock {
    private let clock: ManualClock
    private let ahead: TimeInterval

    /// - Parameters:
    ///   - clock: The clock that is set on by each wait.
    ///   - ahead: By how many seconds this one is ahead of it; below 0 behind.
    public init(_ clock: ManualClock, ahead: TimeInterval = 0) {
        self.clock = clock
        self.ahead = ahead
    }

    /// What this clock shows.
    public func now() -> Date { clock.now().addingTimeInterval(ahead) }

    /// Sets the clock on.
    ///
    /// - Throws: `CancellationError`.
    public func sleep(for duration: Duration) async throws {
        try Task.checkCancellation()
        clock.advance(by: duration.seconds)
        // Others may come in between, as they would.
        await Task.yield()
    }
}

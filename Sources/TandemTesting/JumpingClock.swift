import Foundation
import TandemSync

/// A clock for a `SyncContext` without real waiting: each sleep advances the time and returns.
///
/// ```swift
/// let clock = ManualClock()
/// var options = SyncContext.Options()
/// options.clock = JumpingClock(clock)
/// ```
public struct JumpingClock: SyncClock {
    private let clock: ManualClock
    private let ahead: TimeInterval

    /// Creates a clock.
    ///
    /// - Parameters:
    ///   - clock: The clock that each sleep advances.
    ///   - ahead: The offset from that clock in seconds. A negative offset is behind it.
    public init(_ clock: ManualClock, ahead: TimeInterval = 0) {
        self.clock = clock
        self.ahead = ahead
    }

    /// Returns the time of this clock.
    public func now() -> Date { clock.now().addingTimeInterval(ahead) }

    /// Advances the clock.
    ///
    /// - Throws: `CancellationError`.
    public func sleep(for duration: Duration) async throws {
        try Task.checkCancellation()
        clock.advance(by: duration.seconds)
        // Yields, because other tasks may run during a sleep.
        await Task.yield()
    }
}

import Foundation
import Synchronization

/// A clock for the local times of changes, which only advances on demand.
///
/// ```swift
/// let clock = ManualClock()
/// var configuration = Store.Configuration()
/// configuration.now = clock.now
/// clock.advance(by: 60)
/// ```
public final class ManualClock: Sendable {
    private let date: Mutex<Date>

    /// Creates a clock.
    ///
    /// - Parameter date: The initial time, by default 2001-01-01 00:00 UTC.
    public init(_ date: Date = Date(timeIntervalSinceReferenceDate: 0)) {
        self.date = Mutex(date)
    }

    /// Returns the time of the clock, with the type of `Store.Configuration.now`.
    public var now: @Sendable () -> Date {
        { self.date.withLock { $0 } }
    }

    /// Advances the clock, or sets it back.
    ///
    /// - Parameter seconds: The number of seconds, negative to set the clock back.
    public func advance(by seconds: TimeInterval) {
        date.withLock { $0 += seconds }
    }
}

import Foundation
import Synchronization

/// A clock that stands still until it is told to go on, for the local times of changes.
///
/// ```swift
/// let clock = ManualClock()
/// var configuration = Store.Configuration()
/// configuration.now = clock.now
/// clock.advance(by: 60)
/// ```
public final class ManualClock: Sendable {
    private let date: Mutex<Date>

    /// - Parameter date: What the clock shows first; 2001-01-01 00:00 UTC if not said.
    public init(_ date: Date = Date(timeIntervalSinceReferenceDate: 0)) {
        self.date = Mutex(date)
    }

    /// What the clock shows, as `Store.Configuration.now` wants it.
    public var now: @Sendable () -> Date {
        { self.date.withLock { $0 } }
    }

    /// Sets the clock on, or back.
    ///
    /// - Parameter seconds: By how many seconds.
    public func advance(by seconds: TimeInterval) {
        date.withLock { $0 += seconds }
    }
}

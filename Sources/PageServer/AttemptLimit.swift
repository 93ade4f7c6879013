import Foundation
import Synchronization

/// A limit on wrong passwords: after five wrong ones within a minute, no attempt is accepted until the minute is over.
public final class AttemptLimit: Sendable {
    /// The number of wrong passwords in a period.
    public static let count = 5
    /// The period, in seconds.
    public static let period: TimeInterval = 60

    private let failures = Mutex<[Date]>([])
    private let now: @Sendable () -> Date

    /// Creates a limit.
    ///
    /// - Parameter now: The clock.
    public init(now: @escaping @Sendable () -> Date = { Date() }) {
        self.now = now
    }

    /// Counts an attempt as a wrong password until ``recordSuccess()`` is called. This also limits simultaneous
    /// attempts.
    ///
    /// - Returns: False if the limit is reached. The attempt is then not counted.
    public func beginAttempt() -> Bool {
        let now = now()
        return failures.withLock { failures in
            failures.removeAll { now.timeIntervalSince($0) >= Self.period }
            guard failures.count < Self.count else { return false }
            failures.append(now)
            return true
        }
    }

    /// Removes the latest attempt from the count, after a right password.
    public func recordSuccess() {
        failures.withLock { _ = $0.popLast() }
    }
}

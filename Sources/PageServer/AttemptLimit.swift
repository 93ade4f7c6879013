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

    /// Whether another attempt is accepted.
    public var isOpen: Bool {
        let now = now()
        return failures.withLock { failures in
            failures.removeAll { now.timeIntervalSince($0) >= Self.period }
            return failures.count < Self.count
        }
    }

    /// Records a wrong password.
    public func recordFailure() {
        let now = now()
        failures.withLock { failures in
            failures.append(now)
            if failures.count > Self.count { failures.removeFirst() }
        }
    }
}

import Foundation

/// A source of the time and of delays: the system's clock, or a test's.
public protocol SyncClock: Sendable {
    /// The local time.
    func now() -> Date
    /// Waits.
    ///
    /// - Parameter duration: The time to wait, by this clock.
    /// - Throws: `CancellationError`.
    func sleep(for duration: Duration) async throws
}

/// The system's clock.
public struct SystemSyncClock: SyncClock {
    /// Creates the clock of this device.
    public init() {}
    /// The current time of the system.
    public func now() -> Date { Date() }
    /// Waits by the clock of the system.
    ///
    /// - Parameter duration: The time to wait.
    /// - Throws: `CancellationError`.
    public func sleep(for duration: Duration) async throws { try await Task.sleep(for: duration) }
}

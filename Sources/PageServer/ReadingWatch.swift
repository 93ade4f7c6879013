import NIOCore
import Synchronization

/// Closes the connection of a browser that does not read.
public final class ReadingWatch: Sendable {
    private let channel: any Channel
    private let limit: Duration
    private let started = Mutex<ContinuousClock.Instant?>(nil)

    /// Creates a watch.
    ///
    /// - Parameters:
    ///   - channel: The connection.
    ///   - limit: The time in which the browser must read what is written.
    public init(_ channel: any Channel, limit: Duration) {
        self.channel = channel
        self.limit = limit
    }

    /// Runs a write, whose time is limited.
    ///
    /// - Parameter write: The write.
    /// - Throws: The error of the write.
    public func timing(_ write: () async throws -> Void) async throws {
        started.withLock { $0 = ContinuousClock.now }
        defer { started.withLock { $0 = nil } }
        try await write()
    }

    /// Checks the time of the current write until the task is cancelled.
    public func run() async {
        let interval = min(limit / 4, .seconds(1))
        while (try? await Task.sleep(for: interval)) != nil {
            guard let start = started.withLock({ $0 }), start.duration(to: ContinuousClock.now) > limit else {
                continue
            }
            // The write then throws, and the stream ends.
            channel.close(promise: nil)
            return
        }
    }
}

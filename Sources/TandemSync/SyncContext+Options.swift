import Foundation

extension SyncContext {
    /// How a context syncs.
    public struct Options: Sendable {
        /// A name of the server that stays the same when its address changes, such as "production". A store that was synced
        /// with a server of another name is not synced until the app has chosen what becomes of its data:
        /// ``SyncContext/adopt(_:)``. `nil` for none: then the store goes with any server.
        public var serverName: String?
        /// How many requests of a push are under way at a time, 1 to 64. At 1 the order is the queue's; else what failed
        /// in an earlier push goes behind what did not.
        public var inFlight = 8
        /// How many files are uploaded at a time, 1 to 16. They go when the objects have gone.
        public var uploadsInFlight = 2
        /// Whether the server puts the URL of an uploaded file into its objects itself. If not, it is sent as an update.
        /// The URL of a file that replaces another one is always sent.
        public var serverSetsFileURLs = false
        /// Whether files are deleted on the server when the server has acknowledged the delete of their objects, or the URL
        /// of a file that replaced them, and no other object on this device uses them.
        ///
        /// Objects that are not on this device are not considered. A file removed from a list of attachments stays. A
        /// file whose upload was never acknowledged is deleted even without this option.
        public var deletesFiles = false
        /// The most bytes of a file that is downloaded without its size being known: a row that names a URL alone says
        /// nothing of it, and a server may send without end. What has a known size is held against that.
        public var downloadLimit: Int64 = 4 << 30
        /// How many items a page of a pull is asked to have, at least 1.
        public var pageSize = 100
        /// The most pages that one pull may take: past it a server is thought to never end.
        public var pageLimit = 100_000
        /// How late a server may commit: a change may appear with a time that much older than the newest.
        public var overlap: Duration = .seconds(30)
        /// How often, and when, a request that may succeed is repeated within one push.
        public var retry = RetryPolicy()
        /// How long a sync waits for one of another process to end, and a push for uploads of another process.
        public var patience: Duration = .seconds(30)
        /// The local time and waiting.
        public var clock: any SyncClock = SystemSyncClock()
        /// Where the jitter of delays comes from.
        public var random: @Sendable () -> UInt64 = { UInt64.random(in: 0...UInt64.max) }
        /// Sees each step of a push, and may cut it there by throwing: for tests.
        package var onPushStep: (@Sendable (PushStep) async throws -> Void)?
        /// Sees each step of an upload, and may cut it there by throwing: for tests.
        package var onFileStep: (@Sendable (FileStep) async throws -> Void)?
        /// How long the last bytes of an upload without an answer may be on their way, in seconds: a server that is asked to
        /// delete the file sooner may have it a moment later.
        package var arrival: TimeInterval = 10

        /// As a context syncs if it is told nothing.
        public init() {}
    }
}

/// When a request that may succeed is repeated within one push or one pull.
///
/// Between pushes nothing is waited for but what the server asks for by `Retry-After`: the next push tries anew, however
/// soon it is begun. A ``SyncScheduler`` waits ever longer; an app that pushes by itself sees to that.
public struct RetryPolicy: Sendable, Hashable {
    /// Attempts per operation in one push, and per page in one pull; at least 1.
    public var tries = 3
    /// The first delay, before jitter.
    public var first: Duration = .milliseconds(500)
    /// The longest delay, and the longest `Retry-After` that one push or pull waits for.
    public var ceiling: Duration = .seconds(30)

    /// No server may have anything left alone for longer, in seconds: a slip of its own would else silence every device
    /// for good.
    static let longestPause: Double = 86_400

    /// Three tries, half a second apart at first, half a minute at most.
    public init() {}
}

/// The time, and waiting: the system's, or a test's.
public protocol SyncClock: Sendable {
    /// The local time.
    func now() -> Date
    /// Waits.
    ///
    /// - Throws: `CancellationError`.
    func sleep(for duration: Duration) async throws
}

/// The system's clock.
public struct SystemSyncClock: SyncClock {
    /// The clock of this device.
    public init() {}
    public func now() -> Date { Date() }
    public func sleep(for duration: Duration) async throws { try await Task.sleep(for: duration) }
}

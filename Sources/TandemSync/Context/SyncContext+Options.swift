import Foundation

extension SyncContext {
    /// The options of a sync context.
    public struct Options: Sendable {
        /// The name of the server, for example "production". It stays the same when the server's address changes. A
        /// store that was synced with a server of another name does not sync until the app calls
        /// ``SyncContext/adopt(_:)``. With `nil`, the store syncs with any server.
        public var serverName: String?
        /// The number of requests that a push has in flight at a time, 1 to 64.
        ///
        /// At 1 the push follows the order of the queue. Otherwise operations that failed in an earlier push come after
        /// the rest. If the server accepts batches, one batch or single write is in flight at a time. The others are
        /// prepared or stored meanwhile.
        public var inFlight = 8
        /// The number of files that are uploaded at a time, 1 to 16. Files are uploaded after the objects are sent.
        public var uploadsInFlight = 2
        /// Whether the server sets the URL of an uploaded file in its objects itself. If not, the context sends the URL
        /// as an update. The context always sends the URL of a file that replaces another one.
        public var serverSetsFileURLs = false
        /// Whether to delete files on the server that no other object on this device uses.
        ///
        /// A file is deleted after the server acknowledges the delete of its object. A replaced file is deleted after
        /// the server acknowledges the URL of the new file.
        ///
        /// The context does not consider objects that are not on this device. A file that is removed from a list of
        /// attachments stays. A file whose upload was never acknowledged is deleted even without this option.
        public var deletesFiles = false
        /// The maximum number of bytes to download for a file of unknown size. A row that only names a URL does not
        /// tell the size, and a server may send without end. If the size is known, the download is limited to that
        /// size.
        public var downloadLimit: Int64 = 4 << 30
        /// The number of items to request for a page of a pull, at least 1.
        public var pageSize = 100
        /// The maximum number of pages in one pull. A server that exceeds it is assumed never to end.
        public var pageLimit = 100_000
        /// The longest delay of a commit on the server. A change may appear with a time that is older than the newest
        /// by this much.
        public var overlap: Duration = .seconds(30)
        /// The policy for retries of a request within one push or pull.
        public var retry = RetryPolicy()
        /// The time that a sync waits for a sync of another process, and a push for uploads of another process.
        public var patience: Duration = .seconds(30)
        /// The clock for the local time and for delays.
        public var clock: any SyncClock = SystemSyncClock()
        /// The source of the jitter in delays.
        public var random: @Sendable () -> UInt64 = { UInt64.random(in: 0...UInt64.max) }
        /// The number of items after which a pull requests the next page while it stores the last one. It includes the
        /// items of the page that is being stored. A shorter pull would gain little.
        package var itemsBeforePagesAhead = 500
        /// Observes each step of a push. A test can interrupt the push there by throwing.
        package var onPushStep: (@Sendable (PushStep) async throws -> Void)?
        /// Observes each step of an upload. A test can interrupt the upload there by throwing.
        package var onFileStep: (@Sendable (FileStep) async throws -> Void)?

        /// Creates options with the default values.
        public init() {}
    }
}

import Foundation
import Tandem

/// The activity of a context, and its remaining work.
public struct SyncStatus: Hashable, Sendable {
    /// The activity of a running sync.
    public enum Activity: Hashable, Sendable {
        /// Changes are being sent.
        ///
        /// - Parameters:
        ///   - done: The number of operations of this push that have ended, whatever their outcomes.
        ///   - total: The number of operations that the push has.
        case pushing(done: Int, total: Int)
        /// Files are being uploaded.
        ///
        /// - Parameters:
        ///   - done: The number of files of this push that have ended, whatever their outcomes.
        ///   - total: The number of files that the push has.
        ///   - sent: The number of bytes of all files that were sent.
        ///   - of: The number of bytes of all files.
        case uploading(done: Int, total: Int, sent: Int64, of: Int64)
        /// A table is being fetched.
        ///
        /// - Parameters:
        ///   - table: The table's name in the store.
        ///   - received: The number of items received.
        ///   - total: The number of items on the server, if it counts them.
        case pulling(table: String, received: Int, total: Int?)
    }

    /// Whether a sync of this context is running, its uploads included. It becomes `false` however the sync ends.
    public internal(set) var isSyncing = false
    /// The current activity; `nil` if no sync is running, or none has begun an exchange. A push or pull that runs
    /// beside uploads takes precedence.
    public internal(set) var activity: Activity?
    /// The reason why the last push, pull or sync failed, in a sentence or two.
    ///
    /// It does not matter whether the call threw the error or recorded it in its result. The reason is `nil` if the
    /// last call succeeded, or if there was none. The text stays until a later sync succeeds, also while that sync
    /// runs. A purge does not change it. For an error that is not Tandem's, it contains only the name of the type.
    ///
    /// The text does not report single objects: ``failed`` counts those that wait for the user.
    public internal(set) var lastError: String?
    /// The time of the last complete pull of each table, by the table's name in the store.
    ///
    /// The time is that of the local clock. Every query counts, also with a filter.
    ///
    /// The times survive a restart. The store records the time of a pull that found changes. A pull that finds nothing
    /// makes no commit; its time is kept in the lock file beside the store (`…-sync`), which names no table. A purge
    /// forgets both. If that file can't be written, the time of the last pull that found changes remains.
    public internal(set) var lastSuccess: [String: Date] = [:]
    /// The number of operations that wait to be sent, including those whose response was lost.
    public internal(set) var pending = 0
    /// The number of pending operations whose last attempt failed. The next push retries them.
    /// ``SyncState/retrying(_:error:)`` has the reason.
    public internal(set) var retrying = 0
    /// The number of files that wait to be uploaded, including those of objects that the server does not know yet.
    public internal(set) var pendingFiles = 0
    /// The number of operations that failed and wait for the user or for another change.
    public internal(set) var failed = 0
    /// The number of operations that the user holds back.
    public internal(set) var held = 0
}

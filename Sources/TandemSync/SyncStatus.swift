import Foundation
import Tandem

/// What a context is doing, and what is left to do.
public struct SyncStatus: Hashable, Sendable {
    /// What a running sync is at.
    public enum Activity: Hashable, Sendable {
        /// Changes are being sent.
        ///
        /// - Parameters:
        ///   - done: How many operations of this push are over, whatever became of them.
        ///   - total: How many it has.
        case pushing(done: Int, total: Int)
        /// Files are being uploaded.
        ///
        /// - Parameters:
        ///   - done: How many files of this push are over, whatever became of them.
        ///   - total: How many it has.
        ///   - sent: How many bytes of them all are on the server, or on their way.
        ///   - of: How many they have.
        case uploading(done: Int, total: Int, sent: Int64, of: Int64)
        /// A table is being fetched.
        ///
        /// - Parameters:
        ///   - table: Its name in the store.
        ///   - received: How many items have come.
        ///   - total: How many there are, where the server counts.
        case pulling(table: String, received: Int, total: Int?)
    }

    /// Whether a sync of this context is running, its uploads included. It falls whatever becomes of it.
    public internal(set) var isSyncing = false
    /// The current activity; `nil` if no sync is running, or none has begun an exchange. A push or pull that runs beside
    /// uploads takes precedence.
    public internal(set) var activity: Activity?
    /// Why the last push, pull or sync failed, in a sentence or two, whether that was thrown or is in its result: what
    /// stopped it, or a table that could not be fetched. `nil` if it did not, or there was none. It stays until the next
    /// one that succeeds, also while that runs; a purge leaves it as it is. Of an error that is not Tandem's its type is
    /// named alone.
    ///
    /// What became of one object is not in it: ``failed`` counts those that wait for the user.
    public internal(set) var lastError: String?
    /// When each table was last fetched to its end, by the local clock and the table's name in the store. Every query
    /// counts, one with a filter too.
    ///
    /// It survives a restart. The store records when a pull found something new. A pull that finds nothing makes no
    /// commit; its time is kept in the lock file beside the store (`…-sync`), which names no table. A purge forgets
    /// both. If that file can't be written, the time of the last pull that found something is left.
    public internal(set) var lastSuccess: [String: Date] = [:]
    /// How many operations wait to be sent, those whose answer was lost included.
    public internal(set) var pending = 0
    /// How many of the pending ones a try has failed for, and the next push tries again. ``SyncState/retrying(_:_:)`` has
    /// the reason.
    public internal(set) var retrying = 0
    /// How many files wait to be uploaded, those of objects that the server does not know yet included.
    public internal(set) var pendingFiles = 0
    /// How many failed, and wait for the user or for another change.
    public internal(set) var failed = 0
    /// How many the user leaves unsent.
    public internal(set) var held = 0
}

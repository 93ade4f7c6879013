import Dispatch
import GRDBSQLite
import Synchronization

/// Records the time of a commit, by Tandem or GRDB. It uses SQLite's hook on the write-ahead log, which runs after
/// COMMIT has completed and the lock is free.
///
/// The hook is set on each connection that SQLite opens (see ``OpenConnections``). It runs the automatic checkpoint,
/// like the hook that it replaces, and then records the time.
enum CommitClock {
    private static let latest = Atomic<UInt64>(0)

    /// The current time of a monotonic clock, in nanoseconds.
    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    /// The time of the latest commit.
    static var commit: UInt64 { latest.load(ordering: .acquiring) }

    /// Starts registering new connections.
    static var begin: Void { OpenConnections.begin }

    /// Sets the hook on all open connections. SQLite sets its own hook at the end of opening one.
    static func attach() {
        for handle in OpenConnections.all {
            sqlite3_wal_hook(
                handle,
                { _, handle, name, pages in
                    if pages >= 1000 { sqlite3_wal_checkpoint_v2(handle, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil) }
                    CommitClock.latest.store(CommitClock.now, ordering: .releasing)
                    return SQLITE_OK
                }, nil)
        }
    }
}

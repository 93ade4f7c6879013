import Dispatch
import GRDBSQLite
import Synchronization

/// Takes the time at which a transaction was committed, whoever made it, Tandem or GRDB: by SQLite's hook on the
/// write-ahead log, which is called when COMMIT has done its work and the lock is free.
///
/// The hook is set from outside, on each connection that SQLite opens (see ``OpenConnections``). It does what the hook
/// that it takes the place of does, the automatic checkpoint, and takes the time then.
enum CommitClock {
    private static let latest = Atomic<UInt64>(0)

    /// Nanoseconds of a clock that only goes on.
    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    /// When the latest commit was done.
    static var commit: UInt64 { latest.load(ordering: .acquiring) }

    /// From now on connections are known as they are opened.
    static var begin: Void { OpenConnections.begin }

    /// Sets the hook on all connections that are open. SQLite sets its own at the end of opening one.
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

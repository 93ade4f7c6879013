import Dispatch
import GRDBSQLite
import Synchronization

/// Takes the time at which a transaction was committed, whoever made it, Tandem or GRDB: by SQLite's hook on the
/// write-ahead log, which is called when COMMIT has done its work and the lock is free.
///
/// The hook is set from outside, on each connection that SQLite opens (`sqlite3_auto_extension`): nothing of Tandem is
/// changed for it. It does what the hook that it takes the place of does, the automatic checkpoint, and takes the time
/// then.
enum CommitClock {
    private static let open = Mutex<[UInt]>([])
    private static let latest = Atomic<UInt64>(0)

    /// Nanoseconds of a clock that only goes on.
    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }

    /// When the latest commit was done.
    static var commit: UInt64 { latest.load(ordering: .acquiring) }

    /// From now on connections are known as they are opened.
    static let begin: Void = {
        typealias Entry = @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Int32
        let entry: Entry = { handle, _, _ in
            guard let handle else { return SQLITE_OK }
            CommitClock.open.withLock { $0.append(UInt(bitPattern: handle)) }
            // SQLITE_TRACE_CLOSE alone costs nothing before the end.
            sqlite3_trace_v2(
                handle, UInt32(SQLITE_TRACE_CLOSE),
                { _, _, closed, _ in
                    CommitClock.open.withLock { open in open.removeAll { $0 == UInt(bitPattern: closed) } }
                    return 0
                }, nil)
            return SQLITE_OK
        }
        sqlite3_auto_extension(unsafeBitCast(entry, to: (@convention(c) () -> Void).self))
    }()

    /// Sets the hook on all connections that are open. SQLite sets its own at the end of opening one.
    static func attach() {
        for handle in open.withLock({ $0 }) {
            sqlite3_wal_hook(
                OpaquePointer(bitPattern: handle),
                { _, handle, name, pages in
                    if pages >= 1000 { sqlite3_wal_checkpoint_v2(handle, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil) }
                    CommitClock.latest.store(CommitClock.now, ordering: .releasing)
                    return SQLITE_OK
                }, nil)
        }
    }
}

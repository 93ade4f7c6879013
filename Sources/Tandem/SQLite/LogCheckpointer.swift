import Dispatch
import GRDB
import GRDBSQLite
import Synchronization

/// Copies the pages of a store's log to the database file, on a thread of its own.
///
/// SQLite's automatic checkpoint is part of the commit with which the log reaches 1,000 pages. That commit waits until
/// all pages are copied, and until the disk has both files. Here commits only request a checkpoint.
///
/// Under continuous writing, a checkpoint on another thread never finds the end of the log, and SQLite begins a log
/// again only if all its pages are copied. Therefore the writer runs a checkpoint itself when the log is very long.
final class LogCheckpointer: Sendable {
    /// The number of pages by which the log grows until a checkpoint is requested. It is SQLite's own number.
    static let interval = 1000
    /// The number of pages from which the writer runs the checkpoint itself.
    static let maximumPages = 8000

    private struct State {
        /// The number of pages in the log after the last commit.
        var pages = 0
        /// The number of pages at which the next checkpoint is due.
        var due = LogCheckpointer.interval
    }

    private enum Action {
        case nothing
        case request
        case run
    }

    private let queue = DispatchQueue(label: "tandem.checkpoint", qos: .utility)
    private let state = Mutex(State())
    /// The connection, which is opened for the first checkpoint. Only the blocks of `queue` use it.
    private let database = Mutex<DatabaseQueue?>(nil)
    private let open: @Sendable () throws -> DatabaseQueue

    /// - Parameter open: Opens a connection that can write.
    init(open: @escaping @Sendable () throws -> DatabaseQueue) {
        self.open = open
    }

    /// Replaces a connection's automatic checkpoint, until ``close(_:)``.
    func attach(to connection: Connection) {
        sqlite3_wal_hook(
            connection.sqlite,
            { context, handle, _, pages in
                let checkpointer = Unmanaged<LogCheckpointer>.fromOpaque(context!).takeUnretainedValue()
                if let handle { checkpointer.logGrew(to: Int(pages), on: handle) }
                return SQLITE_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Waits for the requested checkpoints.
    func wait() { queue.sync {} }

    /// Waits for the requested checkpoints, and ends the requests of a connection.
    func close(_ connection: Connection) {
        sqlite3_wal_hook(connection.sqlite, nil, nil)
        queue.sync {
            try? database.withLock { $0 }?.close()
            database.withLock { $0 = nil }
        }
    }

    /// Called after each commit, when the lock of the writer is free.
    private func logGrew(to pages: Int, on handle: OpaquePointer) {
        switch action(at: pages) {
        case .nothing: break
        case .request: queue.async { self.run() }
        case .run:
            wait()
            Self.checkpoint(handle)
        }
    }

    private func action(at pages: Int) -> Action {
        state.withLock { state in
            // A shorter log has begun again.
            if pages < state.pages { state.due = Self.interval }
            state.pages = pages
            guard pages >= state.due else { return .nothing }
            state.due = pages + Self.interval
            return pages < Self.maximumPages ? .request : .run
        }
    }

    private func run() {
        guard let database = opened() else { return }
        database.unsafeReentrantWrite { db in
            if let handle = db.sqliteConnection { Self.checkpoint(handle) }
        }
    }

    /// Returns the connection, or `nil` if it can't be opened. The log then grows until the writer runs a checkpoint.
    private func opened() -> DatabaseQueue? {
        if let database = database.withLock({ $0 }) { return database }
        guard let opened = try? open() else { return nil }
        do {
            // SQLite opens the log with the first read, and encryption proves its key.
            try opened.unsafeReentrantWrite { db in try db.execute(sql: "SELECT 1 FROM sqlite_master LIMIT 1") }
        } catch {
            try? opened.close()
            return nil
        }
        database.withLock { $0 = opened }
        return opened
    }

    /// Copies as many pages as possible without waiting for other connections. As with SQLite's automatic checkpoint,
    /// a failure leaves the pages in the log for the next checkpoint.
    private static func checkpoint(_ handle: OpaquePointer) {
        sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    }
}

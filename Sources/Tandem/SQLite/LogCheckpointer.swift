import Dispatch
import GRDB
import GRDBSQLite
import SQLiteCipher
import Synchronization

/// Copies the pages of a store's log to the database file, on a thread of its own.
///
/// SQLite's automatic checkpoint is part of the commit with which the log reaches 1,000 pages. That commit waits until
/// all pages are copied, and until the disk has both files. Here commits only request a checkpoint.
///
/// SQLite begins a log again only if all its pages are copied. Under continuous writing, a checkpoint on another thread
/// rarely copies all of them, because the log grows meanwhile. Therefore the writer waits for a checkpoint when the log
/// is very long, and that checkpoint blocks other writers. A long reader or a checkpoint of another process may keep
/// that checkpoint from copying all pages. The writer then tries again after each commit.
final class LogCheckpointer: Sendable {
    /// The number of pages by which the log grows until a checkpoint is requested. It is SQLite's own number.
    static let interval = 1000
    /// The number of pages from which the writer waits for the checkpoint.
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
        case wait
    }

    private let queue = DispatchQueue(label: "tandem.checkpoint", qos: .utility)
    private let state = Mutex(State())
    /// The connection, which is opened for the first checkpoint. Only the blocks of `queue` use it; the mutex makes the
    /// checkpointer `Sendable`.
    private let database = Mutex<DatabaseQueue?>(nil)
    private let open: @Sendable () throws -> DatabaseQueue
    /// A child process has no threads for the queue.
    private let generation = ForkDetector.generation

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

    /// Detaches a connection, waits for the requested checkpoints, and closes the checkpointer's own connection.
    func close(_ connection: Connection) {
        sqlite3_wal_hook(connection.sqlite, nil, nil)
        queue.sync {
            try? database.withLock { $0 }?.close()
            database.withLock { $0 = nil }
        }
    }

    /// Called after each commit, after SQLite has released the write lock.
    private func logGrew(to pages: Int, on handle: OpaquePointer) {
        switch action(at: pages) {
        case .nothing: break
        case .request where generation == ForkDetector.generation:
            queue.async { _ = self.run(SQLITE_CHECKPOINT_PASSIVE) }
        case .request: _ = queue.sync { run(SQLITE_CHECKPOINT_PASSIVE) }
        case .wait:
            let isComplete = queue.sync { run(SQLITE_CHECKPOINT_FULL) }
            // The writer's own connection would wait for readers in a full checkpoint.
            if !(isComplete ?? Self.checkpoint(handle, mode: SQLITE_CHECKPOINT_PASSIVE)) {
                state.withLock { $0.due = Self.maximumPages }
            }
        }
    }

    private func action(at pages: Int) -> Action {
        state.withLock { state in
            // A shorter log has begun again.
            if pages < state.pages { state.due = Self.interval }
            state.pages = pages
            guard pages >= state.due else { return .nothing }
            state.due = pages + Self.interval
            return pages < Self.maximumPages ? .request : .wait
        }
    }

    /// Runs a checkpoint. Returns whether all pages were copied; `nil` if there is no connection for it.
    private func run(_ mode: Int32) -> Bool? {
        opened()?.unsafeReentrantWrite { db in db.sqliteConnection.map { Self.checkpoint($0, mode: mode) } }
    }

    /// Returns the connection, or `nil` if it can't be opened. The log then grows until the writer copies it.
    private func opened() -> DatabaseQueue? {
        if let database = database.withLock({ $0 }) { return database }
        guard let opened = try? open() else { return nil }
        do {
            try opened.unsafeReentrantWrite { db in
                // SQLite opens the log with the first read, and encryption proves its key.
                try db.execute(sql: "SELECT 1 FROM sqlite_master LIMIT 1")
                // A checkpoint copies what it can, and waits for no other connection.
                if let handle = db.sqliteConnection { sqlite3_busy_timeout(handle, 0) }
            }
        } catch {
            try? opened.close()
            return nil
        }
        database.withLock { $0 = opened }
        return opened
    }

    /// Copies as many pages as possible without waiting for other connections. As with SQLite's automatic checkpoint,
    /// a failure leaves the pages in the log for the next checkpoint.
    ///
    /// - Returns: Whether all pages of the log were copied.
    private static func checkpoint(_ handle: OpaquePointer, mode: Int32) -> Bool {
        var (pages, copied) = (Int32(-1), Int32(-1))
        let code = sqlite3_wal_checkpoint_v2(handle, "main", mode, &pages, &copied)
        return code == SQLITE_OK && pages == copied
    }
}

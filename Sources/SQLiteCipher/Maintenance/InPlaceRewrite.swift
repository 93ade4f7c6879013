import Foundation
import GRDB
import GRDBSQLite

/// Replaces a database with a copy in another encryption. A crash at any moment leaves either the old or the new one.
///
/// | the process dies | remaining files |
/// | --- | --- |
/// | before the rename | the old database, and files `-rewrite-…` beside it that the next rewrite removes |
/// | after the rename | the new database |
///
/// The rename is atomic, and by then the new file is complete and flushed. The old file's log and journal are removed
/// before, so neither can be mistaken for the new file's.
///
/// Only one attempt runs at a time, across processes: see ``RewriteLock``.
struct InPlaceRewrite {
    let source: DatabaseCopier.Endpoint
    /// Returns the database in its new encryption, at a path beside the old one.
    let target: (String) throws -> DatabaseCopier.Endpoint
    /// Changes the new database after it was compared with the old one.
    var adjust: (Database) throws -> Void = { _ in }

    /// The time to wait for other connections to close.
    static let patience: TimeInterval = 2

    func run() throws {
        // Replace the file itself, and not a link to it.
        let path = URL(fileURLWithPath: source.path).resolvingSymlinksInPath().path
        let folder = (path as NSString).deletingLastPathComponent
        guard access(folder.isEmpty ? "." : folder, W_OK) == 0 else {
            throw CipherError(
                .readOnly, message: "The folder can't be written: \(String(cString: strerror(errno))).",
                advice: "Make the folder writable: the new file is created beside the old one.", path: path)
        }
        let lock = try RewriteLock(path, patience: Self.patience)
        defer { withExtendedLifetime(lock) {} }
        // Another attempt may have encrypted the file in the meantime.
        try source.checkHead()
        // Invalid options throw before the database is touched.
        let target = try target(lock.newPath())
        var configuration = Configuration()
        configuration.busyMode = .timeout(Self.patience)
        do {
            let queue = try source.open(configuration)
            let wasLogged = try acquireExclusively(queue)
            do {
                lock.removeLeftovers()
                try DatabaseCopier.copy(from: queue, at: path, to: target)
                try check(target, against: queue, logged: wasLogged)
                try prepare(target.path, as: path)
                try checkLocation(of: queue)
                // From here on, the connection has another file than the path names. It must not write any more.
                guard rename(target.path, path) == 0 else { throw failure("moved into place", path: target.path) }
            } catch {
                if wasLogged { try? setMode(queue, to: "wal") }
                try? DatabaseCopier.removeDatabase(target.path)
                throw error
            }
            // The new key is in force, even if the system can't guarantee it after a power failure.
            try? flush((path as NSString).deletingLastPathComponent)
            try queue.close()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            throw busy(path, error: error)
        } catch {
            throw source.explain(error)
        }
    }

    private func busy(_ path: String, error: DatabaseError? = nil) -> CipherError {
        CipherError(
            .busy, message: "Another connection has the database open.",
            advice: "Close all connections to it, in this process and others, and try again.",
            path: path, sqliteCode: error?.extendedResultCode.rawValue, underlying: error)
    }

    /// Checks that the path still names the file that the connection has locked.
    private func checkLocation(of queue: DatabaseQueue) throws {
        try queue.writeWithoutTransaction { db in
            var moved: Int32 = 0
            let code = sqlite3_file_control(db.sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
            guard code == SQLITE_OK, moved == 0 else { throw busy(source.path) }
        }
    }

    private func setMode(_ queue: DatabaseQueue, to mode: String) throws {
        _ = try queue.writeWithoutTransaction { try String.fetchOne($0, sql: "PRAGMA journal_mode = \(mode)") }
    }

    /// Locks others out of the database until the queue is closed.
    ///
    /// Before that, waits until no other connection is left, and moves the log into the database.
    ///
    /// - Returns: Whether the database had a write-ahead log.
    private func acquireExclusively(_ queue: DatabaseQueue) throws -> Bool {
        try queue.writeWithoutTransaction { db in
            let mode = try String.fetchOne(db, sql: "PRAGMA journal_mode")
            guard try String.fetchOne(db, sql: "PRAGMA journal_mode = DELETE") == "delete" else {
                throw DatabaseError(resultCode: .SQLITE_BUSY)
            }
            try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT")
            // Another connection may have created a log between the two statements.
            guard try String.fetchOne(db, sql: "PRAGMA journal_mode") == "delete" else {
                throw DatabaseError(resultCode: .SQLITE_BUSY)
            }
            return mode == "wal"
        }
    }

    /// Reads the new file with its own key, and compares it with the old file, before it replaces that file.
    private func check(_ target: DatabaseCopier.Endpoint, against old: DatabaseQueue, logged: Bool) throws {
        let queue = try target.open()
        try queue.writeWithoutTransaction { db in
            guard try String.fetchAll(db, sql: "PRAGMA quick_check(1)") == ["ok"] else {
                throw CipherError(
                    .sql, message: "The rewritten database did not pass SQLite's check.",
                    advice: "The database was not changed. Check it with PRAGMA integrity_check.",
                    path: source.path)
            }
            guard try Contents(db) == old.writeWithoutTransaction({ try Contents($0) }) else {
                throw CipherError(
                    .sql, message: "The content of the rewritten database differs from that of the old one.",
                    advice: "The database was not changed. Check it with PRAGMA integrity_check.",
                    path: source.path)
            }
            try adjust(db)
            _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = \(logged ? "WAL" : "DELETE")")
        }
        try queue.close()
        for suffix in ["-wal", "-journal"] where FileManager.default.fileExists(atPath: target.path + suffix) {
            throw CipherError(
                .ioFailure, message: "The file \(suffix) of the rewritten database still exists.", path: target.path)
        }
    }

    /// The schema of a database and the number of rows in each table.
    private struct Contents: Equatable {
        private let schema: [Row]
        private let counts: [Int]

        init(_ db: Database) throws {
            schema = try Row.fetchAll(
                db, sql: "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name")
            // Virtual tables have no pages of their own.
            let tables = try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 ORDER BY name")
            counts = try tables.map { name in
                // GRDB's own quoting does not escape quotes in a name.
                let quoted = "\"" + name.replacing("\"", with: "\"\"") + "\""
                return try Int.fetchOne(db, sql: "SELECT count(*) FROM \(quoted)") ?? 0
            }
        }
    }

    /// Copies the old file's mode and owner to the new file, and flushes it.
    private func prepare(_ rewritten: String, as path: String) throws {
        var status = stat()
        guard stat(path, &status) == 0 else { throw failure("looked up", path: path) }
        guard chmod(rewritten, status.st_mode & 0o7777) == 0 else { throw failure("given its mode", path: rewritten) }
        // Only root can change a file's owner. For other users the owner is already right.
        _ = chown(rewritten, status.st_uid, status.st_gid)
        try flush(rewritten)
    }

    private func flush(_ path: String) throws {
        let descriptor = open(path.isEmpty ? "." : path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("opened", path: path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("flushed", path: path) }
    }

    private func failure(_ what: String, path: String) -> CipherError {
        CipherError(.ioFailure, message: "The file can't be \(what): \(String(cString: strerror(errno))).", path: path)
    }
}

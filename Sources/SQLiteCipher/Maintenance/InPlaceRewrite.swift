import Foundation
import GRDB

/// Replaces a database by a copy of it in another encryption, so that a crash at any moment leaves either.
///
/// | the process dies | what is there |
/// | --- | --- |
/// | before the rename | the old database, and a file `-rewrite` beside it that the next rewrite removes |
/// | after the rename | the new database |
///
/// The rename is atomic, and by then the new file is complete and flushed. The old file's log and journal are gone
/// before, so that neither can be taken for the new file's.
struct InPlaceRewrite {
    let source: Rewriting.Place
    /// The database in its new encryption, under a name beside the old one.
    let target: (String) throws -> Rewriting.Place

    /// How long other connections are waited for.
    static let patience: TimeInterval = 2

    func run() throws {
        // The file itself is replaced, not a link to it.
        let path = URL(fileURLWithPath: source.path).resolvingSymlinksInPath().path
        let folder = (path as NSString).deletingLastPathComponent
        guard access(folder.isEmpty ? "." : folder, W_OK) == 0 else {
            throw CipherError(
                .readOnly, "The folder can't be written: \(String(cString: strerror(errno))).",
                advice: "The new file is made beside the old one.", path: path)
        }
        let target = try target(path + "-rewrite")
        try Rewriting.removeDatabase(target.path)
        var configuration = Configuration()
        configuration.busyMode = .timeout(Self.patience)
        do {
            let queue = try source.open(configuration)
            let wasLogged = try takeAlone(queue)
            do {
                try Rewriting.copy(from: queue, at: path, to: target)
                try check(target, logged: wasLogged)
                try prepare(target.path, as: path)
            } catch {
                if wasLogged { try? setMode(queue, "wal") }
                try? Rewriting.removeDatabase(target.path)
                throw error
            }
            // From here on the connection's file is no longer the one at the path, and nothing may be written by it.
            guard rename(target.path, path) == 0 else { throw failure("put in place", target.path) }
            // The new key is in force, whether or not the system can promise that it stays after a power failure.
            try? flush((path as NSString).deletingLastPathComponent)
            try queue.close()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            throw CipherError(
                .busy, "Another connection has the database open.",
                advice: "Close all connections to it, in this process and others, and try again.",
                path: path, sqliteCode: error.extendedResultCode.rawValue, underlying: error)
        } catch {
            throw source.explain(error)
        }
    }

    private func setMode(_ queue: DatabaseQueue, _ mode: String) throws {
        _ = try queue.writeWithoutTransaction { try String.fetchOne($0, sql: "PRAGMA journal_mode = \(mode)") }
    }

    /// Waits until no other connection is left, folds the log into the database, and keeps everybody out until the
    /// queue is closed.
    ///
    /// - Returns: whether the database had a write-ahead log.
    private func takeAlone(_ queue: DatabaseQueue) throws -> Bool {
        try queue.writeWithoutTransaction { db in
            let mode = try String.fetchOne(db, sql: "PRAGMA journal_mode")
            guard try String.fetchOne(db, sql: "PRAGMA journal_mode = DELETE") == "delete" else {
                throw DatabaseError(resultCode: .SQLITE_BUSY)
            }
            try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT")
            // Between the two somebody may have begun a log again.
            guard try String.fetchOne(db, sql: "PRAGMA journal_mode") == "delete" else {
                throw DatabaseError(resultCode: .SQLITE_BUSY)
            }
            return mode == "wal"
        }
    }

    /// Reads the new file with its own key before it takes the old one's place.
    private func check(_ target: Rewriting.Place, logged: Bool) throws {
        let queue = try target.open()
        let findings = try queue.writeWithoutTransaction { db in
            let findings = try String.fetchAll(db, sql: "PRAGMA quick_check(1)")
            let mode = logged ? "WAL" : "DELETE"
            _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = \(mode)")
            return findings
        }
        try queue.close()
        guard findings == ["ok"] else {
            throw CipherError(
                .sql, "The rewritten database did not pass SQLite's check.",
                advice: "The database was left as it was. Check it with PRAGMA integrity_check.", path: source.path)
        }
        for suffix in ["-wal", "-journal"] where FileManager.default.fileExists(atPath: target.path + suffix) {
            throw CipherError(.ioFailure, "The rewritten database's \(suffix) is still there.", path: target.path)
        }
    }

    /// Gives the new file the old one's mode and owner, and flushes it.
    private func prepare(_ rewritten: String, as path: String) throws {
        var status = stat()
        guard stat(path, &status) == 0 else { throw failure("looked up", path) }
        guard chmod(rewritten, status.st_mode & 0o7777) == 0 else { throw failure("given its mode", rewritten) }
        // Only root can give files away; for all others the owner is right already.
        _ = chown(rewritten, status.st_uid, status.st_gid)
        try flush(rewritten)
    }

    private func flush(_ path: String) throws {
        let descriptor = open(path.isEmpty ? "." : path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("opened", path) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("flushed", path) }
    }

    private func failure(_ what: String, _ path: String) -> CipherError {
        CipherError(.ioFailure, "The file can't be \(what): \(String(cString: strerror(errno))).", path: path)
    }
}

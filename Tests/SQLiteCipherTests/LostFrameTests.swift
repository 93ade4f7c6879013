import Foundation
import GRDBSQLite
import Synchronization
import TestSupport
import Testing

@testable import SQLiteCipher

@Suite("Frames that were acknowledged and could not be written are built upon by nothing", .ownThreads, .serialized)
struct LostFrameTests {
    /// The number of writes to the log that succeed before one fails. A negative number disables failures.
    private static let writesLeft = Atomic<Int>(-1)
    // A C function can't capture variables. Set before the connection writes, by the same thread, and one test at a
    // time: the suite is serialized.
    nonisolated(unsafe) private static var below: UnsafePointer<sqlite3_io_methods>?

    /// Lets a write of the lower VFS fail once.
    private func arm(_ log: LogFile, after writes: Int) throws {
        let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        let pointer = log.base.pointer
        let real = try #require(pointer.pointee.pMethods)
        methods.initialize(to: real.pointee)
        Self.below = real
        methods.pointee.xWrite = { file, source, count, offset in
            let left = LostFrameTests.writesLeft.load(ordering: .relaxed)
            if left >= 0 { LostFrameTests.writesLeft.store(left - 1, ordering: .relaxed) }
            if left == 0 { return SQLITE_FULL }
            return LostFrameTests.below?.pointee.xWrite(file, source, count, offset) ?? SQLITE_IOERR
        }
        pointer.pointee.pMethods = UnsafePointer(methods)
        Self.writesLeft.store(writes, ordering: .relaxed)
    }

    private func disarm(_ log: LogFile) {
        let armed = log.base.pointer.pointee.pMethods
        log.base.pointer.pointee.pMethods = Self.below
        armed?.deallocate()
        Self.writesLeft.store(-1, ordering: .relaxed)
    }

    @Test(arguments: Profile.allCases, ["NORMAL", "EXCLUSIVE"])
    func `read that can't write pending frames ends the transaction`(_ kind: Profile, _ locking: String) throws {
        for savepoint in [false, true] {
            let scratch = try Scratch(inMemory: true)
            let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey, profile: kind.profile)
            let raw = try RawDatabase(
                database,
                setup: """
                    PRAGMA locking_mode = \(locking); PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
                    PRAGMA cache_size = 8
                    """)
            try raw.run(
                """
                CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT NOT NULL, body BLOB);
                CREATE INDEX byName ON t (name);
                WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
                INSERT INTO t SELECT i, 'name ' || i, randomblob(500) FROM n;
                """)
            // The log is restarted twice, so older frames of the same pages are at the next positions.
            let spilling = "UPDATE t SET body = randomblob(500) WHERE id <= 150"
            _ = try raw.rows("PRAGMA wal_checkpoint(RESTART)")
            try raw.run("BEGIN; \(spilling); COMMIT")
            _ = try raw.rows("PRAGMA wal_checkpoint(RESTART)")
            let before = try raw.rows("SELECT id, name, hex(body) FROM t")
            try raw.run("BEGIN; \(spilling)")
            let log = try #require(raw.logFile())
            // The cache has room for a few pages, and the others wait to be written.
            #expect(log.queue?.count ?? 0 > 3)
            if savepoint { try raw.run("SAVEPOINT s") }
            try arm(log, after: 0)
            // The statement could fail in the middle, and so has its own journal. SQLite rolls back only the statement.
            #expect(throws: RawDatabase.Failure.self) {
                try raw.run("UPDATE t SET name = upper(name), body = body || 1")
            }
            disarm(log)
            #expect(raw.isInTransaction)
            // A caller that ignores the error can't commit.
            if savepoint { try? raw.run("ROLLBACK TO s; RELEASE s") }
            try? raw.run("UPDATE t SET name = 'later' WHERE id = 2")
            #expect(throws: RawDatabase.Failure.self) { try raw.run("COMMIT") }
            try? raw.run("ROLLBACK")
            #expect(try raw.rows("SELECT id, name, hex(body) FROM t") == before)

            // Later writes are durable.
            try raw.run("UPDATE t SET name = 'after' WHERE id = 3")
            let copy = try EncryptedDatabase(path: scratch.path("copy.db"), key: testKey, profile: kind.profile)
            try write(contents(database.path), to: copy.path)
            try write(contents(database.path + "-wal"), to: copy.path + "-wal")
            let recovered = try RawDatabase(copy)
            #expect(try recovered.rows("PRAGMA integrity_check") == ["ok"])
            #expect(try recovered.rows("SELECT name FROM t WHERE id IN (2, 3)") == ["name 2", "after"])
            #expect(try recovered.rows("SELECT count(*) FROM t WHERE id <> 3 AND name <> 'name ' || id") == ["0"])
        }
    }
}

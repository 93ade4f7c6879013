import Foundation
import TestSupport
import Testing

@testable import SQLiteCipher

@Suite(
    "Frames of the log: each holds the page that SQLite takes it to hold, and is there when a commit returns",
    .ownThreads)
struct LogFrameTests {
    private let frame = 24 + 4096

    @Test(arguments: Profile.allCases)
    func `page put into another page's frame while the database is open is damage`(_ kind: Profile) throws {
        let scratch = try Scratch(inMemory: true)
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey, profile: kind.profile)
        let raw = try RawDatabase(database, setup: "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
        try raw.run(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, body BLOB); CREATE INDEX byName ON t (name);
            INSERT INTO t VALUES (1, 'a', randomblob(20000)), (2, 'b', randomblob(20000))
            """)
        let whole = Outcome.read(database)
        let path = database.path + "-wal"
        let good = try contents(path)
        let frames = (good.count - 32) / frame
        #expect(frames > 8)
        func range(_ number: Int) -> Range<Int> { (32 + number * frame)..<(32 + (number + 1) * frame) }
        func page(_ number: Int) -> ArraySlice<UInt8> { good[range(number)].prefix(4) }
        var damaged = 0
        for (one, other) in zip(0..<frames, 1..<frames) where page(one) != page(other) {
            // It has its own page number, and so is authentic by itself. The index in memory has the expected page.
            var bad = good
            bad.replaceSubrange(range(one), with: good[range(other)])
            try write(bad, to: path, inPlace: true)
            let found = Outcome.read(database)
            #expect(found == whole || found.isDamage, "frame \(one): \(found)")
            if found.isDamage { damaged += 1 }
        }
        #expect(damaged > 5)
        try write(good, to: path, inPlace: true)
        #expect(Outcome.read(database) == whole)
    }

    /// SQLite ends such a transaction by writing only the header of its last frame.
    @Test(arguments: Profile.allCases, ["NORMAL", "EXCLUSIVE"])
    func `transaction that wrote pages twice is on disk when its commit returns`(
        _ kind: Profile, _ locking: String
    ) throws {
        let scratch = try Scratch(inMemory: true)
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey, profile: kind.profile)
        let raw = try RawDatabase(
            database,
            setup: """
                PRAGMA locking_mode = \(locking); PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
                PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 8
                """)
        try raw.run("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, body BLOB); CREATE INDEX byName ON t (name)")
        let insert =
            "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) "
            + "INSERT INTO t SELECT NULL, hex(randomblob(20)), zeroblob(500) FROM n"
        let copy = try EncryptedDatabase(path: scratch.path("copy.db"), key: testKey, profile: kind.profile)
        for round in 1...4 {
            try raw.run("BEGIN; \(insert); UPDATE t SET name = name || 'x'; COMMIT")
            // The files as kill -9 would leave them now.
            try write(contents(database.path), to: copy.path)
            try write(contents(database.path + "-wal"), to: copy.path + "-wal")
            unlink(copy.path + "-shm")
            #expect(try RawDatabase(copy).rows("SELECT count(*) FROM t") == ["\(200 * round)"])
        }
    }

    /// Recovery reads whole frames. It stops at a frame from before the restart, exactly where the next one is written.
    @Test(arguments: Profile.allCases, ["NORMAL", "EXCLUSIVE"])
    func `restarted log is recovered, and later writes last`(
        _ kind: Profile, _ locking: String
    ) throws {
        let scratch = try Scratch(inMemory: true)
        func database(_ name: String) throws -> EncryptedDatabase {
            try EncryptedDatabase(path: scratch.path(name), key: testKey, profile: kind.profile)
        }
        /// The files as kill -9 would leave them now.
        func copy(_ source: EncryptedDatabase, to target: EncryptedDatabase) throws {
            try write(contents(source.path), to: target.path)
            try write(contents(source.path + "-wal"), to: target.path + "-wal")
            unlink(target.path + "-shm")
        }
        let first = try database("a.db")
        let raw = try RawDatabase(
            first, setup: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0")
        try raw.run("CREATE TABLE x (id INTEGER PRIMARY KEY, v); CREATE TABLE y (id INTEGER PRIMARY KEY, v)")
        try raw.run("INSERT INTO x VALUES (1, 'a'); INSERT INTO y VALUES (1, 'a')")
        for number in 0..<20 { try raw.run("UPDATE x SET v = '\(number)'") }
        try raw.run("PRAGMA wal_checkpoint(FULL)")
        for number in 0..<3 { try raw.run("UPDATE x SET v = 'n\(number)'") }

        let second = try database("b.db")
        try copy(first, to: second)
        let writing = try RawDatabase(
            second,
            setup: "PRAGMA locking_mode = \(locking); PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0")
        for number in 0..<3 { try writing.run("UPDATE y SET v = 'm\(number)'") }
        let third = try database("c.db")
        try copy(second, to: third)
        #expect(try RawDatabase(third).rows("SELECT x.v, y.v FROM x, y") == ["n2|m2"])
    }
}

import Foundation
import TestSupport
import Testing

@testable import SQLiteCipher

@Suite("Sizes that are not authenticated make no page, and no page goes missing unnoticed", .ownThreads)
struct PlantedSizeTests {
    /// Makes a database whose last pages belong to a value with overflow pages.
    ///
    /// In these pages, zeros at the end would not be noticed.
    private func database(_ scratch: Scratch, _ kind: Profile, _ setup: String) throws -> EncryptedDatabase {
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey, profile: kind.profile)
        let raw = try RawDatabase(database, setup: setup)
        try raw.run(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, body BLOB); CREATE INDEX byName ON t (name);
            INSERT INTO t VALUES (1, 'a', randomblob(20000)), (2, 'b', randomblob(9000))
            """)
        return database
    }

    private func word(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }

    /// A journal that states only the former size of the database.
    private func journal(pages: UInt32) -> [UInt8] {
        let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
        return magic + word(0) + word(7) + word(pages) + word(512) + word(4096) + [UInt8](repeating: 0, count: 484)
    }

    @Test(arguments: Profile.allCases)
    func `truncated file beside a journal with its old size is damage`(_ kind: Profile) throws {
        let scratch = try Scratch(inMemory: true)
        let database = try database(scratch, kind, "PRAGMA synchronous = OFF")
        let good = try contents(database.path)
        let pages = good.count / 4096
        for kept in 1..<pages {
            try write(Array(good[..<(kept * 4096)]), to: database.path)
            try write(journal(pages: UInt32(pages)), to: database.path + "-journal")
            let found = Outcome.read(database)
            #expect(found.isDamage, "\(kept) of \(pages) pages")
            // Pages restored by the size alone are not authentic.
            let bytes = try contents(database.path)
            for page in kept..<(bytes.count / 4096) {
                #expect(bytes[(page * 4096)..<((page + 1) * 4096)].allSatisfy { $0 == 0 }, "page \(page + 1)")
            }
            unlink(database.path + "-journal")
        }
    }

    @Test(arguments: Profile.allCases, [0x8000_0003, UInt32.max, 1 << 20])
    func `journal with an impossible size is an error, and does not fill the disk`(
        _ kind: Profile, _ pages: UInt32
    ) throws {
        let scratch = try Scratch(inMemory: true)
        let database = try database(scratch, kind, "PRAGMA synchronous = OFF")
        let good = try contents(database.path)
        try write(journal(pages: pages), to: database.path + "-journal")
        #expect(Outcome.read(database).isDamage)
        #expect(try contents(database.path).count <= good.count)
    }

    @Test(arguments: Profile.allCases)
    func `wrong key does not truncate a database because of a journal`(_ kind: Profile) throws {
        let scratch = try Scratch(inMemory: true)
        let database = try database(scratch, kind, "PRAGMA synchronous = OFF")
        let good = try contents(database.path)
        try write(journal(pages: 2), to: database.path + "-journal")
        let wrong = try EncryptedDatabase(path: database.path, key: otherKey, profile: kind.profile)
        let error = #expect(throws: CipherError.self) { try wrong.openQueue() }
        #expect(error?.code == .wrongKey)
        #expect(try contents(database.path) == good)
    }

    @Test(arguments: Profile.allCases)
    func `truncated file beside a hot log is damage, or reads as before`(_ kind: Profile) throws {
        let scratch = try Scratch(inMemory: true)
        let database = try database(scratch, kind, "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
        let raw = try RawDatabase(database, setup: "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA wal_autocheckpoint = 0")
        // The log states the database's size, and holds few of its pages.
        try raw.run("UPDATE t SET name = 'c' WHERE id = 2")
        let (main, log) = (try contents(database.path), try contents(database.path + "-wal"))
        let whole = Outcome.read(database)
        let copy = try EncryptedDatabase(path: scratch.path("copy.db"), key: testKey, profile: kind.profile)
        var damaged = 0
        // SQLite treats an empty file as a new database, and removes the log.
        for kept in 1...(main.count / 4096) {
            try write(Array(main[..<(kept * 4096)]), to: copy.path)
            try write(log, to: copy.path + "-wal")
            unlink(copy.path + "-shm")
            let found = Outcome.read(copy)
            #expect(found == whole || found.isDamage, "\(kept) pages: \(found)")
            if found.isDamage { damaged += 1 }
        }
        #expect(damaged >= main.count / 4096 - 2)
    }

    @Test(arguments: Profile.allCases)
    func `database killed during its creation gets its own salt`(_ kind: Profile) throws {
        let scratch = try Scratch(inMemory: true)
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey, profile: kind.profile)
        // Pages were written before the first one. The journal says that the database was empty before.
        try write([UInt8](repeating: 0, count: 3 * 4096), to: database.path)
        try write(journal(pages: 0), to: database.path + "-journal")
        try RawDatabase(database).run("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, body BLOB)")
        let salt = try contents(database.path)[..<16]
        #expect(salt.contains { $0 != 0 })
        #expect(try RawDatabase(database).rows("SELECT count(*) FROM t") == ["0"])
    }
}

import Foundation
import GRDB
import TestSupport
import Testing

@testable import SQLiteCipher

@Suite("Changes of keys and profiles keep all content", .startsProcesses, .ownThreads)
struct MaintenanceTests {
    private func rows(_ database: EncryptedDatabase) throws -> [Row] {
        let queue = try database.openQueue()
        let rows = try queue.read { try Row.fetchAll($0, sql: "SELECT rowid, * FROM t ORDER BY id") }
        #expect(try queue.read { try $0.integrity() } == ["ok"])
        try queue.close()
        return rows
    }

    @Test(arguments: Profile.allCases, Profile.allCases)
    func `key and profile change in place`(_ from: Profile, _ to: Profile) throws {
        for mode in ["delete", "wal"] {
            let scratch = try Scratch()
            let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey, profile: from.profile)
            let queue = try database.openQueue()
            try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = \(mode)") }
            try queue.write { try $0.fill(rows: 60) }
            try queue.close()
            let before = try rows(database)

            let renewed = try database.changeKey(to: otherKey, profile: to.profile)
            #expect(try rows(renewed) == before)
            #expect(try renewed.openQueue().read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == mode)
            let error = #expect(throws: CipherError.self) { try database.openQueue() }
            #expect(error?.code == .wrongKey)
            let left = try FileManager.default.contentsOfDirectory(atPath: scratch.url.path)
            #expect(left.filter { $0.contains("rewrite") } == [])
        }
    }

    @Test(arguments: JournalMode.allCases.filter { $0 == .wal || $0 == .delete })
    func `change of key is refused while another connection is open`(_ mode: JournalMode) throws {
        let scratch = try Scratch()
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey)
        let other = try database.openQueue()
        try other.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = \(mode.rawValue)") }
        try other.write { try $0.fill(rows: 5) }
        try other.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN IMMEDIATE")
            let error = #expect(throws: CipherError.self) { try database.changeKey(to: otherKey) }
            #expect(error?.code == .busy)
            try db.execute(sql: "COMMIT")
        }
        #expect(try other.read { try $0.count() } == 5)
        #expect(try database.openQueue().read { try $0.count() } == 5)
    }

    @Test func `connection left idle during a change of key gets an error to open again`() throws {
        let scratch = try Scratch()
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey)
        let idle = try database.openQueue()
        try idle.write { try $0.fill(rows: 5) }
        let renewed = try database.changeKey(to: otherKey)
        let error = #expect(throws: (any Error).self) { try idle.read { try $0.count() } }
        #expect(error.map { (database.explain($0) as? CipherError)?.code } == .cannotOpen)
        #expect(try renewed.openQueue().read { try $0.count() } == 5)
    }

    @Test(arguments: Profile.allCases)
    func `plain database is encrypted in place, and exported to plain again`(_ kind: Profile) throws {
        let scratch = try Scratch()
        let path = scratch.path("a b#.db")
        let plain = try DatabaseQueue(path: path)
        try plain.write { try $0.fill(rows: 40) }
        let before = try plain.read { try Row.fetchAll($0, sql: "SELECT rowid, * FROM t ORDER BY id") }
        try plain.close()

        let database = try EncryptedDatabase(path: path, key: .passphrase("new"), profile: kind.profile)
        try database.encryptPlainFile()
        #expect(try rows(database) == before)
        #expect(try !Data(contents(path)).shows("marker"))
        let again = #expect(throws: CipherError.self) { try database.encryptPlainFile() }
        #expect(again?.code == .notADatabase)

        let out = scratch.path("out.db")
        try database.exportPlain(to: out)
        let exported = try DatabaseQueue(path: out)
        #expect(try exported.read { try Row.fetchAll($0, sql: "SELECT rowid, * FROM t ORDER BY id") } == before)
        #expect(try exported.read { try $0.integrity() } == ["ok"])
        let taken = #expect(throws: CipherError.self) { try database.exportPlain(to: out) }
        #expect(taken?.code == .alreadyExists)
    }

    @Test(arguments: Profile.allCases, Profile.allCases)
    func `database is exported to another profile while a pool has it open`(_ from: Profile, _ to: Profile) throws {
        let scratch = try Scratch()
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey, profile: from.profile)
        let pool = try database.openPool()
        try pool.write { try $0.fill(rows: 40) }
        let other = try EncryptedDatabase(
            path: scratch.path("b.db"), key: otherKey, profile: to.profile(pageSize: 8192))
        try database.export(to: other)
        let before = try pool.read { try Row.fetchAll($0, sql: "SELECT rowid, * FROM t ORDER BY id") }
        #expect(try rows(other) == before)
    }

    @Test func `copy has the permissions of the database, and a link stays a link`() throws {
        let scratch = try Scratch()
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey)
        try database.openQueue().write { try $0.fill(rows: 40) }
        #expect(chmod(database.path, 0o640) == 0)
        func mode(_ path: String) -> mode_t {
            var status = stat()
            return lstat(path, &status) == 0 ? status.st_mode : 0
        }
        try database.exportPlain(to: scratch.path("plain.db"))
        #expect(mode(scratch.path("plain.db")) & 0o777 == 0o640)
        let other = try EncryptedDatabase(path: scratch.path("b.db"), key: otherKey, profile: .sqlCipher4)
        try database.export(to: other)
        #expect(mode(other.path) & 0o777 == 0o640)

        #expect(symlink(database.path, scratch.path("link.db")) == 0)
        let linked = try EncryptedDatabase(path: scratch.path("link.db"), key: testKey)
        let renewed = try linked.changeKey(to: otherKey)
        #expect(mode(scratch.path("link.db")) & S_IFMT == S_IFLNK)
        #expect(mode(database.path) & 0o777 == 0o640)
        #expect(try rows(renewed).count == 40)
    }

    /// SQLCipher leaves free pages unwritten, or fills them with zeros.
    @Test(arguments: Profile.allCases, Profile.allCases)
    func `unreadable free pages do not prevent a change of key`(_ from: Profile, _ to: Profile) throws {
        let scratch = try Scratch()
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey, profile: from.profile)
        let queue = try database.openQueue()
        try queue.write { try $0.fill(rows: 20) }
        try queue.write { try $0.execute(sql: "CREATE TABLE big AS SELECT randomblob(40000) AS b; DROP TABLE big") }
        try queue.close()
        let before = try rows(database)
        var bytes = try contents(database.path)
        bytes.replaceSubrange((bytes.count - 4096)..., with: [UInt8](repeating: 0, count: 4096))
        try write(bytes, to: database.path)
        #expect(try rows(database.changeKey(to: otherKey, profile: to.profile)) == before)
    }

    @Test func `failed change of key is reported, leaves no files, and reveals no content`() throws {
        let scratch = try Scratch()
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey)
        try database.openQueue().write { try $0.fill(rows: 200) }
        var bytes = try contents(database.path)
        bytes[4096 * 6 + 50] ^= 1
        try write(bytes, to: database.path)
        let error = #expect(throws: CipherError.self) { try database.changeKey(to: otherKey) }
        #expect(error?.code == .damagedPage && error?.page == 7)
        for text in ["byName", "marker", "INSERT", "SELECT"] { #expect(error.map { !"\($0)".contains(text) } == true) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.url.path) == ["a.db"])
        #expect(try contents(database.path) == bytes)
    }

    @Test(arguments: Profile.allCases)
    func `VACUUM, ATTACH, backup and memory copies work`(_ kind: Profile) throws {
        let scratch = try Scratch()
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey, profile: kind.profile)
        let second = try EncryptedDatabase(path: scratch.path("b.db"), key: otherKey, profile: .sqlCipher4)
        let queue = try database.openQueue()
        try queue.write { try $0.fill(rows: 300) }
        try queue.write { try $0.execute(sql: "DELETE FROM t WHERE id > 50") }
        try queue.vacuum()
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL; VACUUM")
            try db.execute(sql: "DELETE FROM t WHERE id > 40; PRAGMA incremental_vacuum")
            try db.execute(sql: "ATTACH ? AS second", arguments: [second.uri])
            try db.execute(sql: "CREATE TABLE second.t AS SELECT * FROM main.t")
            // A transaction over two files has a super-journal.
            try db.execute(sql: "BEGIN; UPDATE main.t SET name = 'm'; UPDATE second.t SET name = 's'; COMMIT")
            try db.execute(sql: "DETACH second")
        }
        #expect(try queue.read { try $0.integrity() } == ["ok"])
        #expect(try second.openQueue().read { try String.fetchOne($0, sql: "SELECT name FROM t") } == "s")
        let memory = try DatabaseQueue()
        try queue.backup(to: memory)
        #expect(try memory.read { try $0.count() } == 40)
        // A file attached without a handle has no key, and is not created as plaintext by mistake.
        #expect(throws: DatabaseError.self) {
            try queue.writeWithoutTransaction {
                try $0.execute(sql: "ATTACH ? AS x", arguments: [scratch.path("x.db")])
            }
        }
        #expect(!FileManager.default.fileExists(atPath: scratch.path("x.db")))
    }

    @Test func `plain database and other VFSs are not affected`() throws {
        let scratch = try Scratch()
        _ = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey).openQueue()
        let plain = try DatabasePool(path: scratch.path("p.db"))
        try plain.write { try $0.fill(rows: 5) }
        try plain.close()
        #expect(Array(try contents(scratch.path("p.db"))[..<16]) == PageLayout.magic)
    }
}

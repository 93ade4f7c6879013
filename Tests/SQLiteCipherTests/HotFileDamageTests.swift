import Foundation
import GRDB
import TestSupport
import Testing

@testable import SQLiteCipher

@Suite(
    "A damaged hot journal or log gives an error or what was committed, never a mixture", .startsProcesses, .ownThreads)
struct HotFileDamageTests {
    /// A database with three transactions, and the files of a process that died in a fourth one.
    private func hot(_ scratch: Scratch, _ kind: Profile, _ mode: JournalMode) throws -> (String, [UInt8], [UInt8]) {
        let path = scratch.path("a.db")
        _ = try Peer(path, kind, mode, "add", "3").words()
        _ = try Peer(path, kind, mode, "die").words()
        return (path, try contents(path), try contents(path + (mode == .wal ? "-wal" : "-journal")))
    }

    /// The content of the database, or `nil` if it can't be read, with an error that says so.
    private func state(_ path: String, _ kind: Profile) throws -> [Int]? {
        let database = try EncryptedDatabase(path: path, key: testKey, profile: kind.profile)
        do {
            return try database.openQueue().read { db in
                let findings = try db.integrity()
                guard findings == ["ok"] else { return [-1] }
                let tables = try Int.fetchOne(
                    db, sql: "SELECT count(*) FROM sqlite_master WHERE name IN ('item', 'batch')")
                guard tables == 2 else { return [0, 0, 0] }
                return try ["batch", "item", "item WHERE number = -1"].map {
                    try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0)") ?? -1
                }
            }
        } catch {
            let code = (database.explain(error) as? CipherError)?.code
            #expect(code == .damagedPage || code == .wrongKey || code == .notADatabase, "\(error)")
            return nil
        }
    }

    @Test(arguments: Profile.allCases)
    func `damaged rollback journal after its header gives an error or the committed state`(_ kind: Profile) throws {
        let scratch = try Scratch()
        let (path, main, journal) = try hot(scratch, kind, .delete)
        let copy = scratch.path("copy.db")
        var errors = 0
        // The record of the first page, byte by byte at its ends, and the rest at random.
        let places =
            [512, 515, 516, 600, 4611, 4612, 4615, 4616] + (0..<25).map { _ in Int.random(in: 512..<journal.count) }
        for place in places {
            // Each spill has another header at a sector's start. A journal with damage there counts as removed.
            if place > 4616, place % 512 < 28 { continue }
            var bad = journal
            bad[place] ^= 16
            try write(main, to: copy)
            try write(bad, to: copy + "-journal")
            if let found = try state(copy, kind) { #expect(found == [3, 21, 0], "byte \(place)") } else { errors += 1 }
        }
        #expect(errors > 0)
        try write(main, to: copy)
        try write(journal, to: copy + "-journal")
        #expect(try state(copy, kind) == [3, 21, 0])
        _ = path
    }

    @Test(arguments: Profile.allCases)
    func `wrong key leaves a hot journal in place even if it was never synced`(_ kind: Profile) throws {
        let scratch = try Scratch()
        let (_, main, synced) = try hot(scratch, kind, .delete)
        let copy = scratch.path("copy.db")
        // With PRAGMA synchronous = OFF, the number of records is unknown.
        var unsynced = synced
        unsynced.replaceSubrange(8..<12, with: [255, 255, 255, 255])
        for journal in [synced, unsynced] {
            try write(main, to: copy)
            try write(journal, to: copy + "-journal")
            let wrong = try EncryptedDatabase(path: copy, key: otherKey, profile: kind.profile)
            let error = #expect(throws: CipherError.self) { try wrong.openQueue() }
            #expect(error?.code == .wrongKey)
            #expect(try contents(copy + "-journal") == journal)
            #expect(try state(copy, kind) == [3, 21, 0])
        }
    }

    /// An attacker who can write a journal can write its header and any checksum, but not a page.
    @Test(arguments: Profile.allCases)
    func `forged journal does not replace any page`(_ kind: Profile) throws {
        let scratch = try Scratch(inMemory: true)
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey, profile: kind.profile)
        // The last page of a value with several overflow pages.
        try RawDatabase(database).run(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, body BLOB); CREATE INDEX byName ON t (name);
            INSERT INTO t VALUES (1, 'a', randomblob(20000))
            """)
        let good = try contents(database.path)
        let before = Outcome.read(database)
        func word(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
        for records: UInt32 in [.max, 1, 0] {
            for checksum: UInt32 in [0, 0x1234_5678, 0x1234_5678 &- 0x5EED_5EED] {
                for page in 1...UInt32(good.count / 4096) {
                    let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
                    // Number of records, nonce, pages, sector, page size.
                    var journal = magic + word(records) + word(0x1234_5678) + word(UInt32(good.count / 4096))
                    journal += word(512) + word(4096) + [UInt8](repeating: 0, count: 512 - 28)
                    journal += word(page) + [UInt8](repeating: 0, count: 4096) + word(checksum)
                    try write(good, to: database.path)
                    try write(journal, to: database.path + "-journal")
                    let found = Outcome.read(database)
                    #expect(found == before || found.isDamage, "\(records) \(checksum) \(page)")
                    unlink(database.path + "-journal")
                    if !found.isDamage { #expect(try contents(database.path) == good) }
                }
            }
        }
    }

    @Test(arguments: Profile.allCases)
    func `damaged write-ahead log gives an error or a committed state`(_ kind: Profile) throws {
        let scratch = try Scratch()
        let path = scratch.path("a.db")
        let database = try EncryptedDatabase(path: path, key: testKey, profile: kind.profile)
        let queue = try database.openQueue()
        _ = try queue.writeWithoutTransaction { try String.fetchOne($0, sql: "PRAGMA journal_mode = WAL") }
        let main = try contents(path)
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE item (number INTEGER, filler TEXT); CREATE TABLE batch (number INTEGER)")
        }
        for number in 1...6 {
            try queue.write { db in
                for _ in 0..<7 {
                    try db.execute(
                        sql: "INSERT INTO item VALUES (?, ?)", arguments: [number, String(repeating: "x", count: 900)])
                }
                try db.execute(sql: "INSERT INTO batch VALUES (?)", arguments: [number])
            }
        }
        let log = try contents(path + "-wal")
        let copy = scratch.path("copy.db")
        var committed: Set<Int> = []
        for _ in 0..<60 {
            var bad = log
            bad[Int.random(in: 0..<log.count)] ^= UInt8(1 << Int.random(in: 0..<8))
            try write(main, to: copy)
            try write(bad, to: copy + "-wal")
            try? FileManager.default.removeItem(atPath: copy + "-shm")
            guard let found = try state(copy, kind) else { continue }
            // The complete state after some transaction, and nothing of later ones.
            #expect(found[1] == 7 * found[0] && found[2] == 0, "\(found)")
            committed.insert(found[0])
        }
        #expect(committed.isSubset(of: Set(0...6)))
        try queue.close()
    }

    @Test(arguments: Profile.allCases)
    func `log with damaged pages and repaired checksums reports the modified page`(_ kind: Profile) throws {
        let scratch = try Scratch()
        let path = scratch.path("a.db")
        let pool = try EncryptedDatabase(path: path, key: testKey, profile: kind.profile).openPool()
        try pool.write { db in
            try db.execute(sql: "CREATE TABLE item (number INTEGER); CREATE TABLE batch (number INTEGER)")
        }
        let (main, log) = (try contents(path), try contents(path + "-wal"))
        let copy = scratch.path("copy.db")
        for place in stride(from: 32 + 24 + 2000, to: log.count, by: 4120) {
            var bad = log
            bad[place] ^= 1
            bad.withUnsafeMutableBytes { bytes in
                guard let start = bytes.baseAddress else { return }
                var sum = FrameChecksum(stored: start + 24)
                for offset in stride(from: 32, to: bytes.count, by: 4120) {
                    var header = FrameHeader(start + offset)
                    sum = sum.adding(header: header, page: start + offset + 24, pageSize: 4096, swapped: false)
                    header.checksum = sum
                    header.store(at: start + offset)
                }
            }
            try write(main, to: copy)
            try write(bad, to: copy + "-wal")
            try? FileManager.default.removeItem(atPath: copy + "-shm")
            // A later frame may hold the same page. The damaged one is then not read.
            if let found = try state(copy, kind) { #expect(found == [0, 0, 0]) }
        }
    }

    @Test(arguments: Profile.allCases)
    func `truncated log keeps the transactions before the truncation`(_ kind: Profile) throws {
        let scratch = try Scratch()
        let path = scratch.path("a.db")
        let pool = try EncryptedDatabase(path: path, key: testKey, profile: kind.profile).openPool()
        let main = try contents(path)
        try pool.write {
            try $0.execute(sql: "CREATE TABLE item (number INTEGER); CREATE TABLE batch (number INTEGER)")
        }
        for number in 1...4 {
            try pool.write { db in
                for _ in 0..<7 { try db.execute(sql: "INSERT INTO item VALUES (?)", arguments: [number]) }
                try db.execute(sql: "INSERT INTO batch VALUES (?)", arguments: [number])
            }
        }
        let log = try contents(path + "-wal")
        let copy = scratch.path("copy.db")
        var last = 0
        for length in stride(from: 32, through: log.count, by: 1030) {
            try write(main, to: copy)
            try write(Array(log[..<length]), to: copy + "-wal")
            try? FileManager.default.removeItem(atPath: copy + "-shm")
            let found = try #require(try state(copy, kind))
            #expect(found[1] == 7 * found[0] && found[0] >= last, "\(found)")
            last = max(last, found[0])
        }
        #expect(last >= 3)
    }
}

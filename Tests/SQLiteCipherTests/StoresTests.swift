import Foundation
import GRDB
import TestSupport
import Testing

@testable import SQLiteCipher

@Suite("Many databases, connections and processes at once", .startsProcesses, .ownThreads)
struct StoresTests {
    @Test func `databases with different keys and profiles coexist in one process`() async throws {
        let scratch = try Scratch()
        let databases = try (0..<4).map { number in
            try EncryptedDatabase(
                path: scratch.path("\(number).db"), key: .raw((0..<32).map { UInt8($0 + number) }),
                profile: [.aes256gcm, .sqlCipher4, .aes256gcm(pageSize: 1024), .sqlCipher4(pageSize: 8192)][number])
        }
        let plain = try DatabasePool(path: scratch.path("plain.db"))
        let pools = try databases.map { try $0.openPool() } + [plain]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, pool) in pools.enumerated() {
                group.addTask {
                    try await pool.write { try $0.fill(rows: 1, marker: "store \(number)") }
                    for _ in 0..<10 {
                        try await pool.write { try $0.fill(rows: 5, marker: "store \(number)") }
                        let markers = try await pool.read {
                            try String.fetchSet($0, sql: "SELECT DISTINCT substr(name, 1, 7) FROM t")
                        }
                        #expect(markers == ["store \(number)"])
                    }
                }
            }
            try await group.waitForAll()
        }
        for pool in pools { #expect(try await pool.read { try $0.count() } == 51) }
        // A key does not open another database.
        for (one, two) in [(0, 1), (1, 0), (2, 0), (3, 1)] {
            let mixed = try EncryptedDatabase(
                path: databases[one].path, key: databases[two].entry.key, profile: databases[one].profile)
            #expect(throws: CipherError.self) { try mixed.openQueue() }
        }
    }

    @Test(arguments: Profile.allCases)
    func `snapshot, backup and VACUUM copy see the same state`(_ kind: Profile) throws {
        let scratch = try Scratch()
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey, profile: kind.profile)
        let pool = try database.openPool()
        try pool.write { try $0.fill(rows: 30) }
        let snapshot = try pool.makeSnapshot()
        try pool.write { try $0.fill(rows: 20) }
        #expect(try snapshot.read { try $0.count() } == 30)
        #expect(try pool.read { try $0.count() } == 50)

        let backup = try EncryptedDatabase(path: scratch.path("b.db"), key: otherKey, profile: kind.profile)
        let queue = try backup.openQueue()
        try snapshot.backup(to: queue)
        #expect(try queue.read { try $0.count() } == 30)
        let copy = try EncryptedDatabase(path: scratch.path("c.db"), key: otherKey, profile: kind.profile)
        try pool.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [copy.uri("hdr=0")]) }
        #expect(try copy.openQueue().read { try $0.count() } == 50)
        #expect(try copy.openQueue().read { try $0.integrity() } == ["ok"])
        #expect(try !Data(contents(copy.path)).shows("marker"))
    }

    @Test(arguments: Profile.allCases, [1024, 2048, 4096, 8192, 16_384, 32_768, 65_536])
    func `database with auto-vacuum shrinks with any page size`(_ kind: Profile, _ pageSize: Int) throws {
        let scratch = try Scratch(inMemory: true)
        let database = try EncryptedDatabase(
            path: scratch.path("a.db"), key: testKey, profile: kind.profile(pageSize: pageSize))
        for (mode, journal) in [("FULL", "DELETE"), ("INCREMENTAL", "WAL")] {
            let queue = try database.openQueue()
            try queue.writeWithoutTransaction { db in
                _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = \(journal)")
                try db.execute(sql: "PRAGMA auto_vacuum = \(mode); VACUUM")
                try db.inTransaction {
                    try db.execute(sql: "DROP TABLE IF EXISTS t")
                    try db.fill(rows: 300)
                    return .commit
                }
                try db.execute(sql: "DELETE FROM t WHERE id > 20")
                try db.execute(sql: "PRAGMA incremental_vacuum")
                _ = try db.checkpoint(.truncate)
                #expect(try Int.fetchOne(db, sql: "PRAGMA freelist_count") == 0)
                #expect(try db.integrity() == ["ok"])
                #expect(try db.count() == 20)
            }
            let size = try contents(database.path).count
            let pages = try queue.read { try Int.fetchOne($0, sql: "PRAGMA page_count") } ?? 0
            #expect(size == pages * pageSize)
            try queue.close()
        }
    }

    @Test(arguments: Profile.allCases, [JournalMode.delete, .wal])
    func `four processes that read and write at once never see a wrong sum`(
        _ kind: Profile, _ mode: JournalMode
    ) throws {
        let scratch = try Scratch()
        let path = scratch.path("a.db")
        let peers = try (0..<4).map { _ in try Peer(path, kind, mode, "transfer", isSoak ? "20" : "1") }
        for peer in peers {
            let words = peer.words()
            #expect(peer.process.terminationStatus == 0, "\(words) \(peer.complaint)")
            #expect(words.first.flatMap { Int($0) } ?? 0 > 0)
        }
        let queue = try EncryptedDatabase(path: path, key: testKey, profile: kind.profile).openQueue()
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT sum(amount) FROM account") } == 5000)
        #expect(try queue.read { try $0.integrity() } == ["ok"])
    }

    @Test(arguments: Profile.allCases, [JournalMode.delete, .wal])
    func `process with another default VFS shares the database with usual processes`(
        _ kind: Profile, _ mode: JournalMode
    ) throws {
        let scratch = try Scratch()
        let path = scratch.path("a.db")
        let one = try Peer(path, kind, mode, "dotfile", "4")
        let two = try Peer(path, kind, mode, "add", "4")
        #expect(one.words().count == 4, "\(one.complaint)")
        #expect(two.words().count == 4, "\(two.complaint)")
        #expect(try Peer(path, kind, mode, "check").words() == ["8", "8", "56", "ok"])
    }
}

import Foundation
import GRDB
import TestSupport
import Testing

@testable import SQLiteCipher

@Suite("Written content reads back", .ownThreads)
struct RoundTripTests {
    @Test(arguments: Profile.allCases, JournalMode.allCases)
    func `queue's rows exist after it is closed and opened again`(_ kind: Profile, _ mode: JournalMode) throws {
        let scratch = try Scratch()
        let database = try EncryptedDatabase(path: scratch.path("a #?%&b.db"), key: testKey, profile: kind.profile)
        let queue = try database.openQueue()
        try queue.writeWithoutTransaction { db in
            let set = try String.fetchOne(db, sql: "PRAGMA journal_mode = \(mode.rawValue)")
            #expect(set == mode.rawValue)
            // A cache of a few pages spills, and so writes pages more than once.
            try db.execute(sql: "PRAGMA cache_size = 8")
            try db.inTransaction {
                try db.fill(rows: 400)
                return .commit
            }
            try db.inTransaction {
                try db.fill(rows: 200)
                try db.execute(sql: "UPDATE t SET name = name || 'x'")
                return .rollback
            }
            try db.inTransaction {
                try db.inSavepoint {
                    try db.execute(sql: "UPDATE t SET body = body || 'y'")
                    return .rollback
                }
                try db.execute(sql: "UPDATE t SET name = 'z' || name")
                try db.execute(sql: "DELETE FROM t WHERE id % 3 = 0")
                try db.fill(rows: 50)
                return .commit
            }
        }
        let before = try queue.read { try Row.fetchAll($0, sql: "SELECT * FROM t ORDER BY id") }
        try queue.close()
        #expect(FileManager.default.fileExists(atPath: database.path))

        let again = try EncryptedDatabase(path: database.path, key: testKey, profile: kind.profile)
        let after = try again.openQueue().read { try Row.fetchAll($0, sql: "SELECT * FROM t ORDER BY id") }
        #expect(after == before)
        #expect(try again.openQueue().read { try $0.integrity() } == ["ok"])
    }

    @Test(arguments: Profile.allCases)
    func `pool's readers see the writer's commits during checkpoints`(_ kind: Profile) async throws {
        let scratch = try Scratch()
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey, profile: kind.profile)
        var configuration = Configuration()
        // A reader that reads a header during its write takes the writer's lock for a moment.
        configuration.busyMode = .timeout(20)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA wal_autocheckpoint = 20") }
        let pool = try database.openPool(configuration: configuration)
        try await pool.write { db in
            try db.execute(sql: "CREATE TABLE pair (a INTEGER, b INTEGER, filler TEXT)")
            try db.execute(sql: "INSERT INTO pair VALUES (0, 0, '')")
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for value in 1...300 {
                    try await pool.write { db in
                        try db.execute(
                            sql: "UPDATE pair SET a = ?, filler = ?",
                            arguments: [value, String(repeating: "f", count: value * 30)])
                        try db.execute(sql: "UPDATE pair SET b = ?", arguments: [value])
                    }
                }
            }
            for _ in 0..<3 {
                group.addTask {
                    for _ in 0..<300 {
                        let row = try pool.read { try Row.fetchOne($0, sql: "SELECT a, b FROM pair") }
                        #expect(row?["a"] as Int? == row?["b"] as Int?)
                    }
                }
            }
            try await group.waitForAll()
        }
        try pool.close()
        #expect(try await database.openQueue().read { try $0.integrity() } == ["ok"])
    }

    @Test(arguments: Profile.allCases, [1024, 8192, 65_536])
    func `other page sizes work in both journal modes`(_ kind: Profile, _ pageSize: Int) throws {
        let scratch = try Scratch()
        let database = try EncryptedDatabase(
            path: scratch.path("a.db"), key: testKey, profile: kind.profile(pageSize: pageSize))
        for mode in ["delete", "wal"] {
            let queue = try database.openQueue()
            try queue.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA journal_mode = \(mode)")
                try db.execute(sql: "PRAGMA cache_size = 5")
                try db.inTransaction {
                    try db.fill(rows: 100)
                    return .commit
                }
                #expect(try Int.fetchOne(db, sql: "PRAGMA page_size") == pageSize)
                #expect(try db.integrity() == ["ok"])
            }
            try queue.close()
        }
        let error = #expect(throws: CipherError.self) {
            try EncryptedDatabase(path: database.path, key: testKey, profile: kind.profile(pageSize: 2048)).openQueue()
        }
        #expect(error?.code == .wrongKey)
    }

    @Test func `GCM supports pages of 1,024 bytes, the smallest size`() throws {
        let scratch = try Scratch()
        let database = try EncryptedDatabase(
            path: scratch.path("a.db"), key: testKey, profile: .aes256gcm(pageSize: 1024))
        let queue = try database.openQueue()
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA cache_size = 5")
            try db.inTransaction {
                try db.fill(rows: 200)
                return .commit
            }
            try db.inTransaction {
                try db.execute(sql: "UPDATE t SET body = name")
                return .rollback
            }
            #expect(try db.integrity() == ["ok"])
            #expect(try db.count() == 200)
        }
    }
}

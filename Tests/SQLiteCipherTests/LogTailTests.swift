import Foundation
import GRDB
import TestSupport
import Testing

@testable import SQLiteCipher

@Suite("The log's checksums on disk are one chain across all writers", .startsProcesses, .ownThreads)
struct LogTailTests {
    /// Opens a copy of database and log. The frames of the log count only as far as their checksum chain goes.
    private func recovered(_ path: String, _ profile: CipherProfile, in scratch: Scratch) throws -> [Int] {
        let copy = scratch.path("copy.db")
        for suffix in ["", "-wal"] {
            // Another process copies: opening and closing the files here would release their locks.
            let copying = try Process.run(
                URL(fileURLWithPath: "/bin/cp"), arguments: [path + suffix, copy + suffix])
            copying.waitUntilExit()
            #expect(copying.terminationStatus == 0)
        }
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy + suffix) } }
        let queue = try EncryptedDatabase(path: copy, key: testKey, profile: profile).openQueue()
        defer { try? queue.close() }
        return try queue.read { db in
            #expect(try db.integrity() == ["ok"])
            return try Int.fetchAll(db, sql: "SELECT n FROM v ORDER BY n")
        }
    }

    @Test(arguments: Profile.allCases)
    func `commits, rollbacks and restarts by several writers leave a log that recovers completely`(
        kind: Profile
    ) throws {
        let scratch = try Scratch()
        let path = scratch.path("a.db")
        let database = try EncryptedDatabase(path: path, key: testKey, profile: kind.profile)
        var configuration = Configuration()
        configuration.busyMode = .timeout(20)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = 5; PRAGMA wal_autocheckpoint = 0") }
        let queues = try (0..<2).map { _ in try database.openQueue(configuration: configuration) }
        for queue in queues {
            _ = try queue.writeWithoutTransaction { try String.fetchOne($0, sql: "PRAGMA journal_mode = WAL") }
        }
        try queues[0].write { try $0.execute(sql: "CREATE TABLE v (n INTEGER, filler BLOB)") }
        let (seed, random) = SeededRandom.announced("tails of the log, \(kind)")
        var generator = random
        var expected: [Int] = []
        for number in 0..<160 {
            let queue = queues[Int.random(in: 0..<2, using: &generator)]
            switch Int.random(in: 0..<10, using: &generator) {
            case 0:
                // Spills into the log and rolls back. The next transaction overwrites its frames.
                try queue.writeWithoutTransaction { db in
                    try db.inTransaction(.immediate) {
                        try db.execute(sql: "INSERT INTO v VALUES (-1, zeroblob(60000))")
                        return .rollback
                    }
                }
            case 1:
                try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(RESTART)") }
            case 2 where number > 20 && number < 90:
                #expect(try Peer(path, kind, .wal, "add", "2").words().count == 2)
            default:
                let size = Int.random(in: 10..<9000, using: &generator)
                try queue.write {
                    try $0.execute(sql: "INSERT INTO v VALUES (?, zeroblob(?))", arguments: [number, size])
                }
                expected.append(number)
            }
            if number % 8 == 7 {
                let found = try recovered(path, kind.profile, in: scratch)
                try #require(found == expected, "TANDEM_SEED=\(seed), after step \(number)")
            }
        }
    }
}

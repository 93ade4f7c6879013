import Foundation
import GRDB
import TestSupport
import Testing

@testable import SQLiteCipher

/// Calls that could access the file outside SQLite while a pool has it open.
enum Glance: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case fileKey, encryptPlainFile, salvage, changeKey, exportPlain, secondQueue

    var testDescription: String { rawValue }

    func run(_ database: EncryptedDatabase, _ scratch: Scratch) throws {
        switch self {
        case .fileKey: _ = try database.fileKey()
        case .encryptPlainFile: #expect(throws: CipherError.self) { try database.encryptPlainFile() }
        case .salvage:
            _ = try database.salvage(to: EncryptedDatabase(path: scratch.path("salvaged.db"), key: otherKey))
        case .changeKey: #expect(throws: CipherError.self) { try database.changeKey(to: otherKey) }
        case .exportPlain: try database.exportPlain(to: scratch.path("plain.db"))
        case .secondQueue: try database.openQueue().close()
        }
    }
}

/// POSIX locks belong to the process: opening and closing the file directly would release SQLite's locks.
@Suite("No call drops the locks that this process has on a database", .startsProcesses, .ownThreads)
struct LockTests {
    @Test(arguments: Glance.allCases)
    func `another process that opens and closes the database does not remove the log`(_ glance: Glance) throws {
        let scratch = try Scratch()
        let path = scratch.path("a.db")
        _ = try Peer(path, .gcm, .wal, "add", "2").words()
        let database = try EncryptedDatabase(path: path, key: testKey)
        let pool = try database.openPool()
        func add(_ number: Int) throws {
            try pool.write { db in
                try db.execute(sql: "INSERT INTO batch VALUES (?)", arguments: [number])
                for _ in 0..<7 { try db.execute(sql: "INSERT INTO item VALUES (?, 0, '')", arguments: [number]) }
            }
        }
        try add(100)
        try glance.run(database, scratch)
        // A process that considers itself the last one checkpoints and removes the log.
        #expect(try Peer(path, .gcm, .wal, "add", "1").words() == ["101"])
        #expect(FileManager.default.fileExists(atPath: path + "-wal"))
        try add(200)
        #expect(try Peer(path, .gcm, .wal, "check").words() == ["5", "5", "35", "ok"])
    }

    @Test func `transaction blocks writers of other processes during any call`() throws {
        let scratch = try Scratch()
        let path = scratch.path("a.db")
        _ = try Peer(path, .gcm, .delete, "add", "2").words()
        let database = try EncryptedDatabase(path: path, key: testKey)
        let queue = try database.openQueue()
        let peer = try queue.write { db in
            try db.execute(sql: "INSERT INTO batch VALUES (50)")
            _ = try database.fileKey()
            let peer = try Peer(path, .gcm, .delete, "add", "1")
            Thread.sleep(forTimeInterval: 0.3)
            #expect(peer.process.isRunning)
            try db.execute(sql: "INSERT INTO item SELECT 50, value, '' FROM json_each('[1,2,3,4,5,6,7]')")
            return peer
        }
        #expect(peer.words() == ["51"])
        #expect(try Peer(path, .gcm, .delete, "check").words() == ["4", "4", "28", "ok"])
    }
}

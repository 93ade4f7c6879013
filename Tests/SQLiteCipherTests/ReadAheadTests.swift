import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import SQLiteCipher

@Suite("Pages that are read and decrypted ahead are what SQLite would have read", .startsProcesses, .ownThreads)
struct ReadAheadTests {
    static let rows = 1500

    /// A connection with almost no page cache, so that a scan reads the file.
    private func open(_ database: EncryptedDatabase, _ mode: JournalMode = .wal) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(20)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = 5; PRAGMA synchronous = OFF") }
        let queue = try database.openQueue(configuration: configuration)
        _ = try queue.writeWithoutTransaction {
            try String.fetchOne($0, sql: "PRAGMA journal_mode = \(mode.rawValue)")
        }
        return queue
    }

    private func fill(_ queue: DatabaseQueue, rows: Int = rows) throws {
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, body BLOB)")
            for row in 0..<rows {
                try db.execute(sql: "INSERT INTO t (n, body) VALUES (?, zeroblob(200))", arguments: [row])
            }
        }
        // Checkpoints a log, if there is one.
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
    }

    private func sum(_ db: Database) throws -> Int {
        try Int.fetchOne(db, sql: "SELECT sum(n + length(body)) FROM t") ?? -1
    }

    /// Uses the path: opening and closing the file would release this process's locks on it.
    private func size(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? -1
    }

    private static let whole = rows * (rows - 1) / 2 + rows * 200

    @Test(arguments: Profile.allCases, [JournalMode.delete, .wal])
    func `scan sees another connection's writes since the last scan`(kind: Profile, mode: JournalMode) throws {
        let scratch = try Scratch()
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey, profile: kind.profile)
        let (reader, writer) = (try open(database, mode), try open(database, mode))
        try fill(writer)
        for round in 0..<5 {
            #expect(try reader.read(sum) == Self.whole + round * Self.rows)
            try writer.write { try $0.execute(sql: "UPDATE t SET n = n + 1") }
            if mode == .wal, round % 2 == 0 { _ = try writer.writeWithoutTransaction { try $0.checkpoint(.full) } }
        }
    }

    @Test(arguments: Profile.allCases, [JournalMode.delete, .wal])
    func `connection sees its own writes between two scans of one transaction`(
        kind: Profile, mode: JournalMode
    ) throws {
        let scratch = try Scratch()
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey, profile: kind.profile)
        let queue = try open(database, mode)
        try fill(queue)
        try queue.write { db in
            for round in 0..<4 {
                #expect(try sum(db) == Self.whole + round * Self.rows)
                try db.execute(sql: "UPDATE t SET n = n + 1")
            }
        }
    }

    @Test(arguments: Profile.allCases, [JournalMode.delete, .wal])
    func `connection reads correctly while another process rewrites and shortens the file`(
        kind: Profile, mode: JournalMode
    ) throws {
        let scratch = try Scratch()
        let path = scratch.path("a.db")
        let database = try EncryptedDatabase(path: path, key: testKey, profile: kind.profile)
        #expect(try Peer(path, kind, mode, "add", "60").words().count == 60)
        let queue = try open(database, mode)
        var sizes: [Int] = []
        for _ in 0..<3 {
            try queue.read { db in
                let items = try Int.fetchOne(db, sql: "SELECT count(*) FROM item WHERE length(filler) > 10")
                #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM item") == items)
                #expect(try db.integrity() == ["ok"])
            }
            sizes.append(try size(path))
            let peer = try Peer(path, kind, mode, "shrink")
            #expect(peer.words() == [])
            #expect(peer.process.terminationStatus == 0, "\(peer.complaint)")
        }
        #expect(try queue.read { try $0.integrity() } == ["ok"])
        #expect(try size(path) < sizes[0])
    }

    @Test(arguments: Profile.allCases)
    func `damaged page within a scan is named`(kind: Profile) throws {
        let scratch = try Scratch()
        let path = scratch.path("a.db")
        let database = try EncryptedDatabase(path: path, key: testKey, profile: kind.profile)
        var queue: DatabaseQueue? = try open(database, .delete)
        try fill(queue!)
        try queue?.close()
        queue = nil
        let whole = try contents(path)
        // Among the first pages of a run, in the helper's part, and in the last batch.
        for page in [8, 30, 31, 60, whole.count / 4096 - 2] {
            var bytes = whole
            bytes[(page - 1) * 4096 + 1234] ^= 1
            try write(bytes, to: path)
            let reader = try open(database, .delete)
            do {
                _ = try reader.read(sum)
                Issue.record("The damage was not noticed")
            } catch {
                let found = try #require(database.explain(error) as? CipherError)
                #expect(found.code == .damagedPage)
                #expect(found.page == UInt32(page))
            }
            try reader.close()
        }
    }

    @Test(arguments: Profile.allCases)
    func `connection can be closed while pages are decrypted ahead`(kind: Profile) throws {
        let scratch = try Scratch()
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey, profile: kind.profile)
        try fill(open(database))
        for stop in stride(from: 10, to: Self.rows, by: 90) {
            let queue = try open(database)
            try queue.read { db in
                let rows = try Row.fetchCursor(db, sql: "SELECT n FROM t")
                for _ in 0..<stop { _ = try rows.next() }
            }
            try queue.close()
        }
        #expect(try open(database).read(sum) == Self.whole)
    }

    @Test(arguments: Profile.allCases)
    func `many connections scan at once`(kind: Profile) throws {
        let scratch = try Scratch()
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey, profile: kind.profile)
        try fill(open(database))
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            do {
                let queue = try open(database)
                for _ in 0..<3 {
                    if try queue.read(sum) != Self.whole { failures.withLock { $0.append("\(number): wrong") } }
                }
            } catch {
                failures.withLock { $0.append("\(number): \(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
    }

    @Test(arguments: Profile.allCases, [true, false])
    func `every page reads the same as without read-ahead, with and without a helper`(
        kind: Profile, helped: Bool
    ) throws {
        let scratch = try Scratch()
        let path = scratch.path("a.db")
        let profile = kind.profile(pageSize: helped ? 1024 : 16_384)
        let database = try EncryptedDatabase(path: path, key: testKey, profile: profile)
        let queue = try database.openQueue()
        try fill(queue, rows: 6000)
        try queue.close()
        let reader = try PageReader(database)
        let lower = try FileBelow(path)
        let context = ConnectionContext(entry: database.entry, path: path)
        context.use(salt: Array(try contents(path)[..<16]))
        let ahead = ReadAhead(context: context, mayHaveWorker: helped)
        var page = [UInt8](repeating: 0, count: profile.pageSize)
        var served = 0
        // Forwards, with gaps and with interior pages in between, as in a tree.
        for number in 2...reader.pageCount where number % 37 != 0 {
            for number in number % 50 == 0 ? [2, number] : [number] {
                let isHere = try page.withUnsafeMutableBytes {
                    ahead.read(number, into: try #require($0.baseAddress), from: lower.base)
                }
                if !isHere { continue }
                served += 1
                let expected = try reader.page(number)
                try #require(page == expected)
            }
        }
        // All except the first three, and those in between.
        #expect(served > Int(reader.pageCount) * 9 / 10)
    }
}

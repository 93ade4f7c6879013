import Foundation
import GRDB
import TestSupport
import Testing

@testable import SQLiteCipher

/// Changes of the key by several processes and threads at once.
@Suite(.startsProcesses, .ownThreads) struct KeyChangeRaceTests {
    private static let commits = 40

    /// Opens the database with whichever of the two keys fits.
    private func database(_ path: String, _ kind: Profile) throws -> EncryptedDatabase {
        let first = try EncryptedDatabase(path: path, key: testKey, profile: kind.profile)
        do {
            try first.openQueue().close()
            return first
        } catch CipherError.Code.wrongKey {
            return try EncryptedDatabase(path: path, key: otherKey, profile: kind.profile)
        }
    }

    @Test(arguments: Profile.allCases)
    func `two processes that change the key, with random kills, lose nothing`(_ kind: Profile) throws {
        let scratch = try Scratch()
        let path = scratch.path("a.db")
        _ = try Peer(path, kind, .wal, "add", "\(Self.commits)").words()
        let other = try Peer(path, kind, .wal, "alternate")
        var changes = 0
        for _ in 0..<(isSoak ? 100 : 8) {
            let peer = try Peer(path, kind, .wal, "alternate")
            Thread.sleep(forTimeInterval: .random(in: 0.02...0.2))
            peer.kill()
            changes += peer.words().count
        }
        try #require(other.process.isRunning, "\(other.complaint)")
        other.kill()
        changes += other.words().count
        #expect(changes > 0)

        let left = try database(path, kind)
        let queue = try left.openQueue()
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM batch") } == Self.commits)
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") } == 7 * Self.commits)
        #expect(try queue.read { try $0.integrity() } == ["ok"])
        try queue.close()
        // The next change removes the files of the killed ones.
        _ = try left.changeKey(to: .raw(Array(2..<34)))
        #expect(try scratch.companions(of: path).filter { $0.hasPrefix("a.db-rewrite") } == [])
    }

    @Test func `second of two concurrent changes of the key is refused or sees the first one's key`() async throws {
        let scratch = try Scratch()
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey)
        try await database.openQueue().write { try $0.fill(rows: 2000) }
        let codes = await withTaskGroup(of: CipherError.Code?.self) { group in
            for number in 1...4 {
                group.addTask {
                    do {
                        _ = try database.changeKey(to: .raw((0..<32).map { UInt8($0 + number) }))
                        return nil
                    } catch {
                        return (error as? CipherError)?.code ?? .sql
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.count { $0 == nil } == 1, "\(codes)")
        #expect(codes.allSatisfy { $0 == nil || $0 == .busy || $0 == .wrongKey }, "\(codes)")
    }

    @Test func `change of the key during another attempt's lock is refused and changes nothing`() throws {
        let scratch = try Scratch()
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey)
        try database.openQueue().write { try $0.fill(rows: 20) }
        let before = try contents(database.path)
        let lock = try RewriteLock(database.path, patience: 0)
        let attempt = try lock.newPath()
        try write([1, 2, 3], to: attempt)
        let error = #expect(throws: CipherError.self) { try database.changeKey(to: otherKey) }
        #expect(error?.code == .busy)
        #expect(try contents(attempt) == [1, 2, 3])
        #expect(try contents(database.path) == before)
        withExtendedLifetime(lock) {}
    }

    @Test func `tables with quotes in their names do not prevent a change of key`() throws {
        let scratch = try Scratch()
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey)
        try database.openQueue().write { db in
            try db.execute(sql: #"CREATE TABLE "a""b; c" (v); INSERT INTO "a""b; c" VALUES (1), (2)"#)
        }
        let renewed = try database.changeKey(to: otherKey)
        #expect(try renewed.openQueue().read { try Int.fetchOne($0, sql: #"SELECT count(*) FROM "a""b; c""#) } == 2)
    }

    @Test func `only files that an attempt named are removed as leftovers`() throws {
        let scratch = try Scratch()
        let path = scratch.path("a.db")
        let lock = try RewriteLock(path, patience: 0)
        let attempt = try lock.newPath()
        let kept = ["a.db-rewrite-of-mine", "a.db-rewrite-0123456789abcdef.bak", "a.db-rewrite-0123"]
        for name in kept { try write([1], to: scratch.path(name)) }
        for suffix in ["", "-journal", "-wal", "-shm"] { try write([1], to: attempt + suffix) }
        lock.removeLeftovers()
        #expect(try scratch.companions(of: path).filter { $0 != "a.db-rewrite-lock" } == kept.sorted())
    }
}

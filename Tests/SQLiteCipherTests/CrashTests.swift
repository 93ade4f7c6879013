import Foundation
import GRDB
import TestSupport
import Testing

@testable import SQLiteCipher

@Suite("Commits of killed processes are durable", .startsProcesses, .ownThreads)
struct CrashTests {
    private func check(_ path: String, _ kind: Profile, _ mode: JournalMode, atLeast: Int, atMost: Int) throws -> Int {
        let peer = try Peer(path, kind, mode, "check")
        let words = peer.words()
        try #require(words.count == 4, "\(words) \(peer.complaint)")
        let whole = try #require(Int(words[0]))
        #expect(words[1] == words[0] && words[2] == "\(7 * whole)" && words[3] == "ok", "\(words)")
        #expect((atLeast...atMost).contains(whole), "\(whole) of \(atLeast)...\(atMost)")
        return whole
    }

    /// Searches every file for the written content, as a whole and in parts.
    private func expectNoPlaintext(_ folder: URL) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let data = try Data(contentsOf: folder.appendingPathComponent(name))
            for text in ["S3CR3T", "CREATE TABLE", "SQLite format", "itemNumber"] {
                #expect(!data.shows(text), "\(text) in \(name)")
            }
        }
    }

    @Test(arguments: Profile.allCases, [JournalMode.delete, .persist, .wal])
    func `killed writer loses no acknowledged commit`(_ kind: Profile, _ mode: JournalMode) throws {
        let scratch = try Scratch()
        let path = scratch.path("a.db")
        var acknowledged = 0
        for round in 0..<(isSoak ? 60 : 4) {
            let peer = try Peer(path, kind, mode, "load")
            // In every other round the writer may die before its first commit.
            let first = try round % 2 == 1 ? peer.waitForWord("\n") : []
            Thread.sleep(forTimeInterval: .random(in: 0.05...0.25))
            peer.kill()
            let numbers = (first + peer.words()).compactMap { Int($0) }
            acknowledged = max(acknowledged, numbers.last ?? 0)
            try expectNoPlaintext(scratch.url)
            guard acknowledged > 0 else { continue }
            acknowledged = try check(path, kind, mode, atLeast: acknowledged, atMost: acknowledged + 1)
        }
    }

    @Test(arguments: Profile.allCases, [JournalMode.delete, .wal])
    func `two writers killed together lose no acknowledged commit`(_ kind: Profile, _ mode: JournalMode) throws {
        let scratch = try Scratch()
        let path = scratch.path("a.db")
        _ = try Peer(path, kind, mode, "add", "1").words()
        var acknowledged = 1
        for _ in 0..<(isSoak ? 30 : 2) {
            // Outside WAL mode one of two writers can starve, so wait only for the first one's commit.
            let peer = try Peer(path, kind, mode, "load")
            let first = try peer.waitForWord("\n")
            let peers = [peer, try Peer(path, kind, mode, "load")]
            Thread.sleep(forTimeInterval: .random(in: 0...0.2))
            for peer in peers { peer.kill() }
            #expect(!first.isEmpty, "The writer ended before its first commit.")
            let words = first + peers.flatMap { $0.words() }
            acknowledged = max(acknowledged, words.compactMap { Int($0) }.max() ?? 0)
            acknowledged = try check(path, kind, mode, atLeast: acknowledged, atMost: acknowledged + 2)
        }
    }

    @Test(arguments: Profile.allCases, [JournalMode.delete, .wal])
    func `spilled transaction of a killed process is rolled back`(_ kind: Profile, _ mode: JournalMode) throws {
        let scratch = try Scratch()
        let path = scratch.path("a.db")
        _ = try Peer(path, kind, mode, "add", "3").words()
        for _ in 0..<3 {
            let peer = try Peer(path, kind, mode, "die")
            _ = peer.words()
            #expect(peer.process.terminationReason == .uncaughtSignal, "\(peer.complaint)")
            try expectNoPlaintext(scratch.url)
            _ = try check(path, kind, mode, atLeast: 3, atMost: 3)
        }
    }

    @Test(arguments: Profile.allCases, [JournalMode.delete, .wal])
    func `processes that race to create a database all open the same one`(_ kind: Profile, _ mode: JournalMode) throws {
        for _ in 0..<(isSoak ? 40 : 4) {
            let scratch = try Scratch()
            let path = scratch.path("a.db")
            let peers = try (0..<4).map { _ in try Peer(path, kind, mode, "add", "3") }
            let words = peers.map { $0.words() }
            var added = 0
            for (peer, words) in zip(peers, words) {
                added += words.count
                // The first switch to a write-ahead log can find the database busy, encrypted or not.
                let complaint = peer.complaint
                #expect(words.count == 3 || complaint.contains("locked"), "\(complaint)")
            }
            #expect(added > 0)
            _ = try check(path, kind, mode, atLeast: added, atMost: added)
        }
    }

    @Test(arguments: Profile.allCases)
    func `killed change of key leaves either the old key or the new key`(_ kind: Profile) throws {
        let scratch = try Scratch()
        let path = scratch.path("a.db")
        let target: Profile = kind == .gcm ? .sqlCipher : .gcm
        _ = try Peer(path, kind, .wal, "add", "40").words()
        let original = try contents(path)
        var kept: Set<String> = []
        for round in 0..<(isSoak ? 80 : 8) {
            try scratch.removeCompanions(of: path)
            try write(original, to: path)
            let peer = try Peer(path, kind, .wal, "rekey", target == .gcm ? "gcm" : "sqlcipher")
            Thread.sleep(forTimeInterval: 0.012 * Double(round % 8))
            peer.kill()
            _ = peer.words()
            let old = try EncryptedDatabase(path: path, key: testKey, profile: kind.profile)
            let new = try EncryptedDatabase(path: path, key: otherKey, profile: target.profile)
            let queue: DatabaseQueue
            do {
                queue = try old.openQueue()
                kept.insert("old")
            } catch CipherError.Code.wrongKey {
                queue = try new.openQueue()
                kept.insert("new")
            }
            #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM batch") } == 40)
            #expect(try queue.read { try $0.integrity() } == ["ok"])
            try queue.close()
        }
        // With few rounds, all kills may come too early or too late.
        if isSoak { #expect(kept == ["old", "new"]) }
    }
}

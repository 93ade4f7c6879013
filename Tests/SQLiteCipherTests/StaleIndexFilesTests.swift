import Foundation
import GRDB
import TestSupport
import Testing

@testable import SQLiteCipher

@Suite("The indexes that killed processes left in memory are removed", .startsProcesses, .ownThreads)
struct StaleIndexFilesTests {
    private static let folder = "/dev/shm"

    /// The index of a database, by its inode.
    private func indexes(_ path: String) throws -> [String] {
        let inode = try #require(
            try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? UInt64)
        let part = "-\(String(inode, radix: 16))-"
        return try FileManager.default.contentsOfDirectory(atPath: Self.folder)
            .filter { $0.hasPrefix("sqlitecipher-") && $0.contains(part) }
    }

    @Test func `opening another database removes stale indexes and keeps used ones`() throws {
        let scratch = try Scratch()
        let (killed, alive) = (scratch.path("killed.db"), scratch.path("alive.db"))
        let first = try Peer(killed, .gcm, .wal, "hold")
        let second = try Peer(alive, .gcm, .wal, "hold")
        defer { second.kill() }
        try first.waitForWord("open")
        try second.waitForWord("open")
        #expect(try indexes(killed).count == 1)
        #expect(try indexes(alive).count == 1)
        first.kill()
        _ = first.words()

        // Opening any database creates an index, and therefore looks for stale ones.
        let other = try EncryptedDatabase(path: scratch.path("other.db"), key: testKey).openPool()
        try other.write { try $0.fill(rows: 3) }
        #expect(try indexes(killed) == [])
        #expect(try indexes(alive).count == 1)
        #expect(try Peer(alive, .gcm, .wal, "check").words() == ["1", "1", "7", "ok"])
        #expect(try Peer(killed, .gcm, .wal, "check").words() == ["1", "1", "7", "ok"])
    }

    @Test func `index removed by hand is not replaced while others have it mapped`() throws {
        let scratch = try Scratch()
        let path = scratch.path("a.db")
        let peer = try Peer(path, .gcm, .wal, "hold")
        try peer.waitForWord("open")
        for name in try indexes(path) { unlink("\(Self.folder)/\(name)") }
        let database = try EncryptedDatabase(path: path, key: testKey)
        let error = #expect(throws: CipherError.self) { try database.openQueue() }
        #expect(error?.code == .sharedMemory)
        peer.kill()
        _ = peer.words()
        #expect(try Peer(path, .gcm, .wal, "check").words() == ["1", "1", "7", "ok"])
    }

    /// The process with the index was killed and the index was swept, while another process was about to open it.
    @Test func `index swept while others open the database is created again after they close or retry`() throws {
        let scratch = try Scratch()
        let path = scratch.path("a.db")
        let first = try Peer(path, .gcm, .wal, "hold")
        try first.waitForWord("open")
        let other = try Peer(path, .gcm, .wal, "present", "50")
        try other.waitForWord("there")
        first.kill()
        _ = first.words()
        StaleIndexFiles.sweep(Self.folder, prefix: "sqlitecipher-")
        #expect(try indexes(path) == [])
        let queue = try EncryptedDatabase(path: path, key: testKey).openQueue()
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM batch") } == 1)
        #expect(try indexes(path).count == 1)
        _ = other.words()
    }

    @Test func `processes that come, go and are killed during sweeps all find one index`() throws {
        let scratch = try Scratch()
        let path = scratch.path("a.db")
        _ = try Peer(path, .gcm, .wal, "add", "1").words()
        var (expected, killed) = (1, 0)
        for _ in 0..<(isSoak ? 60 : 5) {
            let doomed = try Peer(path, .gcm, .wal, "load")
            let peers = try (0..<3).map { _ in try Peer(path, .gcm, .wal, "add", "2") }
            let end = Date(timeIntervalSinceNow: .random(in: 0.02...0.2))
            while Date() < end || peers.contains(where: { $0.process.isRunning }) {
                StaleIndexFiles.sweep(Self.folder, prefix: "sqlitecipher-")
                if Date() >= end { doomed.kill() }
            }
            killed += doomed.words().count
            for peer in peers { #expect(peer.words().count == 2, "\(peer.complaint)") }
            expected += 6
        }
        let words = try Peer(path, .gcm, .wal, "check").words()
        try #require(words.count == 4 && words[3] == "ok")
        // The killed process may have made one commit more than it reported.
        let whole = try #require(Int(words[0]))
        #expect((expected + killed...expected + killed + (isSoak ? 60 : 5)).contains(whole))
    }

    @Test func `index removed before its claim is not used`() throws {
        let scratch = try Scratch()
        let path = scratch.path("sqlitecipher-x")
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        StaleIndexFiles.sweep(scratch.url.path, prefix: "sqlitecipher-")
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(!StaleIndexFiles.claim(descriptor))
        let used = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(used) }
        #expect(StaleIndexFiles.claim(used))
        StaleIndexFiles.sweep(scratch.url.path, prefix: "sqlitecipher-")
        #expect(FileManager.default.fileExists(atPath: path))
    }
}

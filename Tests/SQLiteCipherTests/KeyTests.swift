import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import SQLiteCipher

@Suite("Keys are derived once, shared, and released with their last user", .ownThreads)
struct KeyTests {
    @Test func `passphrase is derived once for all connections of a pool, and a provider is called once`() throws {
        let scratch = try Scratch()
        let asked = Mutex(0)
        let key = CipherKey.provider {
            asked.withLock { $0 += 1 }
            return .passphrase("correct horse")
        }
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: key)
        #expect(asked.withLock { $0 } == 0)
        let pool = try database.openPool()
        try pool.write { try $0.fill(rows: 3) }
        for _ in 0..<3 {
            try pool.read { db in
                let count = try pool.unsafeReentrantRead { try $0.count() }
                #expect(count == 3)
                _ = db
            }
        }
        #expect(asked.withLock { $0 } == 1)
        let again = try EncryptedDatabase(path: database.path, key: .passphrase("correct horse"))
        #expect(try again.openQueue().read { try $0.count() } == 3)
        let wrong = try EncryptedDatabase(path: database.path, key: .passphrase("correct horse "))
        #expect(throws: CipherError.self) { try wrong.openQueue() }
    }

    @Test(arguments: ["delete", "wal"])
    func `derived keys are released with the database and its last connection`(_ mode: String) throws {
        let scratch = try Scratch()
        weak var entry: KeyEntry?
        var queue: DatabaseQueue?
        do {
            let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey)
            entry = database.entry
            queue = try database.openQueue()
            _ = try queue?.writeWithoutTransaction { try String.fetchOne($0, sql: "PRAGMA journal_mode = \(mode)") }
            try queue?.write { try $0.fill(rows: 3) }
        }
        #expect(entry != nil)
        let handle = try #require(entry?.handle)
        #expect(KeyRegistry.entry(handle) != nil)
        try queue?.close()
        queue = nil
        #expect(entry == nil)
        #expect(KeyRegistry.entry(handle) == nil)
    }

    @Test func `child process does not continue with its parent's random bytes`() {
        let before = ForkDetector.generation
        #expect(ForkDetector.generation == before)
        // The effect of the system's fork handler in a child.
        ForkDetector.recordFork()
        #expect(ForkDetector.generation > before)
    }

    @Test func `pages are written under another key after a fork`() throws {
        let keys = try DerivedKeys(key: testKey, salt: Array(0..<16), profile: .aes256gcm)
        let codec = PageLayout.codec(keys, profile: .aes256gcm)
        let plain = [UInt8](repeating: 0, count: 4096)
        func epoch() throws -> [UInt8] {
            var stored = [UInt8](repeating: 0, count: 4096)
            try stored.withUnsafeMutableBytes { target in
                try plain.withUnsafeBytes {
                    try codec.encrypt(#require($0.baseAddress), page: 2, into: #require(target.baseAddress))
                }
            }
            return Array(stored[4092...])
        }
        let before = try epoch()
        ForkDetector.recordFork()
        // The epoch is one of 2²⁴, so it is the same by chance once in as many runs.
        #expect(try epoch() != before)
    }
}

import Crypto
import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import SQLiteCipher

@Suite("Secrets are overwritten, and processes do not share random bytes", .ownThreads)
struct SecretTests {
    @Test func `memory of a secret is zeros when its last holder releases it`() {
        let seen = Mutex<[UInt8]?>(nil)
        var secret: SecretBytes? = SecretBytes([1, 2, 3, 4]) { memory in seen.withLock { $0 = Array(memory) } }
        var key: CipherKey? = secret.map { CipherKey(source: .raw($0, salt: nil)) }
        #expect(secret?.withBytes { Array($0) } == [1, 2, 3, 4])
        secret = nil
        #expect(seen.withLock { $0 } == nil)
        #expect(key != nil)
        key = nil
        #expect(seen.withLock { $0 } == [0, 0, 0, 0])
    }

    @Test(arguments: Profile.allCases, [JournalMode.delete, .wal])
    func `closed pool leaves neither a key nor its secret`(_ kind: Profile, _ mode: JournalMode) throws {
        let scratch = try Scratch()
        let wiped = Mutex(false)
        weak var entry: KeyEntry?
        try {
            let secret = SecretBytes([UInt8](9..<41)) { memory in
                wiped.withLock { $0 = memory.allSatisfy { $0 == 0 } }
            }
            let database = try EncryptedDatabase(
                path: scratch.path("a.db"), key: CipherKey(source: .raw(secret, salt: nil)), profile: kind.profile)
            entry = database.entry
            if mode == .wal {
                let pool = try database.openPool()
                try pool.write { try $0.fill(rows: 5) }
                #expect(try pool.read { try $0.count() } == 5)
                try pool.close()
            } else {
                let queue = try database.openQueue()
                try queue.write { try $0.fill(rows: 5) }
                try queue.close()
            }
        }()
        #expect(entry == nil)
        #expect(wiped.withLock { $0 })
    }

    @Test(arguments: Profile.allCases)
    func `key changes from a passphrase to raw bytes and back, through both profiles`(_ kind: Profile) throws {
        let scratch = try Scratch()
        let few = 1000
        func profile(_ kind: Profile) -> CipherProfile {
            kind == .gcm ? .aes256gcm(iterations: few) : .sqlCipher4(iterations: few)
        }
        var database = try EncryptedDatabase(
            path: scratch.path("a.db"), key: .passphrase("first"), profile: profile(kind))
        try database.openQueue().write { try $0.fill(rows: 30) }
        let before = try RawDatabase(database).rows("SELECT rowid, id, name, hex(body) FROM t")
        let other: Profile = kind == .gcm ? .sqlCipher : .gcm
        let asked = Mutex(0)
        let provider = CipherKey.provider {
            asked.withLock { $0 += 1 }
            return .raw(Array(7..<39))
        }
        let steps: [(CipherKey, Profile)] = [
            (testKey, kind), (.passphrase("second"), other), (provider, other), (.passphrase("first"), kind),
        ]
        for (key, kind) in steps {
            let old = database
            database = try old.changeKey(to: key, profile: profile(kind))
            #expect(try RawDatabase(database).rows("SELECT rowid, id, name, hex(body) FROM t") == before)
            let error = #expect(throws: CipherError.self) { try old.openQueue() }
            #expect(error?.code == .wrongKey)
        }
        #expect(asked.withLock { $0 } == 1)
        // The salt differs each time, so the same passphrase gives another file key.
        let again = try EncryptedDatabase(path: database.path, key: .passphrase("first"), profile: profile(kind))
        #expect(try again.fileKey().master == database.fileKey().master)
    }

    @Test func `provider is called once for each opened database`() throws {
        let scratch = try Scratch()
        let asked = Mutex(0)
        let key = CipherKey.provider {
            asked.withLock { $0 += 1 }
            return testKey
        }
        for round in 1...3 {
            let database = try EncryptedDatabase(path: scratch.path("a.db"), key: key)
            let pool = try database.openPool()
            try pool.write { try $0.fill(rows: 1) }
            _ = try pool.read { try $0.count() }
            _ = try database.fileKey()
            try database.openQueue().close()
            try pool.close()
            #expect(asked.withLock { $0 } == round)
        }
    }

    #if os(Linux)
        /// The behavior of a forked child process with a pool in its memory.
        @Test func `forked child generates other random bytes than its parent`() throws {
            // Swift does not let programs fork, but other code in the process may.
            let symbol = try #require(dlsym(UnsafeMutableRawPointer(bitPattern: 0), "fork"))
            let fork = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)
            let pool = RandomPool()
            let first = UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 8)
            let second = UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 8)
            defer {
                first.deallocate()
                second.deallocate()
            }
            try pool.fill(first)
            var ends: [Int32] = [0, 0]
            try #require(pipe(&ends) == 0)
            let child = fork()
            if child == 0 {
                // This code must neither allocate nor take a lock.
                try? pool.fill(second)
                _ = Foundation.write(ends[1], second.baseAddress, 32)
                _exit(0)
            }
            try #require(child > 0)
            try pool.fill(first)
            close(ends[1])
            let got = Foundation.read(ends[0], second.baseAddress, 32)
            close(ends[0])
            var status: Int32 = 0
            waitpid(child, &status, 0)
            #expect(got == 32)
            #expect(!first.elementsEqual(second))
            #expect(!second.allSatisfy { $0 == 0 })
        }
    #endif
}

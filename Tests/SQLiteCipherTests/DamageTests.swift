import Foundation
import GRDB
import TestSupport
import Testing

@testable import SQLiteCipher

@Suite("Problems of a file are reported, and never read as data", .ownThreads)
struct DamageTests {
    /// A small database and all its rows.
    private func small(
        _ scratch: Scratch, _ kind: Profile, pageSize: Int = 4096, rows: Int = 30
    ) throws -> (String, [Row]) {
        let path = scratch.path("a.db")
        let database = try EncryptedDatabase(path: path, key: testKey, profile: kind.profile(pageSize: pageSize))
        let queue = try database.openQueue()
        try queue.write { try $0.fill(rows: rows) }
        let rows = try queue.read { try Row.fetchAll($0, sql: "SELECT * FROM t ORDER BY id") }
        try queue.close()
        return (path, rows)
    }

    private func openError(_ path: String, _ key: CipherKey = testKey, _ profile: CipherProfile) -> CipherError? {
        #expect(throws: CipherError.self) {
            try EncryptedDatabase(path: path, key: key, profile: profile).openQueue()
        }
    }

    @Test(arguments: Profile.allCases)
    func `wrong key, wrong options, plain file and other file give different errors`(_ kind: Profile) throws {
        let scratch = try Scratch()
        let (path, _) = try small(scratch, kind)
        #expect(openError(path, otherKey, kind.profile)?.code == .wrongKey)
        #expect(
            openError(path, .passphrase("x"), kind == .gcm ? .aes256gcm(iterations: 1) : .sqlCipher4(iterations: 1))?
                .code == .wrongKey)
        #expect(openError(path, testKey, kind == .gcm ? .sqlCipher4 : .aes256gcm)?.code == .wrongKey)
        #expect(openError(path, testKey, kind.profile(pageSize: 8192))?.code == .wrongKey)

        let plain = scratch.path("plain.db")
        try DatabaseQueue(path: plain).write { try $0.fill(rows: 3) }
        #expect(openError(plain, testKey, kind.profile)?.code == .notEncrypted)

        let text = scratch.path("text.txt")
        try write(Array("just a text".utf8), to: text)
        #expect(openError(text, testKey, kind.profile)?.code == .notADatabase)
        try write([UInt8](repeating: 7, count: 9001), to: text)
        #expect(openError(text, testKey, kind.profile)?.code == .notADatabase)
        #expect(try contents(text) == [UInt8](repeating: 7, count: 9001))
        #expect(openError(scratch.path("no/such/folder.db"), testKey, kind.profile)?.code == .cannotOpen)
        #expect(openError(scratch.url.path, testKey, kind.profile)?.code == .cannotOpen)
    }

    @Test func `database in memory with a key is refused`() throws {
        for path in ["", ":memory:", "file::memory:?cache=shared"] {
            let error = #expect(throws: CipherError.self) { try EncryptedDatabase(path: path, key: testKey) }
            #expect(error?.code == .inMemory)
        }
    }

    @Test func `key or option out of range is an error`() throws {
        let scratch = try Scratch()
        let path = scratch.path("a.db")
        for key in [CipherKey.raw([1, 2]), .raw(Array(0..<32), salt: [1]), .passphrase("")] {
            let error = #expect(throws: CipherError.self) { try EncryptedDatabase(path: path, key: key) }
            #expect(error?.code == .invalidKey)
        }
        for profile in [
            CipherProfile.aes256gcm(pageSize: 1000), .aes256gcm(pageSize: 512), .sqlCipher4(pageSize: 512),
            .sqlCipher4(iterations: 0),
        ] {
            let error = #expect(throws: CipherError.self) {
                try EncryptedDatabase(path: path, key: testKey, profile: profile)
            }
            #expect(error?.code == .invalidOption)
        }
        struct Locked: Error {}
        let asking = try EncryptedDatabase(path: path, key: .provider { throw Locked() })
        let error = #expect(throws: CipherError.self) { try asking.openQueue() }
        #expect(error?.code == .keyUnavailable)
        #expect(error?.underlying is Locked)
    }

    @Test func `keys, errors and URIs do not show the secret`() throws {
        let key = CipherKey.passphrase("hunter2")
        var dumped = ""
        dump(key, to: &dumped)
        let database = try EncryptedDatabase(path: "/tmp/x.db", key: key)
        dump(database, to: &dumped)
        for text in ["\(key)", String(reflecting: key), dumped, database.uri, "\(database)"] {
            #expect(!text.contains("hunter2"))
        }
    }

    /// The errors that GRDB's users get. `BitFlipTests` shows that every bit is detected.
    @Test(arguments: Profile.allCases)
    func `flipped bit is an error that names the page`(_ kind: Profile) throws {
        let scratch = try Scratch()
        let (path, rows) = try small(scratch, kind, pageSize: 1024, rows: 3)
        let good = try contents(path)
        let profile = kind.profile(pageSize: 1024)
        var silent: [Int] = []
        let step = isSoak ? 1 : 29
        for place in stride(from: 0, to: good.count, by: step) {
            var bad = good
            bad[place] ^= 1 << UInt8(place % 8)
            try write(bad, to: path)
            let database = try EncryptedDatabase(path: path, key: testKey, profile: profile)
            do {
                let read = try database.openQueue().read { db in
                    // Both trees and their content.
                    _ = try db.integrity()
                    return try Row.fetchAll(db, sql: "SELECT * FROM t ORDER BY id")
                }
                silent.append(place)
                #expect(read == rows)
            } catch let error as CipherError {
                let page = UInt32(place / 1024 + 1)
                // The salt is part of the key: with another salt no page can be read.
                let isSalt = place < 16
                #expect(isSalt ? error.code == .wrongKey : error.code == .damagedPage && error.page == page)
            } catch {
                let explained = database.explain(error)
                #expect((explained as? CipherError)?.page == UInt32(place / 1024 + 1), "\(error) at \(place)")
            }
        }
        #expect(silent.isEmpty)
    }

    @Test(arguments: Profile.allCases)
    func `pages swapped, copied within the file or taken from another file are errors`(_ kind: Profile) throws {
        let scratch = try Scratch()
        let (path, _) = try small(scratch, kind)
        let good = try contents(path)
        let otherPath = scratch.path("other.db")
        let other = try EncryptedDatabase(path: otherPath, key: testKey, profile: kind.profile)
        try other.openQueue().write { try $0.fill(rows: 30) }
        let foreign = try contents(otherPath)
        func expectDamage(_ bytes: [UInt8], _ what: Comment) throws {
            try write(bytes, to: path)
            let database = try EncryptedDatabase(path: path, key: testKey, profile: kind.profile)
            let error = #expect(throws: (any Error).self, what) {
                try database.openQueue().read { try ($0.integrity(), Row.fetchAll($0, sql: "SELECT * FROM t")) }
            }
            let code = error.flatMap { database.explain($0) as? CipherError }?.code
            #expect(code == .damagedPage, what)
        }
        func page(_ number: Int) -> Range<Int> { (number - 1) * 4096..<number * 4096 }
        var swapped = good
        swapped.replaceSubrange(page(2), with: good[page(3)])
        swapped.replaceSubrange(page(3), with: good[page(2)])
        try expectDamage(swapped, "swapped")
        var copied = good
        copied.replaceSubrange(page(2), with: good[page(3)])
        try expectDamage(copied, "copied")
        var moved = good
        moved.replaceSubrange(page(2), with: foreign[page(2)])
        try expectDamage(moved, "from another file")
        var zeroed = good
        zeroed.replaceSubrange(page(2), with: [UInt8](repeating: 0, count: 4096))
        try expectDamage(zeroed, "zeroed")
    }

    @Test(arguments: Profile.allCases)
    func `truncated file is an error at every length`(_ kind: Profile) throws {
        let scratch = try Scratch()
        let (path, _) = try small(scratch, kind)
        let good = try contents(path)
        // SQLite treats a file with one byte as empty.
        for length in stride(from: 1024, to: good.count, by: 1024) + [2, 15, 16, 17] + [
            100, 4095, 4097, good.count - 1,
        ] {
            try write(Array(good[..<length]), to: path)
            let database = try EncryptedDatabase(path: path, key: testKey, profile: kind.profile)
            let error = #expect(throws: (any Error).self, "cut to \(length) of \(good.count)") {
                try database.openQueue().read { db in
                    let findings = try db.integrity()
                    if findings != ["ok"] { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
                }
            }
            #expect(error is CipherError || (error as? DatabaseError)?.resultCode == .SQLITE_CORRUPT)
        }
    }

    @Test(arguments: Profile.allCases)
    func `hot log opens with its key, and a wrong key does not change it`(_ kind: Profile) throws {
        let scratch = try Scratch()
        let path = scratch.path("a.db")
        let database = try EncryptedDatabase(path: path, key: testKey, profile: kind.profile)
        let pool = try database.openPool()
        try pool.write { try $0.fill(rows: 20) }
        // The files as a crash would leave them.
        let (main, log) = (try contents(path), try contents(path + "-wal"))
        try pool.close()
        #expect(log.count > 3 * 4120)

        let copy = scratch.path("copy.db")
        let opened = try EncryptedDatabase(path: copy, key: testKey, profile: kind.profile)
        try write(main, to: copy)
        try write(log, to: copy + "-wal")
        #expect(try opened.openQueue().read { try $0.count() } == 20)

        // With the wrong key, the log is not treated as empty and not removed.
        try write(main, to: copy)
        try write(log, to: copy + "-wal")
        #expect(openError(copy, otherKey, kind.profile)?.code == .wrongKey)
        #expect(try contents(copy + "-wal") == log)
    }
}

import Foundation
import GRDB
import TestSupport
import Testing

@testable import SQLiteCipher

@Suite("Every flipped bit is detected", .ownThreads, .timeLimit(.minutes(60)))
struct BitFlipTests {
    /// The profile with the smallest page size.
    private static func profile(_ kind: Profile) -> CipherProfile { kind.profile(pageSize: 1024) }

    /// A file of a few pages: a table, its index, and a value with overflow pages.
    private func small(_ path: String, _ profile: CipherProfile) throws -> EncryptedDatabase {
        let database = try EncryptedDatabase(path: path, key: testKey, profile: profile)
        let raw = try RawDatabase(database)
        try raw.run("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, body BLOB); CREATE INDEX byName ON t (name)")
        try raw.run("INSERT INTO t VALUES (1, 'one', zeroblob(\(profile.pageSize))), (2, 'two', x'0102')")
        return database
    }

    @Test(arguments: Profile.allCases, [1024, 4096])
    func `page with any flipped bit is not authentic`(_ kind: Profile, _ pageSize: Int) throws {
        let scratch = try Scratch(inMemory: true)
        let database = try small(scratch.path("a.db"), kind.profile(pageSize: pageSize))
        var bytes = try contents(database.path)
        let salt = Array(bytes[..<16])
        func opens(_ page: Int, salt: [UInt8]) throws -> Bool {
            let codec = PageLayout.codec(try database.entry.keys(salt: salt), profile: database.profile)
            return try opens(page, codec)
        }
        let target = UnsafeMutableRawPointer.allocate(byteCount: pageSize, alignment: 16)
        defer { target.deallocate() }
        func opens(_ page: Int, _ codec: any PageCodec) throws -> Bool {
            try bytes.withUnsafeBytes { memory in
                let start = try #require(memory.baseAddress) + page * pageSize
                return codec.decrypt(start, page: UInt32(page + 1), into: target)
            }
        }
        let codec = PageLayout.codec(try database.entry.keys(salt: salt), profile: database.profile)
        let pages = bytes.count / pageSize
        #expect(pages >= 3)
        for page in 0..<pages { #expect(try opens(page, codec)) }
        // The salt is a part of every key.
        for bit in 0..<128 {
            var other = salt
            other[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(try !opens(0, salt: other) && !opens(1, salt: other), "bit \(bit) of the salt")
        }
        // Pages of 4,096 bytes have one bit per byte flipped, except in the long form.
        let bits = pageSize == 4096 && !isSoak ? 1 : 8
        var silent: [Int] = []
        for place in 16..<bytes.count {
            for bit in 0..<bits {
                let mask = UInt8(1) << UInt8((bit + place) % 8)
                bytes[place] ^= mask
                if try opens(place / pageSize, codec) { silent.append(place) }
                bytes[place] ^= mask
            }
        }
        #expect(silent.isEmpty)
    }

    @Test(arguments: Profile.allCases)
    func `database with any flipped bit is an error`(_ kind: Profile) throws {
        let scratch = try Scratch(inMemory: true)
        let database = try small(scratch.path("a.db"), Self.profile(kind))
        let good = try contents(database.path)
        let before = Outcome.read(database)
        #expect(!before.isDamage)
        var silent: [Int] = []
        for place in good.indices {
            // The long form flips all bits. The short form flips a different bit in each byte.
            for bit in isSoak ? Array(0..<8) : [place % 8] {
                var bad = good
                bad[place] ^= 1 << UInt8(bit)
                try write(bad, to: database.path)
                if !Outcome.read(database).isDamage { silent.append(place) }
            }
        }
        #expect(silent.isEmpty)
        try write(good, to: database.path)
        #expect(Outcome.read(database) == before)
    }

    @Test(arguments: Profile.allCases)
    func `log with a flipped bit gives an error or a committed state`(_ kind: Profile) throws {
        let scratch = try Scratch(inMemory: true)
        let hot = try HotDatabase.log(scratch, Self.profile(kind))
        let (seen, wrong) = try hot.flips(step: isSoak ? 1 : 9, bits: 1)
        #expect(wrong == [])
        // A damaged frame ends the log, so each of the earlier states is seen.
        #expect(seen.filter { !$0.isDamage }.count >= Set(hot.states).count - 1)
    }

    @Test(arguments: Profile.allCases)
    func `hot journal with a flipped bit gives an error or the committed state`(_ kind: Profile) throws {
        let scratch = try Scratch(inMemory: true)
        let hot = try HotDatabase.journal(scratch, Self.profile(kind))
        #expect(hot.headers.count > 1)
        // A journal with a damaged header counts as removed: see ThreatModel.
        let (seen, wrong) = try hot.flips(
            step: isSoak ? 1 : 9, bits: 1, except: hot.headers.map { $0..<$0 + 28 })
        #expect(wrong == [])
        #expect(seen.contains { $0.isDamage } && seen.contains { !$0.isDamage })
    }
}

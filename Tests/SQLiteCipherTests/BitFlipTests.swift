import Foundation
import GRDB
import TestSupport
import Testing

@testable import SQLiteCipher

@Suite("Every single flipped bit is noticed", .ownThreads, .timeLimit(.minutes(60)))
struct BitFlipTests {
    /// The smallest pages that a profile takes.
    private static func profile(_ kind: Profile) -> CipherProfile { kind.profile(pageSize: 1024) }

    /// A file of a few pages: a table, its index, a value that overflows.
    private func small(_ path: String, _ profile: CipherProfile) throws -> EncryptedDatabase {
        let database = try EncryptedDatabase(path: path, key: testKey, profile: profile)
        let raw = try RawDatabase(database)
        try raw.run("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, body BLOB); CREATE INDEX byName ON t (name)")
        try raw.run("INSERT INTO t VALUES (1, 'one', zeroblob(\(profile.pageSize))), (2, 'two', x'0102')")
        return database
    }

    @Test(arguments: Profile.allCases, [1024, 4096])
    func `No page is authentic with any one of its bits flipped`(_ kind: Profile, _ pageSize: Int) throws {
        let scratch = try Scratch(inMemory: true)
        let database = try small(scratch.path("a.db"), kind.profile(pageSize: pageSize))
        var bytes = try contents(database.path)
        let salt = Array(bytes[..<16])
        func opens(_ page: Int, salt: [UInt8]) throws -> Bool {
            let codec = PageLayout.codec(try database.entry.keys(salt: salt), database.profile)
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
        let codec = PageLayout.codec(try database.entry.keys(salt: salt), database.profile)
        let pages = bytes.count / pageSize
        #expect(pages >= 3)
        for page in 0..<pages { #expect(try opens(page, codec)) }
        // The salt is a part of every key.
        for bit in 0..<128 {
            var other = salt
            other[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(try !opens(0, salt: other) && !opens(1, salt: other), "bit \(bit) of the salt")
        }
        // Pages of 4,096 bytes one bit a byte, unless there is time.
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
    func `A database with a flipped bit is an error, whichever bit it is`(_ kind: Profile) throws {
        let scratch = try Scratch(inMemory: true)
        let database = try small(scratch.path("a.db"), Self.profile(kind))
        let good = try contents(database.path)
        let before = Outcome.read(database)
        #expect(!before.isDamage)
        var silent: [Int] = []
        for place in good.indices {
            // All bits in the long form; in the short one each byte has its turn with one of them.
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
    func `A log with a flipped bit gives an error or a committed state`(_ kind: Profile) throws {
        let scratch = try Scratch(inMemory: true)
        let hot = try HotDatabase.log(scratch, Self.profile(kind))
        let (seen, wrong) = try hot.flips(step: isSoak ? 1 : 9, bits: 1)
        #expect(wrong == [])
        // A frame that is spoilt ends the log, so states of before are seen, each of them.
        #expect(seen.filter { !$0.isDamage }.count >= Set(hot.states).count - 1)
    }

    @Test(arguments: Profile.allCases)
    func `A hot journal with a flipped bit gives an error or what was committed`(_ kind: Profile) throws {
        let scratch = try Scratch(inMemory: true)
        let hot = try HotDatabase.journal(scratch, Self.profile(kind))
        #expect(hot.headers.count > 1)
        // A header that is spoilt is a journal that was taken away: see ThreatModel.
        let (seen, wrong) = try hot.flips(
            step: isSoak ? 1 : 9, bits: 1, except: hot.headers.map { $0..<$0 + 28 })
        #expect(wrong == [])
        #expect(seen.contains { $0.isDamage } && seen.contains { !$0.isDamage })
    }
}

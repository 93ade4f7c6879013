import Foundation
import GRDB
import TestSupport
import Testing

@testable import SQLiteCipher

/// TANDEM_SEED replays a run. The files are in a folder that is kept if the process crashes or a check fails.
@Suite(
    "Random and malicious damage gives errors, without crashes, endless loops or invented data", .ownThreads,
    .timeLimit(.minutes(60)))
struct FuzzTests {
    private static let pageSize = 1024

    /// A database with several tables and trees, and its rows.
    private func make(_ path: String, _ kind: Profile) throws -> EncryptedDatabase {
        let database = try EncryptedDatabase(path: path, key: testKey, profile: kind.profile(pageSize: Self.pageSize))
        try database.openQueue().write { db in
            try db.fill(rows: 40)
            try db.execute(
                sql: """
                    CREATE TABLE keyed (b TEXT, a INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
                    INSERT INTO keyed SELECT name, id FROM t;
                    CREATE TABLE gone AS SELECT * FROM t; DROP TABLE gone;
                    CREATE VIEW seen AS SELECT name FROM t
                    """)
        }
        return database
    }

    /// Reads everything, with a limit, and salvages.
    ///
    /// - Returns: The rows, by SQLite and by salvage, or `nil` if they can't be read.
    private func examine(
        _ database: EncryptedDatabase, _ scratch: Scratch, limit: Int32 = 2_000_000
    ) throws -> (read: [String]?, salvaged: [String]?) {
        let sql = "SELECT id, name, hex(body) FROM t NOT INDEXED"
        var read: [String]?
        do {
            let raw = try RawDatabase(database)
            raw.limit(steps: limit)
            _ = try raw.rows("PRAGMA integrity_check")
            read = try raw.rows(sql)
            for other in ["SELECT name FROM t INDEXED BY byName", "SELECT * FROM keyed", "SELECT count(*) FROM seen"] {
                _ = try? raw.rows(other)
            }
        } catch is RawDatabase.Failure {}
        let target = try EncryptedDatabase(path: scratch.path("salvaged.db"), key: testKey)
        for suffix in ["", "-journal", "-wal"] { unlink(target.path + suffix) }
        var salvaged: [String]?
        do {
            _ = try database.salvage(to: target)
            salvaged = try? RawDatabase(target).rows(sql)
        } catch is CipherError {} catch is DatabaseError {}
        if let raw = try? RawDatabase(database) {
            raw.limit(steps: limit)
            try? raw.run("UPDATE t SET name = name || 'x'; DELETE FROM keyed WHERE a % 2; VACUUM")
        }
        return (read, salvaged)
    }

    @Test(arguments: Profile.allCases)
    func `randomly damaged database gives errors or its own rows`(_ kind: Profile) throws {
        let (seed, random) = SeededRandom.announced("damaged files, \(kind)")
        var mutator = Mutator(random: random)
        let scratch = try Scratch(inMemory: true)
        let database = try make(scratch.path("a.db"), kind)
        let good = try contents(database.path)
        let rows = try RawDatabase(database).rows("SELECT id, name, hex(body) FROM t NOT INDEXED")
        for round in 0..<(isSoak ? 3000 : 80) {
            for suffix in ["-journal", "-wal"] { unlink(database.path + suffix) }
            try write(mutator.damage(good), to: database.path)
            let (read, salvaged) = try examine(database, scratch)
            // A file without bytes is a new database.
            let isHonest = (read == nil || read == rows) && Set(salvaged ?? []).isSubset(of: rows)
            if !isHonest { try scratch.keep("fuzz-\(seed)-\(round)") }
            try #require(isHonest, "round \(round) of TANDEM_SEED=\(seed)")
        }
    }

    /// Pages that an attacker with the key, or a defect of SQLite, wrote: authentic but wrong. Reading them terminates.
    @Test(.timeLimit(.minutes(isSoak ? 60 : 10)), arguments: Profile.allCases)
    func `authentic but hostile pages give errors or terminate`(_ kind: Profile) throws {
        let (_, random) = SeededRandom.announced("hostile pages, \(kind)")
        var mutator = Mutator(random: random)
        let scratch = try Scratch(inMemory: true)
        let database = try make(scratch.path("a.db"), kind)
        let good = try contents(database.path)
        let codec = PageLayout.codec(try database.entry.keys(salt: Array(good[..<16])), profile: database.profile)
        for _ in 0..<(isSoak ? 3000 : 80) {
            var bytes = good
            for _ in 0..<Int.random(in: 1...3, using: &mutator.random) {
                let first = Bool.random(using: &mutator.random)
                let number = first ? 1 : Int.random(in: 1...good.count / Self.pageSize, using: &mutator.random)
                let range = (number - 1) * Self.pageSize..<number * Self.pageSize
                var page = Array(bytes[range])
                try page.withUnsafeMutableBytes {
                    let start = try #require($0.baseAddress)
                    #expect(codec.decrypt(start, page: UInt32(number), into: start))
                }
                mutator.spoilPage(&page, number: number)
                try bytes.withUnsafeMutableBytes { memory in
                    let target = try #require(memory.baseAddress) + range.lowerBound
                    try page.withUnsafeBytes {
                        try codec.encrypt(#require($0.baseAddress), page: UInt32(number), into: target)
                    }
                }
            }
            for suffix in ["-journal", "-wal"] { unlink(database.path + suffix) }
            try write(bytes, to: database.path)
            _ = try examine(database, scratch)
        }
    }

    @Test func `randomly damaged encrypted file is an error`() throws {
        let (seed, random) = SeededRandom.announced("encrypted files")
        var mutator = Mutator(random: random)
        let scratch = try Scratch(inMemory: true)
        let key = try FileKey(raw: Array(10..<42))
        let path = scratch.path("f.enc")
        for round in 0..<(isSoak ? 10_000 : 300) {
            let count = [0, 10, 3000, 70_000][round % 4]
            let plain = [UInt8]((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            let writer = try EncryptedFile.Writer(path: path, key: key)
            try writer.write(plain)
            try writer.finish()
            let good = try contents(path)
            var bad = mutator.damage(good)
            // Mostly a header that is nearly right.
            if round % 3 == 0 {
                bad = good
                mutator.overwrite(&bad, in: 0..<48)
            }
            try write(bad, to: path)
            guard bad != good else { continue }
            let error = #expect(throws: CipherError.self, "round \(round) of TANDEM_SEED=\(seed)") {
                let reader = try EncryptedFile.Reader(path: path, key: key)
                _ = try reader.read(at: 0, count: Int(reader.size))
            }
            #expect(error?.code == .damagedFile)
        }
    }
}

import Foundation
import Testing

@testable import SQLiteCipher

/// A small database as a crash leaves it: the file and a log or a journal beside it.
struct HotDatabase {
    let database: EncryptedDatabase
    let suffix: String
    let main: [UInt8]
    let beside: [UInt8]
    /// The committed states: one after each transaction, the last one last.
    let states: [Outcome]

    private static let schema =
        "BEGIN; CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, body BLOB); CREATE INDEX byName ON t (name); COMMIT"

    /// Returns a database with six transactions in its log, none of them in the database file yet.
    static func log(_ scratch: Scratch, _ profile: CipherProfile) throws -> HotDatabase {
        let original = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey, profile: profile)
        let raw = try RawDatabase(original, setup: "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
        let main = try contents(original.path)
        var states = [Outcome.read(original)]
        try raw.run(schema)
        states.append(.read(original))
        for number in 1...5 {
            try raw.run(
                """
                BEGIN; INSERT INTO t VALUES (\(number), 'name \(number)', zeroblob(\(number * 60)));
                UPDATE t SET body = body || x'0\(number)'; COMMIT
                """)
            states.append(.read(original))
        }
        return HotDatabase(
            database: try EncryptedDatabase(path: scratch.path("copy.db"), key: testKey, profile: profile),
            suffix: "-wal", main: main, beside: try contents(original.path + "-wal"), states: states)
    }

    /// Returns a database with an uncommitted transaction that has spilled to the file several times.
    static func journal(_ scratch: Scratch, _ profile: CipherProfile) throws -> HotDatabase {
        let original = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey, profile: profile)
        let raw = try RawDatabase(original, setup: "PRAGMA synchronous = FULL; PRAGMA cache_size = 4")
        try raw.run(schema)
        try raw.run(
            """
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 14)
            INSERT INTO t SELECT i, 'name ' || i, zeroblob(300) FROM n
            """)
        let before = Outcome.read(original)
        try raw.run("BEGIN; UPDATE t SET name = 'changed ' || id, body = zeroblob(290)")
        return HotDatabase(
            database: try EncryptedDatabase(path: scratch.path("copy.db"), key: testKey, profile: profile),
            suffix: "-journal", main: try contents(original.path),
            beside: try contents(original.path + "-journal"), states: [before])
    }

    /// The offsets of the journal's headers: its magic number at the start of a sector.
    var headers: [Int] {
        stride(from: 0, to: beside.count - 8, by: 512).filter {
            beside[$0..<$0 + 8].elementsEqual([0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7])
        }
    }

    /// The parts of the journal that its headers require to be complete: the records of each header.
    func promised(pageSize: Int) -> [Range<Int>] {
        headers.map { start in
            let count = beside[start + 8..<start + 12].reduce(0) { $0 << 8 | Int($1) }
            return start + 512..<start + 512 + count * (pageSize + 8)
        }
    }

    /// Returns the outcome of a read with these bytes as the log or the journal.
    func outcome(main: [UInt8]? = nil, beside: [UInt8]) throws -> Outcome {
        for other in ["-wal", "-shm", "-journal"] { unlink(database.path + other) }
        try write(main ?? self.main, to: database.path)
        try write(beside, to: database.path + suffix)
        return Outcome.read(database)
    }

    /// Whether the outcome is an error or a committed state.
    func isHonest(_ outcome: Outcome) -> Bool { outcome.isDamage || states.contains(outcome) }

    /// Flips bits at regular distances.
    ///
    /// - Returns: All outcomes, and the bytes that led to a state that was never committed.
    func flips(
        step: Int, bits: Int, except: [Range<Int>] = []
    ) throws -> (seen: Set<Outcome>, wrong: [Int]) {
        #expect(try states.last == outcome(beside: beside))
        var (seen, wrong): (Set<Outcome>, [Int]) = ([], [])
        for place in stride(from: 0, to: beside.count, by: step) {
            for bit in 0..<bits {
                var bad = beside
                bad[place] ^= 1 << UInt8((bit + place) % 8)
                let found = try outcome(beside: bad)
                seen.insert(found)
                if !isHonest(found), !except.contains(where: { $0.contains(place) }) { wrong.append(place) }
            }
        }
        return (seen, wrong)
    }
}

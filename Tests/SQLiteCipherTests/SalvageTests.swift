import Foundation
import GRDB
import TestSupport
import Testing

@testable import SQLiteCipher

@Suite("Salvage finds the readable content of a damaged database", .ownThreads)
struct SalvageTests {
    private func make(_ scratch: Scratch, _ kind: Profile) throws -> EncryptedDatabase {
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey, profile: kind.profile)
        let queue = try database.openQueue()
        try queue.write { db in
            try db.fill(rows: 400)
            try db.execute(
                sql: """
                    CREATE TABLE keyed (b TEXT, a INTEGER, c REAL, PRIMARY KEY (a, b)) WITHOUT ROWID;
                    CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT, v BLOB);
                    CREATE TABLE made (x INTEGER, twice INTEGER AS (x * 2) STORED, thrice INTEGER AS (x * 3), y TEXT);
                    CREATE VIRTUAL TABLE search USING fts5(words);
                    CREATE VIEW seen AS SELECT name FROM t;
                    INSERT INTO search VALUES ('quick brown fox');
                    INSERT INTO counted (v) VALUES (x'00ff'), (NULL);
                    DELETE FROM counted WHERE id = 2;
                    INSERT INTO made (x, y) VALUES (7, 'y');
                    ALTER TABLE made ADD COLUMN late TEXT DEFAULT 'later';
                    """)
            for number in 0..<300 {
                try db.execute(sql: "INSERT INTO keyed VALUES (?, ?, ?)", arguments: ["b\(number)", number, -0.5])
            }
        }
        try queue.close()
        return database
    }

    @Test(arguments: Profile.allCases)
    func `intact database is salvaged completely`(_ kind: Profile) throws {
        let scratch = try Scratch()
        let database = try make(scratch, kind)
        let target = try EncryptedDatabase(path: scratch.path("b.db"), key: otherKey)
        let report = try database.salvage(to: target)
        #expect(report.isComplete, "\(report)")
        let tables = ["t", "keyed", "counted", "search_content", "sqlite_sequence"]
        let (before, after) = (try database.openQueue(), try target.openQueue())
        for sql in tables.map({ "SELECT * FROM \($0)" }) + ["SELECT x, twice, y, late FROM made"] {
            #expect(try before.read { try Row.fetchAll($0, sql: sql) } == after.read { try Row.fetchAll($0, sql: sql) })
        }
        #expect(try after.read { try $0.integrity() } == ["ok"])
        let skipped = report.skippedStatements
        for word in ["INDEX", "TABLE made", "VIRTUAL TABLE", "VIEW"] {
            #expect(skipped.contains { $0.hasPrefix("CREATE \(word)") }, "\(word)")
        }
    }

    @Test(arguments: Profile.allCases)
    func `damaged page loses only its own rows, and no row is changed`(_ kind: Profile) throws {
        let scratch = try Scratch()
        let database = try make(scratch, kind)
        let sound = try contents(database.path)
        let original = try database.openQueue().read { try Row.fetchAll($0, sql: "SELECT * FROM t") }
        let byID = Dictionary(uniqueKeysWithValues: original.map { ($0["id"] as Int64, $0) })
        let pages = sound.count / 4096
        for page in stride(from: 1, through: pages, by: pages / 25 + 1) {
            var bad = sound
            bad[(page - 1) * 4096 + 100] ^= 1
            try write(bad, to: database.path)
            let target = try EncryptedDatabase(path: scratch.path("b\(page).db"), key: otherKey)
            let report = try database.salvage(to: target)
            #expect(report.damagedPages == [UInt32(page)])
            let queue = try target.openQueue()
            guard try queue.read({ try $0.tableExists("t") }) else {
                #expect(page == 1 && report.rowsWithoutTable > 300)
                continue
            }
            let found = try queue.read { try Row.fetchAll($0, sql: "SELECT * FROM t") }
            for row in found { #expect(row == byID[row["id"]]) }
            #expect(found.count + report.rowsWithoutTable >= 340)
        }
    }

    @Test(arguments: Profile.allCases)
    func `truncated file is never reported as complete`(_ kind: Profile) throws {
        let scratch = try Scratch()
        let database = try make(scratch, kind)
        let sound = try contents(database.path)
        for length in stride(from: 4096, to: sound.count, by: isSoak ? 4096 : 4096 * 6) {
            try write(Array(sound[..<length]), to: database.path)
            let target = try EncryptedDatabase(path: scratch.path("b\(length).db"), key: testKey)
            let report = try database.salvage(to: target)
            #expect(!report.isComplete)
            #expect(report.damagedPages.count == (sound.count - length) / 4096)
        }
    }

    @Test func `committed pages of a hot log are salvaged`() throws {
        let scratch = try Scratch()
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey)
        let pool = try database.openPool()
        try pool.write { try $0.fill(rows: 20) }
        let copy = try EncryptedDatabase(path: scratch.path("copy.db"), key: testKey)
        try write(contents(database.path), to: copy.path)
        try write(contents(database.path + "-wal"), to: copy.path + "-wal")
        let report = try copy.salvage(to: EncryptedDatabase(path: scratch.path("b.db"), key: testKey))
        #expect(report.rows["t"] == 20)
    }

    @Test(arguments: Profile.allCases)
    func `hot journal gives the rows from before the transaction`(_ kind: Profile) throws {
        let scratch = try Scratch(inMemory: true)
        let profile = kind.profile(pageSize: 1024)
        let hot = try HotDatabase.journal(scratch, profile)
        guard case .rows(let all)? = hot.states.last else { return }
        // A row has three columns, and an index entry has two.
        let rows = all.filter { $0.split(separator: "|").count == 3 }
        func salvage(_ journal: [UInt8]) throws -> (report: SalvageReport, found: [String]) {
            try write(hot.main, to: hot.database.path)
            try write(journal, to: hot.database.path + "-journal")
            let target = try EncryptedDatabase(path: scratch.path("saved-\(UUID()).db"), key: testKey)
            let report = try hot.database.salvage(to: target)
            let found = try RawDatabase(target).rows("SELECT id, name, hex(body) FROM t ORDER BY id")
            return (report, found)
        }
        let (report, found) = try salvage(hot.beside)
        #expect(found == rows && report.isComplete, "\(report)")
        for promised in hot.promised(pageSize: 1024) {
            #expect(try !salvage(Array(hot.beside[..<(promised.lowerBound + 500)])).report.isComplete)
        }
        for place in stride(from: 512 + 30, to: hot.beside.count, by: 997) where place % 512 >= 28 {
            var bad = hot.beside
            bad[place] ^= 1
            let (report, found) = try salvage(bad)
            #expect(Set(found).isSubset(of: rows), "byte \(place)")
            // A checksum may be wrong although its page is right.
            if found != rows { #expect(!report.isComplete, "byte \(place)") }
        }
    }

    @Test func `salvage of a sparse file terminates`() throws {
        let scratch = try Scratch()
        let database = try make(scratch, .gcm)
        #expect(truncate(database.path, 8 << 40) == 0)
        let target = try EncryptedDatabase(path: scratch.path("b.db"), key: testKey)
        #expect(try database.salvage(to: target).rows["t"] == 400)
        var bytes = try LowerFile.head(database.path, count: 8192)
        bytes[50] ^= 1
        try write(bytes, to: database.path)
        #expect(truncate(database.path, 8 << 40) == 0)
        let second = try EncryptedDatabase(path: scratch.path("c.db"), key: testKey)
        #expect(try !database.salvage(to: second).isComplete)
    }

    @Test func `unreadable free pages lose nothing`() throws {
        let scratch = try Scratch()
        let database = try make(scratch, .gcm)
        let queue = try database.openQueue()
        try queue.write { try $0.execute(sql: "CREATE TABLE big AS SELECT randomblob(40000) AS b; DROP TABLE big") }
        let free = try queue.read { try Int.fetchOne($0, sql: "PRAGMA freelist_count") } ?? 0
        try queue.close()
        #expect(free > 5)
        var bytes = try contents(database.path)
        // Its last page is a leaf of the freelist.
        bytes[bytes.count - 1000] ^= 1
        try write(bytes, to: database.path)
        let report = try database.salvage(to: EncryptedDatabase(path: scratch.path("b.db"), key: testKey))
        #expect(report.isComplete, "\(report)")
    }

    @Test func `wrong key finds nothing, and is an error`() throws {
        let scratch = try Scratch()
        let database = try make(scratch, .gcm)
        let wrong = try EncryptedDatabase(path: database.path, key: otherKey)
        let target = try EncryptedDatabase(path: scratch.path("b.db"), key: testKey)
        let error = #expect(throws: CipherError.self) { try wrong.salvage(to: target) }
        #expect(error?.code == .wrongKey)
    }

    @Test func `random bytes are neither a page nor a record, and cause no crash`() {
        for _ in 0..<3000 {
            var bytes = (0..<512).map { _ in UInt8.random(in: 0...255) }
            bytes[0] = [2, 5, 10, 13].randomElement() ?? 13
            bytes[3] = 0
            bytes[4] = UInt8.random(in: 0...5)
            _ = BTreePage(bytes, number: 2, usable: 480)
            _ = RecordDecoder(encoding: .utf8).decode(Array(bytes[1...]))
        }
    }
}

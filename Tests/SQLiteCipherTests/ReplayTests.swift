import Foundation
import GRDB
import TestSupport
import Testing

@testable import SQLiteCipher

/// Pages that are authentic elsewhere, or were authentic here before.
@Suite(
    "Pages in another place are errors; pages of another time are what they were", .ownThreads, .timeLimit(.minutes(60))
)
struct ReplayTests {
    private static let pageSize = 1024

    private func make(_ path: String, _ kind: Profile, rows: Int) throws -> (EncryptedDatabase, [UInt8]) {
        let database = try EncryptedDatabase(path: path, key: testKey, profile: kind.profile(pageSize: Self.pageSize))
        try database.openQueue().write { try $0.fill(rows: rows) }
        return (database, try contents(path))
    }

    private func page(_ number: Int) -> Range<Int> { number * Self.pageSize..<(number + 1) * Self.pageSize }

    @Test(arguments: Profile.allCases)
    func `every exchanged pair of pages, and every copied page, is an error`(_ kind: Profile) throws {
        let scratch = try Scratch(inMemory: true)
        let (database, good) = try make(scratch.path("a.db"), kind, rows: 8)
        let pages = good.count / Self.pageSize
        var silent: [String] = []
        for one in 0..<pages {
            for two in 0..<pages where one != two {
                var copied = good
                copied.replaceSubrange(page(one), with: good[page(two)])
                try write(copied, to: database.path)
                if !Outcome.read(database).isDamage { silent.append("\(two) over \(one)") }
                guard one < two else { continue }
                copied.replaceSubrange(page(two), with: good[page(one)])
                try write(copied, to: database.path)
                if !Outcome.read(database).isDamage { silent.append("\(one) and \(two)") }
            }
        }
        #expect(pages >= 6)
        #expect(silent == [])
    }

    @Test(arguments: Profile.allCases)
    func `every page of another file with the same key is an error`(_ kind: Profile) throws {
        let scratch = try Scratch(inMemory: true)
        let (database, good) = try make(scratch.path("a.db"), kind, rows: 8)
        let (_, foreign) = try make(scratch.path("b.db"), kind, rows: 8)
        #expect(good.count == foreign.count)
        for number in 0..<good.count / Self.pageSize {
            var moved = good
            moved.replaceSubrange(page(number), with: foreign[page(number)])
            try write(moved, to: database.path)
            #expect(Outcome.read(database).isDamage, "page \(number)")
        }
    }

    /// ThreatModel documents that an old page is authentic. SQLite then finds the tree inconsistent, or rows are seen
    /// in an old state. No row is seen in a state that never existed.
    @Test(arguments: Profile.allCases)
    func `restored old page is an error, or shows its old content`(_ kind: Profile) throws {
        let scratch = try Scratch(inMemory: true)
        let (database, old) = try make(scratch.path("a.db"), kind, rows: 8)
        let before = try history(database)
        let raw = try RawDatabase(database)
        try raw.run("UPDATE t SET name = 'new ' || id WHERE id % 2; INSERT INTO t VALUES (100, 'late', x'01')")
        try raw.run("DELETE FROM t WHERE id = 4")
        let now = try history(database)
        let new = try contents(database.path)
        let known = Set(before + now)
        var (noticed, silent) = (0, 0)
        for number in 0..<old.count / Self.pageSize where old[page(number)] != new[page(number)] {
            var mixed = new
            mixed.replaceSubrange(page(number), with: old[page(number)])
            try write(mixed, to: database.path)
            do {
                let found = try history(database)
                #expect(Set(found).isSubset(of: known), "page \(number)")
                silent += 1
            } catch let failure as RawDatabase.Failure {
                #expect(failure.isDamage)
                noticed += 1
            }
        }
        #expect(noticed + silent > 2)
        // The whole old file is the old database.
        try write(old, to: database.path)
        #expect(try history(database) == before)
    }

    @Test(arguments: Profile.allCases)
    func `restored old log is an error, or shows its old content`(_ kind: Profile) throws {
        let scratch = try Scratch(inMemory: true)
        let hot = try HotDatabase.log(scratch, kind.profile(pageSize: Self.pageSize))
        // The log is checkpointed, and the database continues without one.
        _ = try hot.outcome(beside: hot.beside)
        let raw = try RawDatabase(hot.database)
        try raw.run("UPDATE t SET name = 'new ' || id, body = zeroblob(700)")
        let known = Set(try history(hot.database)).union(
            hot.states.flatMap { state in if case .rows(let rows) = state { rows } else { [String]() } })
        try raw.run("PRAGMA journal_mode = DELETE; PRAGMA journal_mode = WAL")
        let later = try contents(hot.database.path)
        let found = try hot.outcome(main: later, beside: hot.beside)
        if case .rows(let rows) = found { #expect(Set(rows).isSubset(of: known)) } else { #expect(found.isDamage) }
    }

    /// All visible rows, regardless of the index.
    private func history(_ database: EncryptedDatabase) throws -> [String] {
        try RawDatabase(database).rows("SELECT id, name, hex(body) FROM t NOT INDEXED ORDER BY id")
    }
}

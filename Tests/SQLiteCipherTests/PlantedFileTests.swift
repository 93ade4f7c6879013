import Foundation
import GRDB
import TestSupport
import Testing

@testable import SQLiteCipher

/// Attacks by a user who can write files but does not have the key. They use data that is not authenticated: a
/// journal's header, a log's frame headers and checksums, file lengths, and pages that were once authentic there.
@Suite("Planted files create no page, and do not fill the disk", .ownThreads, .timeLimit(.minutes(30)))
struct PlantedFileTests {
    private static let pageSize = 1024

    private static func word(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }

    private func journalHeader(records: UInt32, pages: UInt32) -> [UInt8] {
        [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7] + Self.word(records) + Self.word(7) + Self.word(pages)
            + Self.word(512) + Self.word(UInt32(Self.pageSize)) + [UInt8](repeating: 0, count: 512 - 28)
    }

    /// A value with many overflow pages, which include the last page of the file.
    private func make(_ scratch: Scratch, _ kind: Profile) throws -> EncryptedDatabase {
        let database = try EncryptedDatabase(
            path: scratch.path("a.db"), key: testKey, profile: kind.profile(pageSize: Self.pageSize))
        try RawDatabase(database).run(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, body BLOB); CREATE INDEX byName ON t (name);
            INSERT INTO t VALUES (1, 'one', randomblob(9000)), (2, 'two', randomblob(9000))
            """)
        return database
    }

    @Test(arguments: Profile.allCases)
    func `journal header beside a truncated file creates no page`(_ kind: Profile) throws {
        let scratch = try Scratch(inMemory: true)
        let database = try make(scratch, kind)
        let good = try contents(database.path)
        let before = Outcome.read(database)
        let pages = good.count / Self.pageSize
        for cut in stride(from: 1, through: pages, by: isSoak ? 1 : 3) {
            for initial in [UInt32(pages), UInt32(pages) + 1, 0x8000_0000 | UInt32(pages), .max, 0, 1] {
                try write(Array(good[..<(cut * Self.pageSize)]), to: database.path)
                try write(journalHeader(records: 0, pages: initial), to: database.path + "-journal")
                let found = Outcome.read(database)
                let isNew = found == .rows([]) && initial == 0
                #expect(found == before || found.isDamage || isNew, "cut to \(cut), initial size \(initial): \(found)")
                unlink(database.path + "-journal")
                // The owner may restore the truncated pages one by one. No other page may be in their place.
                var mended = try contents(database.path)
                #expect(mended.count <= (pages + 1) * Self.pageSize, "cut to \(cut), initial size \(initial)")
                guard initial == UInt32(pages), cut < pages, mended.count >= cut * Self.pageSize else { continue }
                let rest = min(mended.count, good.count)
                let kept = cut * Self.pageSize..<min((cut + 1) * Self.pageSize, rest)
                mended.replaceSubrange(rest..., with: good[rest...])
                // All truncated pages except one.
                if kept.upperBound < rest {
                    mended.replaceSubrange(kept.upperBound..<rest, with: good[kept.upperBound..<rest])
                }
                try write(mended, to: database.path)
                let again = Outcome.read(database)
                #expect(again == before || again.isDamage, "page \(cut + 1) created again")
            }
        }
    }

    @Test func `wrong key creates no page, whatever the journal states`() throws {
        let scratch = try Scratch(inMemory: true)
        let database = try make(scratch, .gcm)
        let cut = Array(try contents(database.path)[..<(5 * Self.pageSize)])
        for records: UInt32 in [0, .max] {
            try write(cut, to: database.path)
            try write(journalHeader(records: records, pages: 12), to: database.path + "-journal")
            let wrong = try EncryptedDatabase(path: database.path, key: otherKey, profile: database.profile)
            #expect(Outcome.read(wrong).isDamage)
            #expect(try Array(contents(database.path).prefix(cut.count)) == cut)
            #expect(try contents(database.path).dropFirst(cut.count).allSatisfy { $0 == 0 })
        }
    }

    @Test(arguments: Profile.allCases)
    func `truncated database beside a hot log gives an error or the committed state`(_ kind: Profile) throws {
        let scratch = try Scratch(inMemory: true)
        let original = try make(scratch, kind)
        let raw = try RawDatabase(original, setup: "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
        let states = [Outcome.read(original)]
        try raw.run("UPDATE t SET name = 'changed' WHERE id = 1")
        let (main, log) = (try contents(original.path), try contents(original.path + "-wal"))
        let last = Outcome.read(original)
        let hot = HotDatabase(
            database: try EncryptedDatabase(path: scratch.path("copy.db"), key: testKey, profile: original.profile),
            suffix: "-wal", main: main, beside: log, states: states + [last])
        #expect(try hot.outcome(beside: log) == last)
        // SQLite treats a file without bytes as a new database, and a log beside it as stale.
        for cut in stride(from: isSoak ? 256 : Self.pageSize, to: main.count, by: isSoak ? 256 : Self.pageSize) {
            let found = try hot.outcome(main: Array(main[..<cut]), beside: log)
            let isHonest = hot.isHonest(found)
            #expect(isHonest, "cut to \(cut): \(found)")
        }
    }

    /// A frame of an open log gets another page's number and that page's authentic bytes.
    @Test(arguments: Profile.allCases)
    func `frame exchanged while the log is open is not read as another page`(_ kind: Profile) throws {
        let scratch = try Scratch(inMemory: true)
        let database = try make(scratch, kind)
        let writer = try RawDatabase(database, setup: "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
        try writer.run("UPDATE t SET body = randomblob(9000)")
        let before = Outcome.read(database)
        let path = database.path + "-wal"
        let good = try contents(path)
        let frame = Self.pageSize + 24
        let frames = (good.count - 32) / frame
        #expect(frames > 10)
        for one in 0..<frames {
            var bad = good
            let two = (one + 1) % frames
            // The number and page of another frame. Salt and checksums do not change.
            let (to, from) = (32 + one * frame, 32 + two * frame)
            bad.replaceSubrange(to..<to + 4, with: good[from..<from + 4])
            bad.replaceSubrange(to + 24..<to + frame, with: good[from + 24..<from + frame])
            // Write in place, so that the log stays open.
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try handle.write(contentsOf: Data(bad))
            let found = Outcome.read(database)
            #expect(found == before || found.isDamage, "frame \(two + 1) in the place of \(one + 1): \(found)")
            try handle.seek(toOffset: 0)
            try handle.write(contentsOf: Data(good))
            try handle.close()
        }
        #expect(Outcome.read(database) == before)
        _ = writer
    }
}

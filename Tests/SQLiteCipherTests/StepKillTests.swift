import Foundation
import GRDB
import TestSupport
import Testing

@testable import SQLiteCipher

/// A process can die at each system call that changes a file. The long form tests all of them. The short form tests
/// some, which differ each time.
@Suite(
    "Processes are killed at each call that changes a file", .startsProcesses, .ownThreads,
    .enabled(if: Tracer.refusal == nil, "strace is needed"))
struct StepKillTests {
    @Test(arguments: Profile.allCases, [JournalMode.delete, .truncate, .persist, .wal])
    func `transaction is complete or absent, and acknowledged ones are complete`(
        _ kind: Profile, _ mode: JournalMode
    ) throws {
        let scratch = try Scratch(inMemory: true)
        let path = scratch.path("a.db")
        _ = try Peer(path, kind, mode, "add", "2").words()
        let original = try contents(path)
        let calls = try Tracer.count(path, kind, mode, ["add", "2"])
        try #require(calls > 10)
        for step in Tracer.steps(calls, short: 5) {
            for suffix in ["-wal", "-shm", "-journal"] { unlink(path + suffix) }
            try write(original, to: path)
            let said = try Peer(path, kind, mode, under: Tracer.killing(at: step), ["add", "2"]).words()
            let words = try Peer(path, kind, mode, "check").words()
            try #require(words.count == 4 && words[3] == "ok", "step \(step): \(words)")
            let whole = try #require(Int(words[0]))
            #expect(words[1] == words[0] && words[2] == "\(7 * whole)", "step \(step): \(words)")
            #expect((2 + said.count...min(4, 3 + said.count)).contains(whole), "step \(step): \(words) after \(said)")
        }
    }

    @Test(arguments: Profile.allCases, [JournalMode.delete, .wal])
    func `change of key leaves the old or the new key, and all content`(
        _ kind: Profile, _ mode: JournalMode
    ) throws {
        let scratch = try Scratch(inMemory: true)
        let path = scratch.path("a.db")
        let target: Profile = kind == .gcm ? .sqlCipher : .gcm
        let command = ["rekey", target == .gcm ? "gcm" : "sqlcipher"]
        _ = try Peer(path, kind, mode, "add", "4").words()
        let original = try contents(path)
        func restore() throws {
            try scratch.removeCompanions(of: path)
            try write(original, to: path)
        }
        let calls = try Tracer.count(path, kind, mode, command)
        try #require(calls > 10)
        var kept: [String] = []
        // The last calls are those around the rename.
        for step in Set(Tracer.steps(calls, short: 5) + Array((calls - 4)...calls)).sorted() {
            try restore()
            _ = try Peer(path, kind, mode, under: Tracer.killing(at: step), command).words()
            let old = try EncryptedDatabase(path: path, key: testKey, profile: kind.profile)
            let new = try EncryptedDatabase(path: path, key: otherKey, profile: target.profile)
            func check(_ database: EncryptedDatabase) throws {
                let queue = try database.openQueue()
                #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM batch") } == 4)
                #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") } == 28)
                #expect(try queue.read { try $0.integrity() } == ["ok"])
                try queue.close()
            }
            do {
                try check(old)
                kept.append("old")
                // Leftovers do not prevent the next change.
                try check(old.changeKey(to: otherKey, profile: target.profile))
            } catch CipherError.Code.wrongKey {
                try check(new)
                kept.append("new")
            }
            // A process that died after the rename leaves the lock file, which is empty and not locked.
            let left = try scratch.companions(of: path).filter { $0.hasPrefix("a.db-rewrite") }
            #expect(left.allSatisfy { kept.last == "new" && $0 == "a.db-rewrite-lock" }, "step \(step): \(left)")
        }
        // The new key is never followed by the old one.
        #expect(kept == kept.sorted().reversed())
        #expect(Set(kept) == ["old", "new"])
    }

    @Test(arguments: Profile.allCases)
    func `transaction over two encrypted databases and a plain one is in all three or in none`(
        _ kind: Profile
    ) throws {
        let scratch = try Scratch(inMemory: true)
        let names = ["a.db", "second.db", "plain.db"].map { scratch.path($0) }
        func command(_ count: Int) -> [String] { ["three", "\(count)", names[1], names[2]] }
        _ = try Peer(names[0], kind, .delete, under: [], command(1)).words()
        let originals = try names.map { try contents($0) }
        let calls = try Tracer.count(names[0], kind, .delete, command(1))
        try #require(calls > 10)
        for step in Tracer.steps(calls, short: 10) {
            for (name, original) in zip(names, originals) {
                unlink(name + "-journal")
                try write(original, to: name)
            }
            let said = try Peer(names[0], kind, .delete, under: Tracer.killing(at: step), command(1)).words()
            let first = try EncryptedDatabase(path: names[0], key: testKey, profile: kind.profile)
            let second = try EncryptedDatabase(path: names[1], key: .raw(Array(5..<37)), profile: .sqlCipher4)
            // The first one opened finds the super-journal, or that it was removed.
            let queues = try [first.openQueue(), second.openQueue(), DatabaseQueue(path: names[2])].shuffled()
            let counts = try queues.map { queue in
                try queue.read { db in
                    #expect(try db.integrity() == ["ok"])
                    return try Int.fetchOne(db, sql: "SELECT count(*) FROM mark") ?? -1
                }
            }
            #expect(Set(counts).count == 1 && counts[0] >= max(1, said.count == 1 ? 2 : 1), "step \(step): \(counts)")
        }
    }
}

@Suite(
    "What a journal promises is on the disk before", .startsProcesses, .ownThreads,
    .enabled(if: Tracer.refusal == nil, "strace is needed"))
struct JournalOrderTests {
    /// The peer's `synchronous` is NORMAL: SQLite itself would flush the records and their count together.
    @Test func `records are flushed before the header counts them`() throws {
        let scratch = try Scratch(inMemory: true)
        let path = scratch.path("a.db")
        let trace = scratch.path("trace")
        let peer = try Peer(
            path, .gcm, .delete,
            under: [
                Tracer.path, "-f", "-y", "-qq", "-s", "0", "-o", trace, "-e", "trace=pwrite64,fsync,fdatasync",
            ], ["add", "2"])
        #expect(peer.words().count == 2)
        let lines = String(decoding: try contents(trace), as: UTF8.self).split(separator: "\n")
            .filter { $0.contains("-journal>") }
        var promises = 0
        for (before, line) in zip(lines, lines.dropFirst()) where line.contains("\"\"..., 12, ") {
            promises += 1
            #expect(before.contains("sync("), "\(before)")
        }
        #expect(promises >= 2)
    }
}

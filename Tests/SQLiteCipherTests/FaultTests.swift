import Foundation
import GRDB
import TestSupport
import Testing

@testable import SQLiteCipher

/// The disk is full, or fails, at some call.
@Suite("A failing disk is an error, and acknowledged commits are durable", .startsProcesses, .ownThreads)
struct FaultTests {
    private static let faults = [
        ("pwrite64", "ENOSPC"), ("pwrite64", "EIO"), ("fdatasync,fsync", "EIO"), ("unlink", "EACCES"),
    ]

    @Test(
        .enabled(if: Tracer.refusal == nil, "strace is needed"), arguments: Profile.allCases,
        [JournalMode.delete, .persist, .wal])
    func `failing system call loses no acknowledged commit`(_ kind: Profile, _ mode: JournalMode) throws {
        let scratch = try Scratch(inMemory: true)
        let path = scratch.path("a.db")
        _ = try Peer(path, kind, mode, "add", "2").words()
        let original = try contents(path)
        for (calls, error) in Self.faults {
            let count = try Tracer.count(path, kind, mode, ["add", "3"], of: calls)
            for step in Tracer.steps(count, short: 2) where count > 0 {
                for suffix in ["-wal", "-shm", "-journal"] { unlink(path + suffix) }
                try write(original, to: path)
                let often = Bool.random() ? "+" : ""
                let peer = try Peer(
                    path, kind, mode,
                    under: [
                        Tracer.path, "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(calls)",
                        "-e", "inject=\(calls):error=\(error):when=\(step)\(often)",
                    ], ["add", "3"])
                let said = peer.words()
                let words = try Peer(path, kind, mode, "check").words()
                try #require(words.count == 4 && words[3] == "ok", "\(calls) \(error) \(step)\(often): \(words)")
                let whole = try #require(Int(words[0]))
                #expect(words[1] == words[0] && words[2] == "\(7 * whole)", "\(calls) \(error) \(step): \(words)")
                // The failed transaction may have been committed: a flush can fail after the last write.
                let most = min(5, 3 + said.count)
                #expect((2 + said.count...most).contains(whole), "\(calls) \(error) \(step)\(often): \(words) \(said)")
            }
        }
    }

    @Test(arguments: Profile.allCases)
    func `change of key on a full disk fails and changes nothing`(_ kind: Profile) throws {
        let scratch = try Scratch()
        guard let medium = Medium(scratch, options: "size=2m") else {
            try Test.cancel("file systems can't be mounted here")
        }
        let path = medium.path + "/a.db"
        let database = try EncryptedDatabase(path: path, key: testKey, profile: kind.profile)
        try database.openQueue().write { db in
            try db.fill(rows: 10)
            try db.execute(sql: "CREATE TABLE big AS SELECT randomblob(1200000) AS b")
        }
        let before = Outcome.read(database)
        let other: Profile = kind == .gcm ? .sqlCipher : .gcm
        for profile in [kind.profile, other.profile] {
            #expect(throws: (any Error).self) { try database.changeKey(to: otherKey, profile: profile) }
            #expect(Outcome.read(database) == before)
            #expect(try FileManager.default.contentsOfDirectory(atPath: medium.path) == ["a.db"])
        }
        let target = try EncryptedDatabase(path: medium.path + "/b.db", key: otherKey)
        #expect(throws: (any Error).self) { try database.salvage(to: target) }
        #expect(throws: (any Error).self) { try database.exportPlain(to: medium.path + "/plain.db") }
        let key = try database.fileKey()
        #expect(throws: CipherError.self) {
            try EncryptedFile.encrypt(contentsOf: path, to: medium.path + "/f.enc", key: key)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: medium.path) == ["a.db"])
        #expect(Outcome.read(database) == before)
    }

    @Test(arguments: Profile.allCases)
    func `change of key succeeds although a transaction must be rolled back first`(_ kind: Profile) throws {
        let scratch = try Scratch(inMemory: true)
        let hot = try HotDatabase.journal(scratch, kind.profile(pageSize: 1024))
        try write(hot.main, to: hot.database.path)
        try write(hot.beside, to: hot.database.path + "-journal")
        let renewed = try hot.database.changeKey(to: otherKey)
        #expect(Outcome.read(renewed) == hot.states[0])
        let second = try Scratch(inMemory: true)
        let log = try HotDatabase.log(second, kind.profile(pageSize: 1024))
        try write(log.main, to: log.database.path)
        try write(log.beside, to: log.database.path + "-wal")
        #expect(try Outcome.read(log.database.changeKey(to: otherKey)) == log.states.last)
    }
}

import Foundation
import GRDB
import TestSupport
import Testing

@testable import SQLiteCipher

/// Moments that random kills seldom hit.
@Suite("A kill between two steps that belong together", .startsProcesses, .ownThreads)
struct LastMomentTests {
    @Test(arguments: Profile.allCases)
    func `commit to a log with a private index survives a kill`(_ kind: Profile) throws {
        let scratch = try Scratch(inMemory: true)
        let path = scratch.path("a.db")
        _ = try Peer(path, kind, .wal, "add", "1").words()
        for number in 2...4 {
            // Its cache is small, so that the transaction spills and recomputes its checksums at the end.
            #expect(try Peer(path, kind, .wal, "exclusive").words() == ["\(number)"])
            #expect(try Peer(path, kind, .wal, "check").words() == ["\(number)", "\(number)", "\(number * 7)", "ok"])
        }
    }

    @Test(arguments: Profile.allCases)
    func `file whose creation was interrupted gets its own salt`(_ kind: Profile) throws {
        let scratch = try Scratch(inMemory: true)
        let path = scratch.path("a.db")
        var salts: Set<[UInt8]> = []
        for pages in [0, 1, 3] {
            // Pages were spilled before page 1 was written. The journal says that the database was empty before.
            try write([UInt8](repeating: 0, count: pages * 4096), to: path)
            let header: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7] + [UInt8](repeating: 0, count: 12)
            let sizes: [UInt8] = [0, 0, 2, 0, 0, 0, 16, 0]
            try write(header + sizes + [UInt8](repeating: 0, count: 484), to: path + "-journal")
            #expect(try Peer(path, kind, .delete, "add", "1").words() == ["1"])
            #expect(try Peer(path, kind, .delete, "check").words() == ["1", "1", "7", "ok"])
            salts.insert(Array(try contents(path).prefix(16)))
            unlink(path)
        }
        #expect(salts.count == 3)
        #expect(!salts.contains([UInt8](repeating: 0, count: 16)))
    }

    @Test(.enabled(if: Tracer.refusal == nil, "strace is needed"), arguments: Profile.allCases)
    func `database killed at each step of its creation is created at the next opening`(_ kind: Profile) throws {
        let scratch = try Scratch(inMemory: true)
        let path = scratch.path("a.db")
        let calls = try Tracer.count(path, kind, .delete, ["big"])
        for step in Tracer.steps(calls, short: 8) {
            for suffix in ["", "-journal"] { unlink(path + suffix) }
            _ = try Peer(path, kind, .delete, under: Tracer.killing(at: step), ["big"]).words()
            let peer = try Peer(path, kind, .delete, "add", "1")
            #expect(peer.words() == ["1"], "step \(step): \(peer.complaint)")
            #expect(try Peer(path, kind, .delete, "check").words() == ["1", "1", "7", "ok"])
            #expect(try contents(path).prefix(16).contains { $0 != 0 })
        }
    }
}

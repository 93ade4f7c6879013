import Foundation
import GRDB
import TestSupport
import Testing

@testable import SQLiteCipher

@Suite("Truncated files give errors or the committed state", .ownThreads, .timeLimit(.minutes(60)))
struct CutTests {
    private static func profile(_ kind: Profile) -> CipherProfile { kind.profile(pageSize: 1024) }

    /// Truncations at every page boundary, near it, and inside the page. The long form truncates at every byte.
    private func cuts(_ count: Int, unit: Int) -> [Int] {
        if isSoak { return Array(0..<count) }
        return stride(from: 0, to: count, by: unit / 4).flatMap { [$0 - 1, $0, $0 + 1] }.filter { (0..<count) ~= $0 }
    }

    @Test(arguments: Profile.allCases)
    func `truncated database gives an error or the committed state`(_ kind: Profile) throws {
        let scratch = try Scratch(inMemory: true)
        let profile = Self.profile(kind)
        let database = try EncryptedDatabase(path: scratch.path("a.db"), key: testKey, profile: profile)
        try database.openQueue().write { try $0.fill(rows: 12) }
        let good = try contents(database.path)
        let before = Outcome.read(database)
        var wrong: [Int] = []
        for length in cuts(good.count, unit: profile.pageSize) {
            try write(Array(good[..<length]), to: database.path)
            let found = Outcome.read(database)
            // SQLite treats a file with no bytes, or with one byte, as a new database.
            if !found.isDamage, length > 1 { wrong.append(length) }
            // Truncating unread content would not be an error. Here everything is read.
            #expect(found != before)
        }
        #expect(wrong == [])
    }

    @Test(arguments: Profile.allCases)
    func `truncated log gives an error or a committed state`(_ kind: Profile) throws {
        let scratch = try Scratch(inMemory: true)
        let profile = Self.profile(kind)
        let hot = try HotDatabase.log(scratch, profile)
        var last = 0
        for length in cuts(hot.beside.count, unit: profile.pageSize + 24).sorted() {
            let found = try hot.outcome(beside: Array(hot.beside[..<length]))
            let state = try #require(hot.states.firstIndex(of: found), "cut to \(length): \(found)")
            #expect(state >= last)
            last = state
        }
        #expect(last >= hot.states.count - 2)
    }

    @Test(arguments: Profile.allCases)
    func `truncated hot journal gives an error or the committed state`(_ kind: Profile) throws {
        let scratch = try Scratch(inMemory: true)
        let profile = Self.profile(kind)
        let hot = try HotDatabase.journal(scratch, profile)
        let promised = hot.promised(pageSize: profile.pageSize)
        #expect(promised.count > 1 && promised.allSatisfy { !$0.isEmpty })
        var (wrong, errors): ([Int], Int) = ([], 0)
        for length in cuts(hot.beside.count, unit: profile.pageSize + 8) {
            let found = try hot.outcome(beside: Array(hot.beside[..<length]))
            // A truncation between the records of one header and the next header looks like the journal's end.
            guard promised.contains(where: { $0.contains(length) }) else { continue }
            if !hot.isHonest(found) { wrong.append(length) }
            if found.isDamage { errors += 1 }
        }
        #expect(wrong == [])
        #expect(errors > 10)
    }
}

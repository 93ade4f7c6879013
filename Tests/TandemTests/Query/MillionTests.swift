import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite("A million matches", .startsProcesses, .ownThreads)
struct MillionTests {
    /// Returns the process's own memory in bytes, without the mapped file, which belongs to the system.
    private static func ownMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
        return try #require(Int(line.split(whereSeparator: \.isWhitespace)[1])) * 1024
    }

    @Test(.enabled(if: isSoak, "a long test: make soak"))
    func `iterating takes no more memory than its cache`() async {
        // A separate process, so that its memory belongs to this test.
        await #expect(processExitsWith: .success) { try await MillionTests.walk() }
    }

    private static func walk() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let store = try Store(at: folder.path(of: "million.tandem"), models: [Badge.self])
        for batch in 0..<10 {
            try await store.write { tx in
                for number in 0..<100_000 { try tx.insert(Badge(name: "\(batch)-\(number)")) }
            }
        }
        // The first iteration fills the page cache, whose limit is documented.
        try store.objects(Badge.self).limit(100_000).forEach { _ in }
        let before = try ownMemory()
        var count = 0
        try store.objects(Badge.self).forEach { _ in count += 1 }
        for try await _ in store.objects(Badge.self).elements { count += 1 }
        let grown = try ownMemory() - before
        print("a walk of 1,000,000 objects, twice: \(grown >> 20) MiB more")
        #expect(count == 2_000_000)
        // A million objects at once would take hundreds of megabytes.
        #expect(grown < 64 << 20)
    }
}

import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

/// Very many files and very large files.
@Suite(.startsProcesses, .ownThreads) struct AttachmentScaleTests {
    @Test(arguments: StoreKind.allCases) func `many attachments leave no folder with hundreds of entries`(
        kind: StoreKind
    ) async throws {
        let count = isSoak ? 10_000 : 400
        let folder = try TestFolder()
        var configuration = Store.Configuration()
        configuration.files.flushes = false
        var store = try kind.open(at: folder.file(), [Album.self], configuration: configuration)
        defer { store.close() }
        for batch in 0..<10 {
            let files = try (0..<count / 10).map { try store.attach("\(batch)-\($0)") }
            try await store.write { tx in for file in files { try tx.insert(Album(title: "\(batch)", cover: file)) } }
        }
        func shards() throws -> [Int] {
            let path = try store.fileFolder().path
            return try FileManager.default.contentsOfDirectory(atPath: path).filter { !$0.hasPrefix(".") }
                .map { try FileManager.default.contentsOfDirectory(atPath: path + "/" + $0).count }
        }
        // A folder has 39 entries on average with ten thousand files, and 1.6 with 400. More than twice as many, or 15,
        // are practically impossible.
        #expect(try shards().count <= 256 && shards().allSatisfy { $0 < (isSoak ? 100 : 15) })
        #expect(try shards().reduce(0, +) == count)
        #expect(try store.checkIntegrity() == [])
        if kind != .memory {
            store.close()
            store = try kind.open(at: folder.file(), [Album.self], configuration: configuration)
        }
        let last = try await store.objects(Album.self).where { $0.title == "9" }.all()
        #expect(try last.allSatisfy { try store.text(of: $0.cover)?.hasPrefix("9-") == true })
        _ = try await store.write { try $0.delete($0.objects(Album.self).where { $0.title != "9" }) }
        #expect(try shards().reduce(0, +) == count / 10)
        try store.expectFilesInOrder()
    }

    /// Measures the memory of a separate process.
    @Test(arguments: [StoreKind.file, .encrypted]) func `a large file takes no more memory than a small one`(
        kind: StoreKind
    ) async throws {
        let mebibytes = isSoak ? 2_048 : 128
        let folder = try TestFolder()
        let peer = try PeerProcess(["large", folder.file(kind), "\(mebibytes)"], in: folder)
        while peer.isRunning { try await Task.sleep(for: .milliseconds(20)) }
        #expect(peer.wait() == 0, "\(peer.lines)")
        #expect(peer.lines.dropLast() == ["taken \(mebibytes << 20)", "read \(mebibytes << 20) marks \(mebibytes)"])
        let peak = try #require(peer.lines.last?.split(separator: " ").last.flatMap { Int($0) })
        print("a file of \(mebibytes) MiB in a store, \(kind): \(peak >> 20) MiB more than one of 3 MiB")
        #expect(peak < 32 << 20)
    }
}

import Foundation
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

/// Commits of other processes, with real processes and files.
@Suite(.startsProcesses, .ownThreads) struct ExternalCommitTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private func commits(_ kind: StoreKind, _ times: Int, gap: Int) throws -> PeerProcess {
        try PeerProcess(["commits", folder.file(kind), "\(times)", "\(gap)", folder.file("end")], in: folder)
    }

    /// Lets the peers close their stores.
    private func end(_ peers: PeerProcess...) {
        _ = FileManager.default.createFile(atPath: folder.file("end"), contents: nil)
        for peer in peers { peer.wait() }
        try? FileManager.default.removeItem(atPath: folder.file("end"))
    }

    @Test(arguments: [(300, 0), (200, 2), (100, 5), (12, 100)], StoreKind.files)
    func `all commits of another process are noticed`(_ pace: (times: Int, gap: Int), kind: StoreKind) throws {
        let (times, gap) = pace
        let watch = try CommitWatch(folder.file(kind))
        watch.commits.start()
        let peer = try commits(kind, times, gap: gap)
        #expect(watch.wait { watch.people == times })
        end(peer)
        #expect(!watch.latencies(of: peer, "\(gap) ms apart").contains(nil))
        print("checks: \(watch.checks), sights: \(watch.sights.count)")
    }

    @Test(arguments: StoreKind.files)
    func `commits of several processes are noticed together with own writes`(kind: StoreKind) throws {
        let watch = try CommitWatch(folder.file(kind))
        watch.commits.start()
        let peers = try (0..<2).map { _ in try commits(kind, 100, gap: 1) }
        for number in 0..<100 {
            try watch.write("own \(number)")
            usleep(1000)
        }
        for peer in peers { #expect(peer.waitForLine("commit 100 ")) }
        // Own commits don't change the data version. The last check may be older than the last own writes.
        #expect(watch.wait { (watch.sights.last?.people ?? 0) >= 200 })
        #expect(try watch.store.rows("SELECT count(*) FROM PeerPerson") == [[300]])
        end(peers[0], peers[1])
    }

    @Test(arguments: StoreKind.files)
    func `a commit that waits for a slow disk is noticed`(kind: StoreKind) throws {
        let watch = try CommitWatch(folder.file(kind))
        watch.commits.start()
        let peer = try PeerProcess(["slow", folder.file(kind), "400", folder.file("end")], in: folder)
        #expect(watch.wait { watch.people == 1 })
        end(peer)
        #expect(peer.lines.last == "delays 1")
        #expect(!watch.latencies(of: peer, "a slow disk").contains(nil))
    }

    @Test func `a spill before a commit is followed until the commit`() throws {
        let watch = try CommitWatch(folder.file(.file))
        watch.commits.start()
        let peer = try PeerProcess(["hold", folder.file(.file), folder.file("release")], in: folder)
        try #require(peer.waitForLine("holding"))
        usleep(300_000)
        #expect(watch.people == 0)
        _ = FileManager.default.createFile(atPath: folder.file("release"), contents: nil)
        #expect(watch.wait { watch.people == 1 })
    }

    @Test(arguments: StoreKind.files)
    func `nothing is checked while nothing happens`(kind: StoreKind) throws {
        let watch = try CommitWatch(folder.file(kind))
        watch.commits.start()
        watch.waitForQuiet()
        let before = watch.checks
        usleep(400_000)
        #expect(watch.checks == before)
        // A reader in another process causes no check either.
        let peer = try PeerProcess(["touch", folder.file(kind)], in: folder)
        peer.wait()
        watch.waitForQuiet()
        let after = watch.checks
        usleep(300_000)
        #expect(watch.checks == after)
    }

    @Test func `own writes cause few checks`() throws {
        let watch = try CommitWatch(folder.file(.file))
        watch.commits.start()
        watch.waitForQuiet()
        let before = watch.checks
        let start = PeerClock.now
        for number in 0..<2000 { try watch.write("\(number)") }
        let milliseconds = Int((PeerClock.now - start) / 1_000_000)
        watch.waitForQuiet()
        let checks = watch.checks - before
        print("2000 own writes in \(milliseconds) ms: \(checks) checks")
        #expect(checks <= milliseconds + 10)
        // An external commit is noticed afterwards.
        let peer = try commits(.file, 1, gap: 0)
        #expect(watch.wait { watch.people == 2001 })
        end(peer)
    }

    @Test(arguments: StoreKind.files)
    func `another store of this process reports its own commits`(kind: StoreKind) throws {
        let watch = try CommitWatch(folder.file(kind), makeChanges: { _, _, _ in SilentChanges() })
        let other = try CommitWatch(folder.file(kind))
        watch.commits.start()
        watch.waitForQuiet()
        // It reports them whether it watches or not.
        try other.write("a")
        #expect(watch.wait { watch.people == 1 })
        other.commits.start()
        try other.write("b")
        #expect(watch.wait { watch.people == 2 })
        let checks = other.checks
        try watch.write("c")
        #expect(watch.wait { other.people == 3 && other.checks > checks })
    }

    @Test func `the file is checked at intervals if changes can't be observed`() throws {
        let watch = try CommitWatch(folder.file(.file), makeChanges: { _, _, _ in nil })
        watch.commits.start()
        let peer = try commits(.file, 5, gap: 50)
        #expect(watch.wait { watch.people == 5 })
        end(peer)
        _ = watch.latencies(of: peer, "without inotify")
    }

    @Test(arguments: StoreKind.files)
    func `a store behind a link is watched`(kind: StoreKind) throws {
        _ = try Peer.open(folder.file(kind))
        let link = folder.file("link.tandem")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.file(kind))
        let watch = try CommitWatch(link, kind: kind)
        watch.commits.start()
        watch.waitForQuiet()
        let peer = try commits(kind, 1, gap: 0)
        #expect(watch.wait { watch.people == 1 })
        end(peer)
    }

    @Test(arguments: StoreKind.files)
    func `a read-only store notices commits`(kind: StoreKind) throws {
        _ = try Peer.open(folder.file(kind))
        let watch = try CommitWatch(folder.file(kind), readOnly: true)
        watch.commits.start()
        watch.waitForQuiet()
        let peer = try commits(kind, 3, gap: 20)
        #expect(watch.wait { watch.people == 3 })
        end(peer)
    }

    @Test(arguments: StoreKind.files)
    func `a commit after a checkpoint is noticed`(kind: StoreKind) throws {
        let watch = try CommitWatch(folder.file(kind))
        watch.commits.start()
        for number in 1...3 {
            // Closing the peer or our checkpoint truncates the log.
            try watch.store.writer.queue.unsafeReentrantWrite { _ in
                _ = try watch.store.writer.connection.value("PRAGMA wal_checkpoint(TRUNCATE)")
            }
            watch.waitForQuiet()
            let peer = try commits(kind, 1, gap: 0)
            #expect(watch.wait { watch.people == number })
            end(peer)
        }
    }
}

/// Reports no changes.
private final class SilentChanges: FileChanges {
    func drainChanges() -> Bool { false }
    var isWatching: Bool { true }
    func pause() {}
    func resume() {}
    func cancel() {}
}

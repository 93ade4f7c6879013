import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

/// Starting and stopping the watch, and files that are created and removed.
@Suite(.startsProcesses, .ownThreads) struct ExternalCommitLifecycleTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    /// A watch of a file that is not a store. Only the times of its calls matter.
    private final class Calls: Sendable {
        private let count = Atomic<Int>(0)
        var value: Int { count.load(ordering: .sequentiallyConsistent) }

        func watcher(of path: String) -> ExternalCommitMonitor {
            ExternalCommitMonitor(path: path, makeChanges: patientFileChanges) { [self] in
                count.wrappingAdd(1, ordering: .sequentiallyConsistent)
                return .none
            }
        }

        /// Runs an action and waits for a later call.
        func next(after action: () throws -> Void) rethrows -> Bool {
            usleep(20_000)
            let before = value
            try action()
            for _ in 0..<5000 {
                if value > before { return true }
                usleep(1000)
            }
            return false
        }
    }

    private func append(_ name: String) throws {
        let handle = try #require(FileHandle(forWritingAtPath: folder.file(name)))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data([1, 2, 3]))
        try handle.close()
    }

    private func create(_ name: String) {
        _ = FileManager.default.createFile(atPath: folder.file(name), contents: Data([0]))
    }

    private func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: folder.file(name)) }

    @Test func `the log may be created later, removed and replaced`() throws {
        create("a")
        let calls = Calls()
        let watcher = calls.watcher(of: folder.file("a"))
        watcher.start()
        defer { watcher.stop() }
        #expect(calls.next { create("a-wal") }, "made later")
        #expect(try calls.next { try append("a-wal") })
        #expect(try calls.next { try remove("a-wal") }, "removed")
        #expect(calls.next { create("a-wal") }, "made again")
        #expect(try calls.next { try append("a-wal") })
        // The log is removed while another handle keeps it open.
        let open = FileHandle(forReadingAtPath: folder.file("a-wal"))
        #expect(try calls.next { try remove("a-wal") })
        #expect(calls.next { create("a-wal") })
        #expect(try calls.next { try append("a-wal") })
        try open?.close()
        // Another file takes its name.
        create("b")
        #expect(try calls.next { _ = try #require(rename(folder.file("b"), folder.file("a-wal")) == 0) })
        #expect(try calls.next { try append("a-wal") })
        #expect(calls.next { truncate(folder.file("a-wal"), 0) }, "cut")
    }

    @Test func `other files beside the log are ignored`() throws {
        create("a")
        let calls = Calls()
        let watcher = calls.watcher(of: folder.file("a"))
        watcher.start()
        defer { watcher.stop() }
        for hasLog in [false, true] {
            if hasLog { #expect(calls.next { create("a-wal") }) }
            usleep(100_000)
            let before = calls.value
            for number in 0..<20 {
                create("x\(number)")
                try append("a")
                try remove("x\(number)")
            }
            usleep(100_000)
            #expect(calls.value == before)
        }
    }

    @Test func `stopping inside a check ends the checks`() throws {
        _ = try Peer.open(folder.file())
        let watch = try CommitWatch(folder.file(), onSight: { $0.commits.stop() })
        watch.commits.start()
        let peer = try PeerProcess(["commits", folder.file(), "20", "2", folder.path], in: folder)
        peer.wait()
        #expect(watch.sights.count == 1)
        // The watch can be started again and checks at once.
        watch.commits.start()
        #expect(watch.wait { watch.people == 20 && watch.sights.count == 2 })
        watch.commits.stop()
        watch.commits.stop()
    }

    @Test func `no check begins after a stop`() throws {
        create("a")
        create("a-wal")
        for round in 0..<30 {
            let calls = Calls()
            let watcher = calls.watcher(of: folder.file("a"))
            watcher.start()
            try append("a-wal")
            usleep(UInt32(round) * 20)
            watcher.stop()
            // A check in progress finishes.
            usleep(10_000)
            let before = calls.value
            try append("a-wal")
            usleep(5_000)
            #expect(calls.value == before)
        }
    }

    @Test func `starting and stopping leaves no file open`() throws {
        func descriptors() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
            }.filter { $0.contains("inotify") }
        }
        guard FileManager.default.fileExists(atPath: "/proc/self/fd") else { return }
        create("a")
        create("a-wal")
        // Other tests watch files at the same time. A leak would exceed their number.
        let calls = Calls()
        for round in 0..<300 {
            let watcher = calls.watcher(of: folder.file("a"))
            watcher.start()
            if round % 3 == 0 { try append("a-wal") }
            if round % 2 == 0 { watcher.stop() }
            if round % 5 == 0 { watcher.start() }
        }
        var left = try descriptors().count
        for _ in 0..<200 where left > 40 {
            usleep(10_000)
            left = try descriptors().count
        }
        #expect(left <= 40)
    }
}

/// The system's observer, with retries.
///
/// Other tests and processes can temporarily use all observers that a user is allowed. Without retries, the monitor
/// would then poll.
private let patientFileChanges: FileChangesMaker = { path, queue, onChange in
    for _ in 0..<10_000 {
        if let changes = systemFileChanges(path, queue, onChange) {
            if changes.isWatching { return changes }
            changes.cancel()
        }
        usleep(1000)
    }
    return nil
}

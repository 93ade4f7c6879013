import DatasyncWire
import Foundation
import Synchronization
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A counter of concurrent holders of the lock.
private final class Visits: Sendable {
    private let state = Mutex((now: 0, most: 0, count: 0))

    func enter() {
        state.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.count + 1) }
    }

    func leave() { state.withLock { $0.now -= 1 } }

    var most: Int { state.withLock { $0.most } }
    var count: Int { state.withLock { $0.count } }
}

@Suite(.ownThreads) struct SyncLockTests {
    private func fileContext(
        _ world: SyncWorld, _ folder: borrowing TemporaryFolder,
        _ options: (inout SyncContext.Options) -> Void = { _ in }
    ) throws -> SyncContext {
        let store = try Store(at: folder.path(of: "a.tandem"), models: [Person.self, Card.self, Pet.self])
        return world.context(store, options)
    }

    @Test func `only one sync runs at a time`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let world = try SyncWorld()
        // Two contexts on two stores of one file.
        let contexts = [try fileContext(world, folder), try fileContext(world, folder)]
        let visits = Visits()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<20 {
                group.addTask {
                    try await contexts[index % 2].withExclusiveSync {
                        visits.enter()
                        await Task.yield()
                        visits.leave()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(visits.most == 1 && visits.count == 20)
    }

    @Test func `a sync waits for another process and then reports a busy store`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let world = try SyncWorld()
        let context = try fileContext(world, folder) { $0.patience = .seconds(1) }
        // flock distinguishes open files, not processes, so this represents another process.
        let path = try #require(context.store.lockPath)
        let other = try #require(try ProcessLock.acquire(at: path))
        await #expect { try await context.withExclusiveSync {} } throws: { ($0 as? SyncError)?.code == .busy }
        other.release()
        try await context.withExclusiveSync {}
    }

    @Test func `released lock is free although a child process has its file open`() throws {
        guard FileManager.default.fileExists(atPath: "/proc/self/fd") else { return }
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = folder.path(of: "lock")
        let lock = try #require(try ProcessLock.acquire(at: path))
        // A duplicate shares the lock, as the descriptor of a child process does.
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        let end = "\(URL(fileURLWithPath: folder.path).lastPathComponent)/lock"
        let descriptor = descriptors.compactMap(Int32.init).first {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?.hasSuffix(end) == true
        }
        let duplicate = dup(try #require(descriptor))
        defer { close(duplicate) }
        #expect(try ProcessLock.acquire(at: path) == nil)
        lock.release()
        try #require(try ProcessLock.acquire(at: path)).release()
    }

    @Test func `a cancelled task stops waiting`() async throws {
        let (_, context) = try SyncWorld().device()
        let asyncLock = AsyncLock()
        try await asyncLock.lock()
        let waiting = Task { try await asyncLock.lock() }
        await Task.yield()
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        asyncLock.unlock()
        try await asyncLock.lock()
        asyncLock.unlock()
        try await context.withExclusiveSync {}
    }

    @Test func `a sync from within a sync is refused and does not hang`() async throws {
        let (_, context) = try SyncWorld().device()
        try await context.withExclusiveSync {
            await #expect { try await context.withExclusiveSync {} } throws: { ($0 as? SyncError)?.code == .busy }
        }
    }

    @Test func `a failed sync releases the lock`() async throws {
        struct Failure: Error {}
        let (_, context) = try SyncWorld().device()
        await #expect(throws: Failure.self) { try await context.withExclusiveSync { throw Failure() } }
        try await context.withExclusiveSync {}
    }

    /// A task that is started in a closure of the app during a sync, and lives longer.
    @Test func `a task started within a sync can sync after its end`() async throws {
        let (_, context) = try SyncWorld().device()
        let (over, isOver) = AsyncStream<Void>.makeStream()
        let later = try await context.withExclusiveSync {
            Task {
                for await _ in over {}
                try await context.withExclusiveSync {}
                // Within its own sync it can't start another one either.
                try await context.withExclusiveSync {
                    await #expect { try await context.withExclusiveSync {} } throws: {
                        ($0 as? SyncError)?.code == .busy
                    }
                }
            }
        }
        isOver.finish()
        try await later.value
    }
}

import Foundation
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

/// Many threads and tasks that read and write at once.
@Suite(.ownThreads) struct ReadersTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private func open(_ kind: StoreKind = .file, readers: Int) throws -> Store {
        var configuration = Store.Configuration()
        configuration.maximumReaders = readers
        configuration.busyTimeout = 60
        return try kind.open(at: folder.file(kind), [PeerPerson.self, PeerMark.self], configuration: configuration)
    }

    /// In every committed state the mark's number is the number of people.
    private func write(_ store: Store) throws {
        try store.write { tx in
            try tx.insert(PeerPerson(name: "x"))
            try tx.update(PeerMark.self, localID: PeerMark.id) { $0.number += 1 }
        }
    }

    @Sendable private static func check(_ store: Store) throws -> Int {
        let people = try store.sql("SELECT count(*) FROM PeerPerson")[0][0].int!
        let mark = try store.sql("SELECT number FROM PeerMark")[0][0].int!
        let operations = try store.operations.count()
        #expect(people == mark && operations == mark)
        return mark
    }

    @Test(
        .timeLimit(.minutes(10)),
        arguments: zip([1, 2, 4, 20, 2, 4], [StoreKind.file, .file, .file, .file, .encrypted, .sqlCipher]))
    func `a read block sees one state whatever is written`(readers: Int, kind: StoreKind) throws {
        let store = try open(kind, readers: readers)
        _ = try store.write { try $0.insert(PeerMark(number: 0).identified(by: PeerMark.id)) }
        let errors = Mutex<[any Error]>([])
        DispatchQueue.concurrentPerform(iterations: 12) { index in
            do {
                if index < 3 {
                    for _ in 0..<40 { try write(store) }
                } else {
                    var last = 0
                    for _ in 0..<100 {
                        let now = try store.read { _ in try Self.check(store) }
                        #expect(now >= last, "a reader must not go back in time")
                        last = now
                    }
                }
            } catch { errors.withLock { $0.append(error) } }
        }
        #expect(errors.withLock { $0 }.isEmpty)
        #expect(try Self.check(store) == 120)
        #expect(store.readers!.made <= readers)
    }

    @Test(.timeLimit(.minutes(10)), arguments: StoreKind.files)
    func `tasks read and write too`(kind: StoreKind) async throws {
        let store = try open(kind, readers: 2)
        _ = try await store.write { try $0.insert(PeerMark(number: 0).identified(by: PeerMark.id)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<40 {
                group.addTask {
                    if index % 4 == 0 {
                        try await store.write { tx in
                            try tx.insert(PeerPerson(name: "x"))
                            try tx.update(PeerMark.self, localID: PeerMark.id) { $0.number += 1 }
                        }
                    } else {
                        _ = try await store.read { _ in try Self.check(store) }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try Self.check(store) == 10)
    }

    @Test(.timeLimit(.minutes(10)))
    func `a task that is canceled while it waits for a reader stops waiting`() async throws {
        let store = try open(readers: 1)
        let reading = DispatchSemaphore(value: 0)
        let release = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            try? store.read { _ in
                reading.signal()
                release.wait()
            }
        }
        await reading.reached()
        let task = Task { try await store.read { _ in } }
        while store.readers!.waiting == 0 { try await Task.sleep(for: .milliseconds(1)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(store.readers!.waiting == 0)
        release.signal()
        // The reader is available for the next task.
        #expect(try await store.read { try $0.operations.count() } == 0)
    }

    @Test(.timeLimit(.minutes(10)))
    func `a task that is canceled while it waits to write writes nothing`() async throws {
        let store = try open(readers: 1)
        let writing = DispatchSemaphore(value: 0)
        let release = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            try? store.write { _ in
                writing.signal()
                release.wait()
            }
        }
        await writing.reached()
        let task = Task { try await store.write { _ = try $0.insert(PeerPerson(name: "x")) } }
        try await Task.sleep(for: .milliseconds(20))
        task.cancel()
        release.signal()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try store.operations.count() == 0)
    }

    @Test(.timeLimit(.minutes(10)), arguments: StoreKind.files)
    func `a task that is canceled while it writes or reads is interrupted`(kind: StoreKind) async throws {
        let store = try open(kind, readers: 1)
        // The statement is long enough to be interrupted, but would not hang the tests if it were not.
        let endless =
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300000000) SELECT count(*) FROM n"
        let began = DispatchSemaphore(value: 0)
        let writing = Task {
            try await store.write { tx in
                _ = try tx.insert(PeerPerson(name: "x"))
                began.signal()
                _ = try store.sql(endless)
            }
        }
        await began.reached()
        try await Task.sleep(for: .milliseconds(50))
        writing.cancel()
        await #expect(throws: CancellationError.self) { try await writing.value }
        let reading = Task {
            try await store.read { _ in
                began.signal()
                _ = try store.sql(endless)
            }
        }
        await began.reached()
        try await Task.sleep(for: .milliseconds(50))
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        #expect(try await store.read { try $0.operations.count() } == 0)
        _ = try await store.write { try $0.insert(PeerPerson(name: "y")) }
        #expect(try store.operations.count() == 1)
    }

    @Test(.timeLimit(.minutes(10)))
    func `a caller that waits for a reader opens one itself if another attempt fails`() throws {
        struct Odd: Error {}
        let slow = DispatchSemaphore(value: 0)
        let attempts = Mutex(0)
        let pool = ReaderPool(maximum: 1, path: "x") {
            let first = attempts.withLock { count in
                count += 1
                return count == 1
            }
            if first { slow.wait() }
            throw Odd()
        }
        let failed = DispatchSemaphore(value: 0)
        for _ in 0..<3 {
            Thread.detachNewThread {
                do { _ = try pool.borrow() } catch is Odd { failed.signal() } catch {}
            }
        }
        while pool.waiting < 2 { usleep(1000) }
        slow.signal()
        for _ in 0..<3 { failed.wait() }
        #expect(attempts.withLock { $0 } == 3)
    }
}

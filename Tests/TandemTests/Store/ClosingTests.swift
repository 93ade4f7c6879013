import Foundation
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem
@testable import TandemTestScript

@Suite(.ownThreads) struct ClosingTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private func expectClosed(_ store: Store) async throws {
        expectError(.closed) { try store.write { try $0.insert(PeerPerson(name: "x")) } }
        expectError(.closed) { try store.read { _ in } }
        expectError(.closed) { try store.sql("SELECT 1") }
        expectError(.closed) { try store.operations.count() }
        expectError(.closed) { try store.compact() }
        expectError(.closed) { try store.backup(to: folder.file("copy")) }
        await #expect(throws: TandemError.self) { try await store.write { _ in } }
        await #expect(throws: TandemError.self) { try await store.read { _ in } }
    }

    @Test(arguments: StoreKind.files)
    func `a closed store reports that it is closed`(kind: StoreKind) async throws {
        let store = try Peer.open(folder.file(kind))
        _ = try store.sql("SELECT 1")
        store.close()
        store.close()
        try await expectClosed(store)
        let memory = try Store.inMemory(models: PeerPerson.self)
        memory.close()
        try await expectClosed(memory)
    }

    @Test(arguments: StoreKind.files)
    func `closing leaves one file`(kind: StoreKind) throws {
        let store = try Peer.open(folder.file(kind))
        _ = try store.write { try $0.insert(PeerPerson(name: "x")) }
        _ = try store.sql("SELECT 1")
        #expect(try folder.storeBytes(kind).count == 3)
        store.close()
        #expect(try folder.storeBytes(kind).keys.sorted() == [Peer.name(kind)])
    }

    @Test(arguments: StoreKind.files)
    func `releasing a store closes it`(kind: StoreKind) throws {
        var store: Store? = try Peer.open(folder.file(kind))
        _ = try store!.write { try $0.insert(PeerPerson(name: "x")) }
        _ = try store!.read { try $0.operations.count() }
        store = nil
        #expect(try folder.storeBytes(kind).keys.sorted() == [Peer.name(kind)])
    }

    @Test(arguments: StoreKind.files)
    func `a reader in use continues after the store was closed`(kind: StoreKind) throws {
        let store = try Peer.open(folder.file(kind), busyTimeout: 0.2)
        _ = try store.write { try $0.insert(PeerPerson(name: "x")) }
        let reading = DispatchSemaphore(value: 0)
        let closed = DispatchSemaphore(value: 0)
        let done = DispatchSemaphore(value: 0)
        let counts = Mutex<[Int]>([])
        Thread.detachNewThread {
            try? store.read { tx in
                counts.withLock { $0.append((try? tx.operations.count()) ?? -1) }
                reading.signal()
                closed.wait()
                counts.withLock { $0.append((try? tx.operations.count()) ?? -1) }
            }
            done.signal()
        }
        reading.wait()
        store.close()
        expectError(.closed) { try store.sql("SELECT 1") }
        closed.signal()
        done.wait()
        #expect(counts.withLock { $0 } == [1, 1])
        // The last connection closes the file.
        let again = try Peer.open(folder.file(kind))
        _ = try again.write { try $0.insert(PeerPerson(name: "y")) }
        again.close()
        #expect(try folder.storeBytes(kind).keys.sorted() == [Peer.name(kind)])
    }

    @Test(.timeLimit(.minutes(10)))
    func `a thread that waits for a reader gets an error if the store is closed`() async throws {
        var configuration = Store.Configuration()
        configuration.maximumReaders = 1
        configuration.busyTimeout = 0.1
        let store = try Store(at: folder.file(), models: PeerPerson.self, configuration: configuration)
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
        let notified = DispatchSemaphore(value: 0)
        let code = Mutex<TandemError.Code?>(nil)
        let extra = Mutex(0)
        while store.readers!.waiting < 1 { try await Task.sleep(for: .milliseconds(1)) }
        Thread.detachNewThread {
            // A thread waits for a while and then opens an additional reader.
            while code.withLock({ $0 }) == nil {
                do {
                    try store.read { _ in extra.withLock { $0 += 1 } }
                } catch {
                    code.withLock { $0 = (error as? TandemError)?.code }
                }
            }
            notified.signal()
        }
        try await Task.sleep(for: .milliseconds(20))
        store.close()
        do {
            try await task.value
            // On a busy machine the thread may have waited long enough to open its own reader and return it.
            #expect(extra.withLock { $0 } > 0)
        } catch {
            #expect((error as? TandemError)?.code == .closed)
        }
        await notified.reached()
        #expect(code.withLock { $0 } == .closed)
        release.signal()
    }

    @Test(.timeLimit(.minutes(10)), arguments: StoreKind.files)
    func `closing during many reads and writes is safe`(kind: StoreKind) throws {
        for round in 0..<(isSoak ? 6 : 3) {
            let path = folder.file("round-\(round)")
            let written = Mutex(0)
            let errors = Mutex<[any Error]>([])
            do {
                let store = try Peer.open(path, kind, busyTimeout: 5)
                let group = DispatchGroup()
                for index in 0..<8 {
                    group.enter()
                    Thread.detachNewThread {
                        defer { group.leave() }
                        do {
                            for step in 0..<1000 {
                                if index == 7 && step == (round + 1) * 10 {
                                    store.close()
                                    return
                                }
                                if index % 2 == 0 {
                                    try store.write { try $0.insert(PeerPerson(name: "\(index)-\(step)")) }
                                    written.withLock { $0 += 1 }
                                } else {
                                    _ = try store.read { try $0.operations.count() }
                                }
                            }
                        } catch {
                            errors.withLock { $0.append(error) }
                        }
                    }
                }
                group.wait()
            }
            for error in errors.withLock(\.self) { #expect((error as? TandemError)?.code == .closed, "\(error)") }
            let store = try Peer.open(path, kind)
            #expect(try store.operations.count() == written.withLock { $0 })
            try store.expectSound()
        }
    }
}

extension DispatchSemaphore {
    /// Waits without blocking a thread of Swift's pool.
    func reached() async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                self.wait()
                continuation.resume()
            }
        }
    }
}

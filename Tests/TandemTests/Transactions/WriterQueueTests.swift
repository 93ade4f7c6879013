import Dispatch
import Foundation
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite("Writers of one store wait for each other for the time stated", .ownThreads) struct WriterQueueTests {
    private func configuration(_ timeout: Double) -> Store.Configuration {
        var configuration = Store.Configuration()
        configuration.busyTimeout = timeout
        return configuration
    }

    /// Holds the store's write lock on another thread until it is released.
    private final class Holder: Sendable {
        private let isHeld = DispatchSemaphore(value: 0)
        private let mayEnd = DispatchSemaphore(value: 0)
        private let hasEnded = DispatchSemaphore(value: 0)

        init(_ store: Store) {
            Thread.detachNewThread { [isHeld, mayEnd, hasEnded] in
                try? store.write { _ in
                    isHeld.signal()
                    mayEnd.wait()
                }
                hasEnded.signal()
            }
            isHeld.wait()
        }

        func release() {
            mayEnd.signal()
            hasEnded.wait()
        }
    }

    @Test(arguments: StoreKind.allCases) func `a thread that waits too long gets an error`(kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self, configuration: configuration(0.05)) { store in
            let holder = Holder(store)
            let error = #expect(throws: TandemError.self) {
                try store.write { try $0.insert(Person(name: "Ада")) }
            }
            #expect(error?.code == .busy)
            holder.release()
            try store.write { try $0.insert(Person(name: "Ада")) }
            #expect(try store.objects(Person.self).count() == 1)
        }
    }

    @Test(arguments: StoreKind.allCases) func `a task that waits too long gets an error`(kind: StoreKind) async throws {
        try await kind.withStore(Card.self, Person.self, Badge.self, configuration: configuration(0.05)) { store in
            let holder = Holder(store)
            let error = await #expect(throws: TandemError.self) {
                try await store.write { try $0.insert(Person(name: "Ада")) }
            }
            #expect(error?.code == .busy)
            holder.release()
            try await store.write { try $0.insert(Person(name: "Ада")) }
            #expect(try await store.objects(Person.self).count() == 1)
        }
    }

    @Test func `a task that is canceled while it waits writes nothing`() async throws {
        try await StoreKind.file.withStore(Card.self, Person.self, Badge.self, configuration: configuration(60)) {
            store in
            let holder = Holder(store)
            let task = Task { try await store.write { try $0.insert(Person(name: "Ада")) } }
            task.cancel()
            let outcome = await task.result
            #expect(throws: CancellationError.self) { try outcome.get() }
            holder.release()
            let count = try await store.objects(Person.self).count()
            #expect(count == 0)
        }
    }

    @Test func `many writers all get their turn`() async throws {
        try await StoreKind.file.withStore(Card.self, Person.self, Badge.self, configuration: configuration(60)) {
            store in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<50 {
                    group.addTask { try await store.write { try $0.insert(Person(name: "async \(number)")) } }
                    group.addTask {
                        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
                            Thread.detachNewThread {
                                done.resume(
                                    with: Result {
                                        _ = try store.write { try $0.insert(Person(name: "sync \(number)")) }
                                    })
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await store.objects(Person.self).count() == 100)
            #expect(try store.operations.count() == 100)
        }
    }

    /// An actor on a single thread, like the main thread.
    private actor Worker {
        func write(_ queue: WriterQueue, _ note: @Sendable () -> Void) async throws {
            try await queue.pass { stay in
                note()
                stay.end()
            }
        }

        /// Blocks the worker's thread until the write lock is acquired.
        func writeBlocking(_ queue: WriterQueue, _ began: @Sendable () -> Void, _ note: () -> Void) throws {
            began()
            try queue.pass(note)
        }
    }

    @Test func `an admitted task without a thread is overtaken by the writer that blocks its thread`() async throws {
        let queue = WriterQueue(timeout: 60, path: "")
        let worker = Worker()
        let order = Mutex<[String]>([])
        let (isHeld, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            try? queue.pass {
                isHeld.signal()
                mayEnd.wait()
            }
        }
        await withCheckedContinuation { done in
            Thread.detachNewThread {
                isHeld.wait()
                done.resume()
            }
        }
        let task = Task { try await worker.write(queue) { order.withLock { $0.append("task") } } }
        while queue.countOfWaiters < 1 { await Task.yield() }
        // The admitted task needs the worker to continue, and the worker waits behind it.
        try await worker.writeBlocking(queue) {
            Thread.detachNewThread {
                while queue.countOfWaiters < 2 { Thread.sleep(forTimeInterval: 0.001) }
                mayEnd.signal()
            }
        } _: {
            order.withLock { $0.append("thread") }
        }
        try await task.value
        #expect(order.withLock { $0 } == ["thread", "task"])
    }
}

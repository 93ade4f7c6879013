import Foundation
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct AsyncTests {
    @Test(arguments: StoreKind.allCases)
    func `asynchronous blocks read and write`(_ kind: StoreKind) async throws {
        try await kind.withStore(Node.self) { store async throws in
            let node = try await store.write { try $0.insert(Node("a")) }
            try await store.write { tx in
                try tx.update(Node.self, localID: node.localID) { $0.count = 1 }
                // A nested synchronous write joins the transaction.
                try store.write { try $0.update(Node.self, localID: node.localID) { $0.count += 1 } }
            }
            #expect(try await store.read { _ in try store.stored(node)?.count } == 2)
            await #expect(throws: CocoaError.self) {
                try await store.write { tx in
                    try tx.insert(Node("undone"))
                    throw CocoaError(.fileNoSuchFile)
                }
            }
            #expect(try store.live(Node.self).count == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `writers of one store wait for each other`(_ kind: StoreKind) async throws {
        try await kind.withStore(Node.self) { store async throws in
            let node = try await store.write { try $0.insert(Node("a")) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        try await store.write { tx in
                            _ = try tx.update(Node.self, localID: node.localID) { $0.count += 1 }
                        }
                        _ = try await store.read { _ in try store.stored(node) }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try store.stored(node)?.count == 20)
            #expect(try store.checkIntegrity() == [])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a task that is canceled beforehand writes nothing`(_ kind: StoreKind) async throws {
        try await kind.withStore(Node.self) { store async throws in
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                try await store.write { try $0.insert(Node("a")) }
            }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try store.live(Node.self) == [])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a task that is canceled during a long write keeps nothing`(_ kind: StoreKind) async throws {
        try await kind.withStore(Node.self) { store async throws in
            let (started, start) = AsyncStream<Void>.makeStream()
            let task = Task {
                try await store.write { tx in
                    start.yield()
                    while !Task.isCancelled { try tx.insert(Node("a")) }
                    try tx.insert(Node("last"))
                }
            }
            for await _ in started { break }
            task.cancel()
            await #expect(throws: CancellationError.self) { _ = try await task.value }
            #expect(try store.live(Node.self) == [])
            #expect(try store.operations.count() == 0)
            // The store stays usable.
            try await store.write { try $0.insert(Node("b")) }
            #expect(try store.live(Node.self).count == 1)
            #expect(try store.checkIntegrity() == [])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `canceling interrupts the running statement`(_ kind: StoreKind) async throws {
        try await kind.withStore(Node.self) { store async throws in
            let (started, start) = AsyncStream<Void>.makeStream()
            let task = Task {
                try await store.read { _ in
                    start.yield()
                    // This statement never ends by itself.
                    return try store.sql(
                        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
                    ).count
                }
            }
            for await _ in started { break }
            // The statement may not have begun yet, which must make no difference.
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try store.sql("SELECT 1").count == 1)
        }
    }

    @Test(arguments: StoreKind.files)
    func `a read sees one state whatever is written meanwhile`(_ kind: StoreKind) async throws {
        try await kind.withStore(Node.self) { store async throws in
            try await store.write { try $0.insert(Node("a")) }
            try syncRead(store) { _ throws in
                #expect(try store.live(Node.self).count == 1)
                let semaphore = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    _ = try? store.write { try $0.insert(Node("b")) }
                    semaphore.signal()
                }
                semaphore.wait()
                #expect(try store.live(Node.self).count == 1)
            }
            #expect(try store.live(Node.self).count == 2)
        }
    }

    /// Calls the blocking `read` from an async function.
    private func syncRead<T>(_ store: Store, _ body: (ReadTransaction) throws -> T) throws -> T { try store.read(body) }
}

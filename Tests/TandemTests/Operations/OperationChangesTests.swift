import Foundation
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Observers of the queue are notified of every commit that changed it and of no other.
@Suite(.ownThreads) struct OperationChangesTests {
    @Test(arguments: StoreKind.allCases)
    func `commits that change the queue are reported`(kind: StoreKind) async throws {
        try await kind.withStore(Node.self, HandPerson.self) { store in
            let changes = store.operations.changes
            var iterator = changes.makeAsyncIterator()
            let first = try await store.write { try $0.insert(Node("a")).localID }
            #expect(await iterator.next() == ["Node"])
            // A slow observer gets several commits at once.
            try await store.write { _ = try $0.insert(Node("b")) }
            try await store.write { _ = try $0.insert(HandPerson(name: "Ада")) }
            #expect(await iterator.next() == ["Node", "HandPerson"])
            // An object from a server queues nothing.
            try await store.write { _ in _ = try store.applyServerObject(Node("c"), serverID: "c") }
            try await store.write { try $0.delete(Node.self, localID: first) }
            #expect(await iterator.next() == ["Node"])
            store.close()
            #expect(await iterator.next() == nil)
        }
    }

    @Test func `another store's commit may have changed the whole queue`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = folder.path(of: "a.tandem")
        let store = try Store(at: path, models: [Node.self, HandPerson.self])
        let other = try Store(at: path, models: [Node.self, HandPerson.self])
        defer {
            store.close()
            other.close()
        }
        var iterator = store.operations.changes.makeAsyncIterator()
        try await other.write { _ = try $0.insert(Node("a")) }
        #expect(await iterator.next() == ["Node", "HandPerson"])
        var counts = store.operations.counts.makeAsyncIterator()
        #expect(try await counts.next() == ["Node": 1])
        try await other.write { _ = try $0.insert(Node("b")) }
        #expect(try await counts.next() == ["Node": 2])
    }

    @Test func `an observer that stops is forgotten`() async throws {
        let store = try Store(inMemoryModels: [Node.self])
        do {
            var iterator: AsyncStream<Set<String>>.Iterator? = store.operations.changes.makeAsyncIterator()
            #expect(store.commits.isObserved)
            _ = iterator
            iterator = nil
        }
        #expect(!store.commits.isObserved)
        let listening = Task { for await _ in store.operations.changes {} }
        while !store.commits.isObserved { await Task.yield() }
        listening.cancel()
        await listening.value
        #expect(!store.commits.isObserved)
        store.close()
        #expect(await store.operations.changes.first { _ in true } == nil)
    }
}

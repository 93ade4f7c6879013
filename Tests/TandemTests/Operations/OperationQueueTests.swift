import Foundation
import OpenCombine
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct OperationQueueTests {
    @Test func `operations are in the order of their first changes`() throws {
        let store = try Store.inMemory(models: Node.self, HandPerson.self)
        try store.write { tx in
            try tx.insert(Node("a", localID: "a"))
            try tx.insert(HandPerson(name: "p").identified(by: "p"))
            try tx.insert(Node("b", localID: "b"))
            try tx.update(Node.self, localID: "a") { $0.count = 1 }
        }
        try store.sendAll()
        try store.write { tx in
            try tx.update(Node.self, localID: "b") { $0.count = 1 }
            try tx.update(HandPerson.self, localID: "p") { $0.name = "q" }
            try tx.update(Node.self, localID: "a") { $0.count = 2 }
            try tx.delete(Node.self, localID: "b")
        }
        #expect(try store.queue() == ["delete b [count]", "update p [name]", "update a [count]"])
        #expect(try store.operations.all(of: Node.self).map(\.localID) == ["b", "a"])
        #expect(try store.operations.count(of: HandPerson.self) == 1)
        #expect(try store.operations.countsByModel() == ["Node": 2, "HandPerson": 1])
        #expect(try store.operations.all(in: .pending, limit: 2).count == 2)
        #expect(try store.operations.count(in: .attempted) == 0)
    }

    @Test func `operation of an object is found by an index, however long the queue is`() throws {
        let store = try Store.inMemory(models: Node.self, HandPerson.self)
        let sql = OperationReader.select(OperationReader(store: store).condition(onObjectIn: "Node"))
        let steps = try store.reading { connection in
            let statement = try connection.uncachedStatement("EXPLAIN QUERY PLAN " + sql)
            var steps: [String] = []
            while try statement.step() { steps.append(try statement.text(3)) }
            return steps
        }
        #expect(steps.contains { $0.hasPrefix("SEARCH o USING INDEX") && $0.hasSuffix("(table=? AND object=?)") })
    }

    @Test func `an operation describes itself`() throws {
        var configuration = Store.Configuration()
        let clock = Atomic<Int>(100)
        let box = ClockBox(clock)
        configuration.now = { Date(timeIntervalSinceReferenceDate: Double(box.value.load(ordering: .relaxed))) }
        let store = try Store.inMemory(models: Node.self, configuration: configuration)
        let node = try store.applyServerObject(Node("a"), serverID: "s")
        try store.write { try $0.update(Node.self, localID: node.localID) { $0.count = 1 } }
        var operation = try #require(try store.operations.operation(of: node))
        #expect(operation.model == "Node" && operation.table == "Node" && operation.localID == "s")
        #expect(operation.kind == .update && operation.state == .pending && operation.attempts == 0)
        #expect(operation.changedAt.timeIntervalSinceReferenceDate == 100)
        #expect(operation.base == ["count": .integer(0)] && operation.sent.isEmpty && operation.error == nil)
        box.value.store(200, ordering: .relaxed)
        try store.write { try $0.update(Node.self, localID: node.localID) { $0.count = 2 } }
        let error = OperationError(
            status: 409, message: "conflict", at: Date(timeIntervalSinceReferenceDate: 0.1), serverItem: Data([0]))
        try store.write { tx in
            let begun = try tx.beginAttempt(operation.id)
            #expect(begun.sent == ["count": .integer(0)] && begun.base.isEmpty && begun.state == .attempted)
            try tx.fail(operation.id, with: error, retry: false)
        }
        operation = try #require(try store.operations.operation(of: node))
        #expect(operation.changedAt.timeIntervalSinceReferenceDate == 200)
        #expect(operation.error == error && operation.attempts == 1 && operation.state == .failed)
        #expect(try store.operations.count(in: .failed) == 1)
        try store.write { try $0.update(Node.self, localID: node.localID) { $0.count = 3 } }
        operation = try #require(try store.operations.operation(of: node))
        #expect(operation.error == nil && operation.state == .pending && operation.base == ["count": .integer(0)])
    }

    @Test func `a response to an operation that is not in flight is stale`() throws {
        let store = try Store.ofNodes()
        let node = try store.write { try $0.insert(Node("a")) }
        let id = try store.operations.all()[0].id
        #expect(code { try store.write { try $0.acknowledge(id, serverID: "s") } } == .staleOperation)
        #expect(code { try store.write { try $0.beginAttempt(id + 1) } } == .staleOperation)
        try store.write { try $0.delete(node) }
        #expect(code { try store.write { try $0.beginAttempt(id) } } == .staleOperation)
        #expect(
            code {
                try store.write { try $0.fail(id, with: OperationError(message: "", at: .distantPast), retry: true) }
            }
                == .staleOperation)
        // The number of a finished operation is not reused.
        try store.write { try $0.insert(Node("b")) }
        #expect(try store.operations.all()[0].id == id + 1)
    }

    @Test func `a response is kept with the object`() throws {
        let store = try Store.ofNodes()
        let node = try store.write { try $0.insert(Node("a")) }
        let at = Date(timeIntervalSinceReferenceDate: 1 / 3)
        try store.write { tx in
            let id = try tx.operations.all()[0].id
            try tx.beginAttempt(id)
            #expect(code { try tx.acknowledge(id) } == .invalidValue)
            try tx.acknowledge(id, serverID: "s", version: "\"1\"", createdAt: at, updatedAt: at + 1)
        }
        let stored = try #require(try store.stored(node))
        #expect(stored.serverID == "s" && stored.version == "\"1\"" && stored.isSynced)
        #expect(stored.createdAt == at && stored.updatedAt == at + 1)
        #expect(stored.localID == node.localID)
    }

    @Test func `a server ID of another object is refused`() throws {
        let store = try Store.ofNodes()
        try store.applyServerObject(Node("a"), serverID: "s")
        try store.write { try $0.insert(Node("b")) }
        try store.write { tx in
            let id = try store.operations.all()[0].id
            try tx.beginAttempt(id)
            #expect(code { try tx.acknowledge(id, serverID: "s") } == .duplicateID)
        }
        #expect(try store.operations.count(in: .attempted) == 1)
        #expect(try store.checkIntegrity() == [])
    }

    // MARK: Watching

    @Test(arguments: StoreKind.allCases)
    func `counts are published in order until the store closes`(_ kind: StoreKind) throws {
        try kind.withStore(Node.self) { store in
            let received = Mutex<[[String: Int]]>([])
            let ended = Mutex(false)
            let subscription = store.operations.countsPublisher.sink { completion in
                if case .finished = completion { ended.withLock { $0 = true } }
            } receiveValue: { counts in
                received.withLock { $0.append(counts) }
            }
            let node = try store.write { try $0.insert(Node("a")) }
            try store.write { try $0.insert(Node("b")) }
            // The counts don't change, so nothing is published.
            try store.write { try $0.update(Node.self, localID: node.localID) { $0.count = 1 } }
            try? store.write { tx in
                try tx.insert(Node("undone"))
                throw CancellationError()
            }
            try store.write { try $0.delete(node) }
            #expect(received.withLock { $0 } == [[:], ["Node": 1], ["Node": 2], ["Node": 1]])
            #expect(ended.withLock { $0 } == false)
            store.close()
            #expect(ended.withLock { $0 })
            subscription.cancel()
        }
    }

    @Test func `a publisher delivers the newest values on demand`() throws {
        let store = try Store.ofNodes()
        let subscriber = SlowSubscriber()
        store.operations.countsPublisher.subscribe(subscriber)
        #expect(subscriber.received.withLock { $0 } == [])
        try store.write { try $0.insert(Node("a")) }
        try store.write { try $0.insert(Node("b")) }
        subscriber.request(1)
        #expect(subscriber.received.withLock { $0 } == [["Node": 2]])
        try store.write { try $0.insert(Node("c")) }
        #expect(subscriber.received.withLock { $0.count } == 1)
        subscriber.request(5)
        try store.write { try $0.insert(Node("d")) }
        #expect(subscriber.received.withLock { $0 } == [["Node": 2], ["Node": 3], ["Node": 4]])
        subscriber.cancel()
        try store.write { try $0.insert(Node("e")) }
        #expect(subscriber.received.withLock { $0.count } == 3)
    }

    @Test func `a subscriber may write in a delivery`() throws {
        let store = try Store.ofNodes()
        let received = Mutex<[Int]>([])
        let subscription = store.operations.countsPublisher.sink { _ in
        } receiveValue: { counts in
            received.withLock { $0.append(counts["Node"] ?? 0) }
            if counts["Node"] == 1 { _ = try? store.write { try $0.insert(Node("b")) } }
        }
        try store.write { try $0.insert(Node("a")) }
        #expect(received.withLock { $0 } == [0, 1, 2])
        subscription.cancel()
    }

    @Test func `counts are a stream that ends with the store`() async throws {
        let store = try Store.ofNodes()
        var iterator = store.operations.counts.makeAsyncIterator()
        #expect(try await iterator.next() == [:])
        try await store.write { try $0.insert(Node("a")) }
        #expect(try await iterator.next() == ["Node": 1])
        try await store.write { try $0.insert(Node("b")) }
        try await store.write { try $0.insert(Node("c")) }
        #expect(try await iterator.next() == ["Node": 3])
        store.close()
        #expect(try await iterator.next() == nil)
        var late = store.operations.counts.makeAsyncIterator()
        #expect(try await late.next() == nil)
    }

    @Test func `a canceled task releases its stream`() async throws {
        let store = try Store.ofNodes()
        let counts = store.operations.counts
        let task = Task {
            var number = 0
            for try await _ in counts { number += 1 }
            return number
        }
        try await store.write { try $0.insert(Node("a")) }
        task.cancel()
        #expect(try await task.value >= 0)
        try await store.write { try $0.insert(Node("b")) }
    }
}

private final class ClockBox: Sendable {
    let value: Atomic<Int>
    init(_ value: consuming Atomic<Int>) { self.value = value }
}

/// A subscriber that requests values only on demand.
///
/// Unchecked: the subscription is set once, before the test requests more. A lock guards the received values.
private final class SlowSubscriber: Subscriber, @unchecked Sendable {
    let received = Mutex<[[String: Int]]>([])
    private var subscription: (any Subscription)?

    func receive(subscription: any Subscription) { self.subscription = subscription }
    func receive(_ input: [String: Int]) -> Subscribers.Demand {
        received.withLock { $0.append(input) }
        return .none
    }
    func receive(completion: Subscribers.Completion<any Error>) {}
    func request(_ count: Int) { subscription?.request(.max(count)) }
    func cancel() { subscription?.cancel() }
}

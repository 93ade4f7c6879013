import OpenCombine
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Changes that are delivered and changes that are not. The oracle found these cases.
@Suite(.ownThreads) struct LiveDeliveryTests {
    /// A subscriber that requests one value at a time on demand.
    private final class Slow<Output: Sendable>: Subscriber, @unchecked Sendable {
        typealias Failure = TandemError
        // All deliveries are immediate and on the test's own thread.
        var received: [Output] = []
        var subscription: (any Subscription)?

        func receive(subscription: any Subscription) { self.subscription = subscription }
        func receive(_ input: Output) -> Subscribers.Demand {
            received.append(input)
            return .none
        }
        func receive(completion: Subscribers.Completion<TandemError>) {}
        func ask() { subscription?.request(.max(1)) }
    }

    @Test func `a change that is reverted while a subscriber is slow is not delivered`() throws {
        let store = try Store.inMemory(models: Thing.self, Owner.self, Tag.self)
        var thing = try store.write { try $0.insert(Thing("a", int: 1)) }
        let slow = Slow<ChangeSet<Thing>>()
        store.objects(Thing.self).observing(\.int).changesetPublisher.on(.immediate).subscribe(slow)
        slow.ask()
        for int in [2, 3, 1] {
            thing.int = int
            thing = try store.write { try $0.update(thing) }
        }
        slow.ask()
        #expect(slow.received.count == 1)
        try store.write { _ = try $0.insert(Thing("b", int: 5)) }
        #expect(slow.received.count == 2)
        #expect(slow.received.last?.modifications.isEmpty == true)
    }

    @Test func `an unchanged average is not delivered`() throws {
        let store = try Store.inMemory(models: Thing.self, Owner.self, Tag.self)
        try store.write { _ = try $0.insert(Thing("a", int: 2)) }
        let seen = Mutex<[Double?]>([])
        let subscription = store.objects(Thing.self).publisher(of: .average(\.int)).on(.immediate)
            .sink(receiveCompletion: { _ in }) { value in seen.withLock { $0.append(value) } }
        defer { subscription.cancel() }
        try store.write { _ = try $0.insert(Thing("b", int: 2)) }
        #expect(seen.withLock { $0 } == [2])
        try store.write { _ = try $0.insert(Thing("c", int: 5)) }
        #expect(seen.withLock { $0 } == [2, 3])
    }

    @Test func `reloaded rows are compared bit by bit`() throws {
        let store = try Store.inMemory(models: Thing.self, Owner.self, Tag.self)
        var zero = try store.write { tx in
            try tx.insert(Thing("a", ratio: .nan))
            return try tx.insert(Thing("b", ratio: 0))
        }
        let seen = Mutex<[ChangeSet<Thing>]>([])
        let subscription = store.objects(Thing.self).sorted(by: \.text).distinct(by: \.text).changesetPublisher
            .on(.immediate).sink(receiveCompletion: { _ in }) { change in seen.withLock { $0.append(change) } }
        defer { subscription.cancel() }
        zero.ratio = -0.0
        zero = try store.write { try $0.update(zero) }
        zero.ratio = 0
        try store.write { try $0.update(zero) }
        #expect(seen.withLock { $0.dropFirst().map { $0.modifications.map(\.new) } } == [[1], [1]])
    }

    @Test func `an object that changes its section but not its index is delivered as a move`() throws {
        let store = try Store.inMemory(models: Thing.self, Owner.self, Tag.self)
        var thing = try store.write { try $0.insert(Thing("a", int: 1)) }
        let seen = Mutex<[SectionedChangeSet<Int, Thing>]>([])
        let subscription = store.objects(Thing.self).sectionedChangesetPublisher(by: \.int)
            .on(.immediate).sink(receiveCompletion: { _ in }) { change in seen.withLock { $0.append(change) } }
        defer { subscription.cancel() }
        thing.int = 2
        try store.write { try $0.update(thing) }
        let change = try #require(seen.withLock { $0.last })
        let place = SectionPosition(section: 0, item: 0)
        #expect(change.deletedSections == [0] && change.insertedSections == [0])
        #expect(change.deletions == [place] && change.insertions == [place] && change.modifications.isEmpty)
        #expect(change.moves == [.init(old: place, new: place)])
    }

    @Test func `a least value stays when a greater one is added`() throws {
        let store = try Store.inMemory(models: Thing.self, Owner.self, Tag.self)
        try store.write { _ = try $0.insert(Thing("a", int: 5)) }
        let seen = Mutex<[[Int?]]>([])
        let things = store.objects(Thing.self)
        let subscription = store.combined(things.publisher(of: .min(\.int)), things.publisher(of: .max(\.int)))
            .on(.immediate).sink(receiveCompletion: { _ in }) { value in
                seen.withLock { $0.append([value.0, value.1]) }
            }
        defer { subscription.cancel() }
        try store.write { _ = try $0.insert(Thing("b", int: 7)) }
        try store.write { _ = try $0.insert(Thing("c", int: 3)) }
        #expect(seen.withLock { $0 } == [[5, 5], [5, 7], [3, 7]])
    }

    @Test func `an object that takes another one's row number is delivered, also in a reloaded list`() throws {
        let store = try Store.inMemory(models: Slip.self)
        let ids = (0..<8).map { LocalID("s\($0)") }
        try store.write { tx in for id in ids { try tx.insert(Slip().identified(by: id)) } }
        let seen = Mutex<[ChangeSet<Slip>]>([])
        let subscription = store.objects(Slip.self).distinct(by: \.localID).changesetPublisher
            .on(.immediate).sink(receiveCompletion: { _ in }) { change in seen.withLock { $0.append(change) } }
        defer { subscription.cancel() }
        for (index, id) in ids.enumerated() {
            // The ID sorts before or after the others.
            let new = LocalID(index % 2 == 0 ? "a\(index)" : "z\(index)")
            try store.write { tx in
                try tx.store.writer.connection.execute(
                    "UPDATE \"Slip\" SET \"localID\" = ? WHERE \"localID\" = ?",
                    binding: [.text(new.rawValue), .text(id.rawValue)])
            }
            let change = try #require(seen.withLock { $0.last })
            #expect(change.insertedIDs == [new] && change.deletedIDs == [id])
        }
    }

    @Test(arguments: StoreKind.files)
    func `a change after a quiet write is delivered, even if both are read together`(_ kind: StoreKind) throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let store = try kind.open(at: folder.path(of: "a.tandem"), [Slip.self])
        let token = LiveToken()
        let seen = Mutex<[Int]>([])
        let subscription = store.objects(Slip.self).distinct(by: \.text).changesetPublisher.identified(by: token)
            .sink(receiveCompletion: { _ in }) { change in seen.withLock { $0.append(change.results.count) } }
        defer { subscription.cancel() }
        #expect(store.live.waitUntilIdle(store) { seen.withLock { $0 } == [0] })
        func slip(_ text: String) -> Slip {
            var slip = Slip()
            slip.text = text
            return slip
        }
        // The queue is suspended until both commits exist.
        store.live.suspendQueue()
        try store.write(withoutNotifying: [token]) { _ = try $0.insert(slip("a")) }
        try store.write { _ = try $0.insert(slip("b")) }
        store.live.queue.resume()
        #expect(store.live.waitUntilIdle(store))
        #expect(seen.withLock { $0 } == [0, 2])
    }

    @Test func `an object that gets another row number in a quiet write is shown once`() throws {
        let store = try Store.inMemory(models: Slip.self)
        try store.write { _ = try $0.insert(Slip().identified(by: "a")) }
        let token = LiveToken()
        let slow = Slow<ChangeSet<Slip>>()
        store.objects(Slip.self).changesetPublisher.identified(by: token).on(.immediate).subscribe(slow)
        slow.ask()
        func replace(_ number: Int64, quiet: Set<LiveToken> = []) throws {
            try store.write(withoutNotifying: quiet) { tx in
                try tx.store.writer.connection.execute(
                    "INSERT OR REPLACE INTO \"Slip\"(\"localID\", \"text\", \"number\") VALUES('a', '', ?)",
                    binding: [.integer(number)])
                try tx.insert(Slip())
            }
        }
        try replace(1)
        try replace(2, quiet: [token])
        slow.ask()
        let change = try #require(slow.received.last)
        #expect(change.previous.map(\.number).sorted() == [0, 2])
        #expect(change.insertions.count == 1 && change.deletions.isEmpty && change.modifications.isEmpty)
    }
}

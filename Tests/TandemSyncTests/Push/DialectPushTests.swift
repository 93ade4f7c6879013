import DatasyncWire
import Foundation
import HTTPTypes
import Tandem
import TandemServerCore
import TandemSync
import TandemTesting
import TestSupport
import Testing

/// The same behavior in both dialects, against the server's production logic: its items, its empty responses, its
/// tombstones.
@Suite(.ownThreads) struct DialectPushTests {
    enum Change: CaseIterable, Sendable { case insert, update, delete }

    private func level(_ world: SyncWorld, _ store: Store) throws -> Bool {
        let here = try store.objects(Card.self).all()
        let there = try world.live("card")
        return try store.operations.count() == 0 && store.checkIntegrity() == [] && here.count == there.count
            && here.allSatisfy { card in
                card.isSynced
                    && there.contains {
                        $0.id == card.serverID?.rawValue && $0.version == card.version
                            && $0.members["points"] == .number("\(card.points)")
                    }
            }
    }

    /// DS T1, T2, T3.
    @Test(arguments: Dialect.both, Change.allCases)
    func `the next push resolves a lost response`(dialect: Dialect, change: Change) async throws {
        for faults in [
            [ServerFault.lostResponse], [.lostRequest], [.twice], [.status(500)], [.status(429, retryAfter: 1)],
        ] {
            for editsMeanwhile in [false, true] {
                let world = try SyncWorld(dialect)
                let (store, sync) = try world.device()
                let id = try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1", points: 1)) }.localID
                if change != .insert {
                    try await sync.push()
                    try await store.write { tx in
                        if change == .update { try tx.update(Card.self, localID: id) { $0.points = 2 } }
                        if change == .delete { try tx.delete(Card.self, localID: id) }
                    }
                }
                world.next { request in request.method == .get ? [] : faults }
                try await sync.attemptPush()
                if editsMeanwhile, change != .delete {
                    try await store.write { _ = try $0.update(Card.self, localID: id) { $0.points = 7 } }
                }
                let context = world.context(store)
                #expect(try await context.push().isComplete, "\(faults) \(editsMeanwhile)")
                #expect(try level(world, store), "\(faults) \(editsMeanwhile)")
                #expect(try world.live("card").count == (change == .delete ? 0 : 1), "\(faults) \(editsMeanwhile)")
            }
        }
    }

    /// Deleted here, its response lost, and restored here.
    @Test(arguments: Dialect.both, [true, false])
    func `an undelete reaches the server`(dialect: Dialect, arrived: Bool) async throws {
        let world = try SyncWorld(dialect)
        let (store, sync) = try world.device()
        let id = try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1", points: 1)) }.localID
        try await sync.push()
        try await store.write { _ = try $0.delete(Card.self, localID: id) }
        world.next(.delete, arrived ? .lostResponse : .lostRequest)
        try await sync.attemptPush()
        try await store.write { tx in
            try tx.undelete(Card.self, localID: id)
            try tx.update(Card.self, localID: id) { $0.points = 9 }
        }
        #expect(try await sync.push().isComplete)
        #expect(try level(world, store) && store.object(ofType: Card.self, forPrimaryKey: id)?.points == 9)
    }

    /// Restored while its delete is under way.
    @Test(arguments: Dialect.both)
    func `an undelete during the delete reaches the server`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        let (store, sync) = try world.device()
        let id = try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1", points: 1)) }.localID
        try await sync.push()
        try await store.write { _ = try $0.delete(Card.self, localID: id) }
        let undeleted = Counter()
        world.next { request in
            guard request.method == .delete else { return [] }
            if undeleted.next() == 1 { _ = try? store.write { try $0.undelete(Card.self, localID: id) } }
            return [.latency(.zero)]
        }
        try await sync.push()
        #expect(undeleted.value == 1)
        #expect(try await sync.push().isComplete && level(world, store))
        #expect(try world.live("card").count == 1)
    }

    @Test(arguments: Dialect.both)
    func `changes of two devices are merged by property`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        let (store, sync) = try world.device()
        let id = try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1", points: 1)) }.localID
        try await sync.push()
        // The other device has the server's card.
        let (other, otherSync) = try world.device()
        let card = try #require(try store.object(ofType: Card.self, forPrimaryKey: id))
        try await other.write { _ in
            _ = try other.applyServerObject(card, version: card.version, updatedAt: card.updatedAt)
        }
        try await other.write { _ = try $0.update(Card.self, localID: id) { $0.shop = "Магнит" } }
        #expect(try await otherSync.push().isComplete)
        try await store.write { _ = try $0.update(Card.self, localID: id) { $0.points = 2 } }
        #expect(try await sync.push().entries.map(\.outcome.name) == ["merged"])
        #expect(try level(world, store) && world.texts("card", "shop") == ["Магнит"])

        // Deleted there, edited here.
        try await store.write { _ = try $0.delete(Card.self, localID: id) }
        #expect(try await sync.push().isComplete)
        try await other.write { _ = try $0.update(Card.self, localID: id) { $0.points = 5 } }
        let result = try await otherSync.push()
        #expect(result.entries.map(\.outcome.name) == ["conflict"])
        try await otherSync.keepMine(result.entries[0].id)
        #expect(try await otherSync.push().isComplete)
        #expect(try level(world, other) && world.live("card").count == 1)
    }

    /// References are sent as server IDs and cycles are closed, even if the wire replaces whole items.
    @Test(arguments: Dialect.both)
    func `a cycle of objects arrives complete`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        let (store, sync) = try world.device()
        try await store.write { tx in
            let people = try ["a", "b", "c"].map { try tx.insert(Person(name: $0)) }
            let pet = try tx.insert(Pet(name: "Мурка", keeper: people[0].reference))
            for (index, person) in people.enumerated() {
                try tx.update(Person.self, localID: person.localID) {
                    $0.friend = people[(index + 1) % 3].reference
                    $0.pets = [pet.reference]
                }
            }
        }
        #expect(try await sync.push().isComplete)
        #expect(try store.operations.count() == 0 && store.checkIntegrity() == [])
        let people = try world.live("person")
        #expect(try people.count == 3 && Set(world.texts("person", "friend")) == Set(people.map(\.id)))
        let pet = try #require(try world.live("animals").first)
        #expect(try Set(world.texts("person", "pets")) == ["[\"\(pet.id)\"]"])
        #expect(try people.map(\.id).contains(world.texts("animals", "keeper")[0]))
    }

    /// The server responds 401 for a row that this user may not write. It is rejected, and the push continues.
    @Test(arguments: Dialect.both, [1, 8])
    func `a row without write permission does not stop the push`(dialect: Dialect, inFlight: Int) async throws {
        let world = try SyncWorld(dialect) { configuration in
            configuration.hooks.authorize = { _, row, _ in row.members["barcode"] != .text("theirs") }
        }
        let (store, _) = try world.device()
        let questions = Counter()
        let remote = DatasyncRemote(ServerAddress("https://shop.example")!, dialect: dialect, over: world.transport) {
            _ in
            .bearer("\(questions.next())")
        }
        var options = SyncContext.Options()
        (options.clock, options.inFlight) = (JumpingClock(world.clock), inFlight)
        let sync = SyncContext(store: store, remote: remote, options: options)
        try await sync.pull(Card.self)
        try await store.write { tx in
            for code in ["theirs", "1", "2"] { try tx.insert(Card(shop: "Лента", barcode: code)) }
        }
        let result = try await sync.push()
        #expect(result.entries.map(\.outcome.name) == ["refused", "done", "done"])
        #expect(result.entries[0].outcome.error?.status == 401 && questions.value == 2)
        #expect(try world.texts("card", "barcode").sorted() == ["1", "2"])
        #expect(try await sync.failedOperations().count == 1)
    }

    /// DS T21: an ID of another user is rejected, and not requested again.
    @Test(arguments: Dialect.both)
    func `an ID of another user is rejected`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect) { configuration in
            var table = ServerTable()
            table.view = { row, _ in row.members["nickname"] != .text("theirs") }
            configuration.tables["card"] = table
        }
        let (theirs, theirSync) = try world.device()
        try await theirs.write { tx in
            try tx.insert(Card(shop: "Лента", barcode: "1", nickname: "theirs").identified(by: "k"))
        }
        try await theirSync.push()
        let (store, sync) = try world.device()
        try await store.write { try $0.insert(Card(shop: "Лента", barcode: "2").identified(by: "k")) }
        #expect(try await sync.push().entries.map(\.outcome.name) == ["refused"])
        world.forgetRequests()
        try await sync.push()
        #expect(world.requests.isEmpty)
    }
}

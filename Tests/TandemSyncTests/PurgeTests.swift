import DatasyncWire
import Foundation
import Tandem
import TandemSync
import TestSupport
import Testing

@Model struct Shelf {
    var name: String
    @OnDelete(.deny) var beside: Reference<Shelf>?
}

@Model struct Book {
    var title: String
    @OnDelete(.deny) var shelf: Reference<Shelf>?
}

/// The removal of local data without requests to the server.
@Suite(.ownThreads) struct PurgeTests {
    @Test func `a table is purged with its tokens`() async throws {
        let world = try SyncWorld()
        let (store, sync) = try world.device()
        try await world.others.person("p", "Ада")
        for id in ["a", "b"] as [ServerID] { try await world.others.card(id, owner: "p") }
        try await sync.pull(Card.self, queryID: "cards")
        try await sync.pull(Card.self, queryID: "rich") { $0.points > 100 }
        try await sync.pull(Person.self, queryID: "people")
        world.forgetRequests()
        #expect(try await sync.purge(Person.self) == 1)
        #expect(try await store.objects(Card.self).where { $0.owner == nil }.count() == 2)
        #expect(try await sync.purge(Card.self) == 2)
        #expect(world.requests.isEmpty)
        #expect(try await store.objects(Card.self).count() == 0 && store.operations.count() == 0)
        #expect(try await sync.pull(Card.self, queryID: "cards").inserted == 2)
        // The query ID is free for another filter.
        try await sync.pull(Card.self, queryID: "rich") { $0.points > 200 }
        try await sync.pull(Person.self, queryID: "people")
        #expect(try await store.objects(Card.self).where { $0.owner.name == "Ада" }.count() == 2)
        #expect(try store.checkIntegrity() == [])
    }

    @Test func `references find a purged object again under its server ID`() async throws {
        let world = try SyncWorld()
        let (store, sync) = try world.device()
        try sync.table(Person.self).setIdentity(.server(lookUp: nil))
        try await store.write { tx in
            let person = try tx.insert(Person(name: "Ада"))
            try tx.insert(Card(shop: "x", barcode: "1", owner: person.reference))
        }
        try await sync.push()
        let before = try #require(try await store.objects(Person.self).first())
        #expect(before.serverID?.rawValue != before.localID.rawValue)
        try await sync.purge(Person.self)
        #expect(try await store.objects(Card.self).first()?.owner == nil)
        try await sync.pull(Person.self)
        #expect(try await store.objects(Card.self).where { $0.owner.name == "Ада" }.count() == 1)
        #expect(try store.operations.count() == 0 && store.checkIntegrity() == [])
    }

    @Test func `a table with unsent changes is purged only by force`() async throws {
        let world = try SyncWorld()
        let (store, sync) = try world.device()
        try await world.others.card("a")
        try await world.others.card("b")
        try await world.others.card("c")
        try await sync.pull(Card.self, queryID: "cards")
        let pet = try await store.write { tx in
            try tx.update(Card.self, localID: "a") { $0.points = 9 }
            try tx.delete(Card.self, localID: "b")
            try tx.insert(Card(shop: "new", barcode: "new"))
            return try tx.insert(Pet(name: "Рекс"))
        }
        await #expect { try await sync.purge(Card.self) } throws: {
            ($0 as? SyncError)?.code == .pendingOperations && ($0 as? SyncError)?.table == "Card"
        }
        await #expect { try await sync.purge(Card.self, queryID: "cards") { $0.points > 100 } } throws: {
            ($0 as? SyncError)?.code == .pendingOperations
        }
        #expect(try await store.objects(Card.self).count() == 3 && store.operations.count() == 4)
        #expect(try await sync.purge(Card.self, force: true) == 4)
        #expect(try await store.objects(Card.self).count() == 0)
        #expect(try await store.objects(Card.self).onlyDeleted().count() == 0)
        // Changes of other tables stay.
        #expect(try store.operations.all().map(\.localID) == [pet.localID])
        #expect(try store.checkIntegrity() == [])
        // The server received no request.
        #expect(try await sync.pull(Card.self, queryID: "cards").inserted == 3)
    }

    @Test func `a forced purge of a query keeps other objects`() async throws {
        let world = try SyncWorld()
        let (store, sync) = try world.device()
        try await world.others.card("a", points: .integer(1))
        try await world.others.card("b", points: .integer(200))
        try await sync.pull(Card.self, queryID: "cards")
        try await store.write { tx in
            try tx.update(Card.self, localID: "a") { $0.shop = "mine" }
            try tx.insert(Card(shop: "new", barcode: "new", points: 300))
        }
        #expect(try await sync.purge(Card.self, queryID: "rich", force: true) { $0.points > 100 } == 2)
        #expect(try await store.objects(Card.self).all().map(\.shop) == ["mine"])
        #expect(try store.operations.all().map(\.kind) == [.update])
        #expect(try store.checkIntegrity() == [])
    }

    @Test func `references to a purged object without a server ID are cleared`() async throws {
        let world = try SyncWorld()
        let (store, sync) = try world.device()
        try await store.write { tx in
            let ada = try tx.insert(Person(name: "Ада"))
            let ivan = try tx.insert(Person(name: "Иван", friend: ada.reference))
            try tx.update(Person.self, localID: ada.localID) { $0.friend = ivan.reference }
            try tx.insert(Card(shop: "x", barcode: "1", owner: ada.reference))
        }
        #expect(try await sync.purge(Person.self, force: true) == 2)
        #expect(try await store.objects(Person.self).count() == 0)
        #expect(try await store.objects(Card.self).first()?.owner == nil)
        #expect(try store.operations.all().map(\.table) == ["Card"] && store.checkIntegrity() == [])
        try await sync.push()
        #expect(try world.texts("Card", "shop") == ["x"])
    }

    @Test func `a deferred item for a unique value is purged too`() async throws {
        let world = try SyncWorld()
        let (store, sync) = try world.device()
        try await world.others.card("a", barcode: "1")
        try await world.others.card("b", barcode: "1")
        #expect(try await sync.pull(Card.self, queryID: "cards").refusedRows.count == 1)
        try await world.others.card("b", barcode: "2")
        try await sync.purge(Card.self)
        let result = try await sync.pull(Card.self, queryID: "cards")
        #expect(result.inserted == 2 && result.refusedRows.isEmpty && result.updated == 0)
        #expect(try await store.objects(Card.self).count() == 2)
    }

    // MARK: References that deny the removal

    private func shelves(_ count: Int, _ store: Store) async throws -> [Shelf] {
        try await store.write { tx in
            var shelves: [Shelf] = []
            for number in 0..<count {
                shelves.append(try tx.insert(Shelf(name: "\(number)", beside: shelves.last?.reference)))
            }
            return shelves
        }
    }

    @Test func `unsent objects that deny each other's removal are purged by force`() async throws {
        let world = try SyncWorld()
        let store = try Store(inMemoryModels: [Shelf.self, Book.self])
        let sync = world.context(store)
        _ = try await shelves(5, store)
        #expect(try await sync.purge(Shelf.self, force: true) == 5)
        #expect(try await store.objects(Shelf.self).count() == 0 && store.operations.count() == 0)
        #expect(try store.checkIntegrity() == [])
    }

    @Test func `objects stay if another table's reference denies their removal`() async throws {
        let world = try SyncWorld()
        let store = try Store(inMemoryModels: [Shelf.self, Book.self])
        let sync = world.context(store)
        let last = try #require(try await shelves(5, store).last)
        try await store.write { _ = try $0.insert(Book(title: "x", shelf: last.reference)) }
        await #expect { try await sync.purge(Shelf.self, force: true) } throws: {
            ($0 as? TandemError)?.code == .deleteDenied
        }
        #expect(try await store.objects(Shelf.self).count() == 5 && store.operations.count() == 6)
        #expect(try await sync.purge(Book.self, force: true) == 1)
        #expect(try await sync.purge(Shelf.self, force: true) == 5)
    }

    @Test(arguments: [[Shelf.self, Book.self], [Book.self, Shelf.self]] as [[any Model.Type]])
    func `another user can take a store whose objects deny each other's removal`(models: [any Model.Type]) async throws
    {
        let world = try SyncWorld()
        let store = try Store(inMemoryModels: models)
        let last = try #require(try await shelves(3, store).last)
        try await store.write { _ = try $0.insert(Book(title: "x", shelf: last.reference)) }
        try await SyncContext(store: store, remote: world.remote(), user: "boris").adopt(.purge)
        #expect(try await store.objects(Shelf.self).count() == 0)
        #expect(try await store.objects(Book.self).count() == 0)
        #expect(try store.operations.count() == 0 && store.checkIntegrity() == [])
    }
}

import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Results that are reloaded and compared.
@Suite(.ownThreads) struct FreshReadingTests {
    @Test(arguments: StoreKind.files)
    func `reloaded references are delivered only if their objects have changed`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            for shop in ["А", "Б", "В"] { try store.insert(shop) }
            let list = store.cards.sorted(by: \.shop).referenceChangesetPublisher.on(.immediate).record()
            let shops = store.cards.observing(\.shop).referenceChangesetPublisher.on(.immediate).record()
            let other = try kind.open(at: store.path, [Card.self, Person.self, Badge.self])
            defer { other.close() }
            try other.write { _ = try $0.insert(Badge(name: "elsewhere")) }
            #expect(store.live.waitUntilIdle(store))
            #expect(list.values.count == 1)
            let last = try #require(try store.cards.where { $0.shop == "В" }.first())
            try other.write { tx in try tx.update(Card.self, localID: last.localID) { $0.points = 7 } }
            #expect(store.live.waitUntilIdle(store) { list.values.count == 2 })
            #expect(list.values.last?.modifications.map(\.new) == [2])
            #expect(shops.values.count == 1)
            list.cancel()
            shops.cancel()
        }
    }

    @Test(arguments: StoreKind.files)
    func `a write in a canceled task ends no subscription`(_ kind: StoreKind) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let store = try kind.open(at: folder.path(of: "a.tandem"), [Card.self, Person.self, Badge.self])
        defer { store.close() }
        try await store.write { tx in
            for number in 0..<3000 { try tx.insert(Card(shop: "\(number)", barcode: "\(number)")) }
        }
        let list = store.cards.distinct(by: \.shop).collectionPublisher.on(.immediate).record()
        #expect(list.values.last?.count == 3000)
        let task = Task.detached {
            while !Task.isCancelled { await Task.yield() }
            // A write that does not wait is made even in a canceled task.
            try { try store.write { _ = try $0.insert(Card(shop: "one more", barcode: "")) } }()
        }
        task.cancel()
        try await task.value
        #expect(store.live.waitUntilIdle(store) { list.values.last?.count == 3001 })
        #expect(list.completion == nil)
        list.cancel()
    }

    @Test func `an unlimited query with an offset does not overflow`() throws {
        try StoreKind.memory.withStore(Card.self, Person.self, Badge.self) { store in
            for shop in ["А", "Б", "В"] { try store.insert(shop) }
            let rest = store.cards.sorted(by: \.shop).offset(1).limit(.max)
            #expect(try rest.explain().live.hasPrefix("reloaded"))
            let list = rest.collectionPublisher.on(.immediate).record()
            #expect(list.values.last?.map(\.shop) == ["Б", "В"])
            list.cancel()
        }
    }

    @Test func `a deleted object whose reference leads to an erased one leaves a list that included it`() throws {
        try StoreKind.memory.withStore(Card.self, Person.self, Badge.self) { store in
            let ada = try store.write { try $0.insert(Person(name: "Ада")) }
            try store.applyServerObject(
                Card(shop: "Б", barcode: "1", owner: ada.reference), serverID: "s", version: "1")
            let card = try #require(try store.cards.first())
            let list = store.cards.includingDeleted().where { $0.owner.name == "Ада" }.collectionPublisher
                .on(.immediate).record()
            try store.write { try $0.delete(card) }
            try store.write { try $0.delete(ada) }
            let now = try store.cards.includingDeleted().where { $0.owner.name == "Ада" }.all()
            #expect(list.values.last.map(Array.init) == now)
            list.cancel()
        }
    }
}

import BigInt
import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct SmokeTests {
    @Test(arguments: StoreKind.files) func `a store inserts, updates, finds and deletes objects`(
        _ kind: StoreKind
    ) throws {
        let path = NSTemporaryDirectory() + "smoke-\(UUID().uuidString).tandem"
        defer { for s in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + s) } }
        var store = try kind.open(at: path, [HandCard.self, HandPerson.self])
        let (person, card) = try store.write { tx in
            let person = try tx.insert(HandPerson(name: "Ада"))
            let card = try tx.insert(HandCard(shop: "Пятёрочка", barcode: "46", points: -5, owner: person.reference))
            return (person, card)
        }
        #expect(try store.operations.count() == 2)
        try store.write { tx in
            try tx.update(HandCard.self, localID: card.localID) {
                $0.points += 10
                $0.shop = "Лента"
            }
        }
        #expect(try store.operations.count() == 2)
        #expect(
            try store.sql("SELECT count(*) FROM __search_HandCard WHERE __search_shop GLOB '*лен*'")[0][0]
                == .integer(1))
        #expect(
            try store.sql("SELECT count(*) FROM __search_HandCard WHERE __search_shop GLOB '*пят*'")[0][0]
                == .integer(0))
        try store.write { tx in try tx.delete(person) }
        #expect(try store.operations.count() == 0)
        #expect(try store.sql("SELECT count(*) FROM HandCard")[0][0] == .integer(0))
        store.close()
        store = try kind.open(at: path, [HandCard.self, HandPerson.self])
        #expect(try store.sql("SELECT count(*) FROM HandCard")[0][0] == .integer(0))
    }

    @Test func `asynchronous writes work`() async throws {
        let store = try Store.inMemory(models: HandCard.self, HandPerson.self)
        try await store.write { tx in try tx.insert(HandPerson(name: "x")) }
        #expect(try await store.read { tx in try tx.operations.count() } == 1)
    }
}

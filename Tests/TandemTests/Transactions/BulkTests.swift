import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite(.ownThreads) struct BulkTests {
    @Test(arguments: StoreKind.allCases) func `deleted objects can be undeleted together`(kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            try store.applyServerObjects((0..<5).map { Person(name: "Ада \($0)") })
            let people = try store.objects(Person.self).all()
            try store.write { try $0.delete($0.objects(Person.self)) }
            #expect(try store.operations.count(.delete) == 5)
            try store.write { try $0.undelete(contentsOf: people.prefix(2)) }
            #expect(try store.objects(Person.self).count() == 2)
            #expect(try store.write { try $0.undelete($0.objects(Person.self)) } == 3)
            #expect(try store.objects(Person.self).where { $0.isSynced }.count() == 5)
            #expect(try store.operations.count() == 0)
            #expect(try store.checkIntegrity() == [])
        }
    }

    @Test func `named properties of many objects can be changed`() throws {
        let store = try Store.inMemory(models: Card.self, Person.self, Badge.self)
        let cards = try store.write { tx in
            try (0..<3).map { try tx.insert(Card(shop: "a", barcode: "\($0)", points: 7)) }
        }
        let changed = cards.map { card in
            var card = card
            card.shop = "b"
            card.points = 0
            return card
        }
        try store.write { try $0.upsert(contentsOf: changed, properties: \.shop) }
        #expect(try store.objects(Card.self).where { $0.shop == "b" && $0.points == 7 }.count() == 3)
    }

    @Test func `dictionaries are all stored or none`() throws {
        let store = try Store.inMemory(models: Card.self, Person.self, Badge.self)
        let ids = try store.write {
            try $0.upsert(Person.self, values: [["localID": "a", "name": "Ада"], ["localID": "b", "name": "Боб"]])
        }
        #expect(ids == ["a", "b"])
        try store.write { tx in
            let error = #expect(throws: TandemError.self) {
                try tx.upsert(Person.self, values: [["localID": "c", "name": "Вера"], ["localID": "d", "name": 5]])
            }
            #expect(error?.code == .invalidValue && error?.property == "name")
        }
        #expect(try store.objects(Person.self).localIDs() == ["a", "b"])
    }

    @Test func `the integrity of a write in progress can be checked`() throws {
        let store = try Store.inMemory(models: Card.self, Person.self, Badge.self)
        let person = try store.write { try $0.insert(Person(name: "Ада")) }
        try store.write { tx in
            try tx.update(Person.self, localID: person.localID) { $0.name = "Боб" }
            #expect(try store.checkIntegrity() == [])
        }
    }

    @Test(arguments: ["12abc", "", " 1", "1e", ".", "0x1", "1,5"]) func `an invalid decimal is refused`(text: String) {
        #expect(Decimal(__json: .text(text)) == nil)
        #expect(Decimal(__json: .text("-1.50e-3")) == Decimal(string: "-0.0015"))
    }

    @Test func `a waiting reference with an impossible place is still placed`() throws {
        let store = try Store.inMemory(models: Card.self, Person.self, Badge.self)
        let card = try store.write { tx in
            try tx.insert(Card(shop: "a", barcode: "1", badges: [Reference(localID: "x"), Reference(localID: "y")]))
        }
        try store.writer.connection.execute("UPDATE __unresolved SET position = -9223372036854775808 WHERE id = 'x'")
        try store.write { tx in
            try tx.update(Card.self, localID: card.localID) { $0.shop = "b" }
            try tx.insert(Badge(name: "x").identified(by: "x"))
        }
        #expect(try store.object(card.reference)?.badges.map(\.localID) == ["x"])
    }

    @Test func `a thread waits only a limited time for a reader`() throws {
        try TemporaryFolder.with { folder in
            var configuration = Store.Configuration()
            configuration.maximumReaders = 1
            let store = try Store(
                at: folder.path(of: "a.tandem"), models: Card.self, Person.self, Badge.self,
                configuration: configuration)
            let isHeld = DispatchSemaphore(value: 0)
            let mayEnd = DispatchSemaphore(value: 0)
            let hasEnded = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                try? store.read { _ in
                    isHeld.signal()
                    mayEnd.wait()
                }
                hasEnded.signal()
            }
            isHeld.wait()
            // The only reader is in use and is not returned before this query has a result.
            #expect(try store.objects(Card.self).count() == 0)
            mayEnd.signal()
            hasEnded.wait()
            #expect(store.readers?.made == 1)
        }
    }
}

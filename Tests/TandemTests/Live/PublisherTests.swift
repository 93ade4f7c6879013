import BigInt
import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Change sets of a list through the public interface.
@Suite(.ownThreads) struct PublisherTests {
    @Test(arguments: StoreKind.allCases)
    func `the first result is delivered on another thread even if it is empty`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let recorder = store.cards.changesetPublisher.record()
            #expect(recorder.waitForValues(1))
            let first = try #require(recorder.values.first)
            #expect(first.isInitial)
            #expect(first.results.isEmpty && first.previous.isEmpty && first.isEmpty)
            #expect(recorder.wasDeliveredElsewhere)
            recorder.cancel()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the first result has all objects as insertions`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            for shop in ["Б", "А", "В"] { try store.insert(shop) }
            let recorder = store.cards.sorted(by: \.shop).changesetPublisher.record()
            #expect(recorder.waitForValues(1))
            let first = try #require(recorder.values.first)
            #expect(first.results.map(\.shop) == ["А", "Б", "В"])
            #expect(first.insertions == [0, 1, 2])
            recorder.cancel()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `each commit gives one change set`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let list = Follower(store.cards.where { $0.points > 10 }.sorted(by: \.shop))
            #expect(try list.next().count == 1)
            let a = try store.insert("А", 20)
            let b = try store.insert("Б", 30)
            let c = try store.insert("В", 40)
            #expect(try list.next().map(\.insertions) == [[0], [1], [2]])
            try store.write { tx in
                try tx.update(Card.self, localID: a.localID) { $0.points = 1 }
                try tx.update(Card.self, localID: b.localID) { $0.points = 31 }
                try tx.update(Card.self, localID: c.localID) { $0.shop = "Аа" }
                try tx.insert(Card(shop: "Г", barcode: "Г", points: 50))
            }
            let changes = try list.next()
            #expect(changes.count == 1)
            #expect(changes[0].deletedIDs == [a.localID])
            #expect(changes[0].results.map(\.shop) == ["Аа", "Б", "Г"])
            list.recorder.cancel()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a commit that changes nothing visible gives no change set`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let card = try store.insert("А", 20)
            let list = Follower(store.cards.sorted(by: \.shop))
            #expect(try list.next().count == 1)
            // Nothing is written.
            try store.write { _ in }
            // The written values equal the stored ones.
            try store.write { tx in try tx.update(Card.self, localID: card.localID) { $0.points = 20 } }
            // The write changes another table.
            try store.write { _ = try $0.insert(Badge(name: "x")) }
            // The write is rolled back.
            try? store.write { tx in
                try tx.update(Card.self, localID: card.localID) { $0.points = 21 }
                try tx.insert(Card(shop: "Б", barcode: "Б"))
                throw CancellationError()
            }
            // A part of the write is rolled back.
            try store.write { tx in
                try? store.write { inner in
                    try inner.delete(card)
                    throw CancellationError()
                }
            }
            // An object is inserted and deleted.
            try store.write { tx in try tx.delete(try tx.insert(Card(shop: "В", barcode: "В"))) }
            #expect(try list.next().isEmpty)
            list.recorder.cancel()
        }
    }

    @Test func `an object that is deleted and inserted again unchanged under another row number gives no change set`()
        throws
    {
        // The model is never sent, so the state does not distinguish the two objects.
        let store = try Store.inMemory(models: Slip.self)
        let first = try store.write { try $0.insert(Slip().identified(by: LocalID("s1"))) }
        _ = try store.write { try $0.insert(Slip().identified(by: LocalID("s2"))) }
        let all = store.objects(Slip.self).changesetPublisher.on(.immediate).record()
        let one = store.publisher(for: first).on(.immediate).record()
        try store.write { tx in
            try tx.delete(first)
            try tx.insert(Slip().identified(by: LocalID("s3")))
            try tx.insert(first)
        }
        #expect(all.values.count == 2 && one.values.count == 1)
        try store.write { try $0.update(Slip.self, localID: first.localID) { $0.number = 7 } }
        #expect(one.values.count == 2)
        #expect(all.values.last?.modifications.count == 1)
        all.cancel()
        one.cancel()
    }

    @Test(arguments: StoreKind.allCases)
    func `a value that is changed and changed back gives no change set`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            // The state already records a first change. A second one that is reverted leaves it unchanged.
            let card = try store.insert("А", 20)
            let recorder = store.cards.observing(\.points).changesetPublisher.on(.immediate).record()
            try store.write { tx in
                try tx.update(Card.self, localID: card.localID) { $0.points = 21 }
                try tx.update(Card.self, localID: card.localID) { $0.points = 20 }
            }
            #expect(recorder.values.count == 1)
            recorder.cancel()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a change of the sync state is a modification`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let card = try store.insert("А")
            let list = Follower(store.cards)
            let chosen = store.cards.observing(\.shop, \.points).changesetPublisher.on(.immediate).record()
            let state = store.cards.observing(\.isSynced).changesetPublisher.on(.immediate).record()
            _ = try list.next()
            let id = try #require(try store.operations.operation(of: card)?.id)
            try store.write { tx in
                try tx.beginAttempt(id)
                try tx.acknowledge(id, serverID: "s1", version: "1")
            }
            let changes = try list.next()
            #expect(changes.map { $0.modifications.map(\.new) } == [[0]])
            #expect(changes.first?.results.first?.isSynced == true)
            #expect(chosen.values.count == 1)
            #expect(state.values.count == 2)
            for recorder in [list.recorder, chosen, state] { recorder.cancel() }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `only chosen properties are observed, but insertions, deletions and moves are delivered`(
        _ kind: StoreKind
    ) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let card = try store.insert("А", 1)
            let recorder = store.cards.sorted(by: \.shop).observing(\.points).changesetPublisher.on(.immediate).record()
            try store.change(card) { $0.barcode = "new" }
            #expect(recorder.values.count == 1)
            try store.change(card) { $0.points = 2 }
            #expect(recorder.values.last?.modifiedIDs == [card.localID])
            #expect(recorder.values.last?.results.first?.barcode == "new")
            let other = try store.insert("Б")
            try store.change(card) { $0.shop = "Я" }
            #expect(recorder.values.last?.moves.map(\.to) == [1])
            try store.write { try $0.delete(other) }
            #expect(recorder.values.map(\.deletedIDs) == [[], [], [], [], [other.localID]])
            recorder.cancel()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `previous values are delivered with deletions, changes and moves`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let a = try store.insert("А", 1)
            let b = try store.insert("Б", 2)
            let c = try store.insert("В", 3)
            let list = Follower(store.cards.sorted(by: \.shop))
            try store.write { tx in
                try tx.delete(a)
                try tx.update(Card.self, localID: c.localID) { $0.points = 33 }
                try tx.insert(Card(shop: "Аа", barcode: "0"))
            }
            let change = try #require(try list.next().last)
            #expect(change.deleted.map(\.points) == [1])
            #expect(change.modifications.map { change.oldValue(of: $0).points } == [3])
            #expect(change.modifications.map { change.newValue(of: $0).points } == [33])
            #expect(change.insertedIDs.count == 1)
            try store.change(b) { $0.shop = "Я" }
            let move = try #require(try list.next().last)
            #expect(move.moves.map { move.oldValue(of: $0).shop } == ["Б"])
            #expect(move.moves.map { move.newValue(of: $0).shop } == ["Я"])
            #expect(move.deletions == move.moves.map(\.from) && move.insertions == move.moves.map(\.to))
            #expect(move.deletedIDs.isEmpty && move.insertedIDs.isEmpty && move.modifiedIDs == [b.localID])
            list.recorder.cancel()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a deleted object of a server returns after an undelete`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let card = try store.applyServerObject(Card(shop: "А", barcode: "1"), serverID: "s1", version: "1")
            let list = Follower(store.cards)
            _ = try list.next()
            try store.write { try $0.delete(card) }
            #expect(try list.next().map(\.deletedIDs) == [[card.localID]])
            try store.write { try $0.undelete(card) }
            #expect(try list.next().map(\.insertedIDs) == [[card.localID]])
            list.recorder.cancel()
        }
    }

    @Test func `a snapshot does not change when later ones are delivered`() throws {
        try StoreKind.memory.withStore(Card.self, Person.self, Badge.self) { store in
            for index in 0..<100 { try store.insert("\(index)", BigInt(index)) }
            let recorder = store.cards.sorted(by: \.points).collectionPublisher.on(.immediate).record()
            let first = try #require(recorder.values.first)
            try store.write { try $0.delete(store.cards.where { $0.points >= 50 }) }
            #expect(first.map(\.points) == (0..<100).map { BigInt($0) })
            #expect(recorder.values.last?.count == 50)
            #expect(first.localIDs.count == 100)
            recorder.cancel()
        }
    }
}

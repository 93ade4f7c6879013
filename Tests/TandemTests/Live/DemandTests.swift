import BigInt
import Foundation
import OpenCombine
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Subscribers that are slow or have little demand.
@Suite(.ownThreads) struct DemandTests {
    @Test(arguments: StoreKind.allCases)
    func `a subscriber without demand gets nothing`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let recorder = store.cards.changesetPublisher.on(.immediate).record(.none)
            try store.insert("А")
            #expect(recorder.values.isEmpty)
            // The engine watches nothing before the first demand.
            #expect(store.live.present.count == 0)
            recorder.request(.none)
            #expect(recorder.values.isEmpty)
            recorder.request(.max(1))
            #expect(recorder.values.map(\.results.count) == [1])
            recorder.cancel()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `several commits are delivered as one change set relative to the last delivery`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let gone = try store.insert("А", 1)
            let changed = try store.insert("В", 2)
            let recorder = store.cards.sorted(by: \.shop).changesetPublisher.on(.immediate).record(.max(1))
            var list = Array(recorder.values[0].results)
            try store.write { try $0.delete(gone) }
            for points in 3...9 { try store.change(changed) { $0.points = BigInt(points) } }
            let brief = try store.insert("Б")
            try store.write { try $0.delete(brief) }
            let new = try store.insert("Г")
            #expect(recorder.values.count == 1)
            recorder.request(.max(1))
            #expect(recorder.values.count == 2)
            let change = try #require(recorder.values.last)
            #expect(change.deletedIDs == [gone.localID])
            #expect(change.insertedIDs == [new.localID])
            #expect(change.modifiedIDs == [changed.localID])
            #expect(change.deleted.map(\.points) == [1])
            change.apply(to: &list)
            #expect(list == (try store.cards.sorted(by: \.shop).all()))
            recorder.cancel()
        }
    }

    @Test func `changes that cancel each other out are not delivered`() throws {
        try StoreKind.memory.withStore(Card.self, Person.self, Badge.self) { store in
            let recorder = store.cards.changesetPublisher.on(.immediate).record(.max(1))
            let brief = try store.insert("Б")
            try store.write { try $0.delete(brief) }
            recorder.request(.max(1))
            #expect(recorder.values.count == 1)
            try store.insert("А")
            #expect(recorder.values.count == 2)
            recorder.cancel()
        }
    }

    @Test func `pending changes do not grow with the number of missed commits`() throws {
        try StoreKind.memory.withStore(Card.self, Person.self, Badge.self) { store in
            let card = try store.insert("А")
            // All work is on this thread.
            nonisolated(unsafe) let part = ListPart(
                LiveList(
                    store.cards.query,
                    reading: RowReading(
                        maker: .references(Card.__definition, observed: nil), section: nil,
                        order: RowOrder(store.cards.query.order)),
                    in: store.schema), tuning: store.live.tuning)
            let publisher = LivePublisher(store: store) {
                LiveComposition(parts: [part]) { part.consumeChanges().new.count }
            }
            let recorder = publisher.on(.immediate).record(.max(1))
            for points in 1...500 {
                try store.change(card) { $0.points = BigInt(points) }
                let other = try store.insert("Б")
                try store.write { try $0.delete(other) }
            }
            #expect(part.pendingCount == 1)
            recorder.request(.max(1))
            #expect(part.pendingCount == 0)
            #expect(recorder.values == [1, 1])
            recorder.cancel()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `demand that is returned with a value is honored`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let recorder = store.cards.countPublisher.on(.immediate).record(.max(1), returning: .max(1))
            let once = store.cards.countPublisher.on(.immediate).record(.max(2))
            for index in 0..<5 { try store.insert("\(index)") }
            #expect(recorder.values == [0, 1, 2, 3, 4, 5])
            #expect(once.values == [0, 1])
            recorder.cancel()
            once.cancel()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `demand of a slow subscriber on a queue is honored`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let recorder = store.cards.changesetPublisher.record { _ in usleep(30_000) }
            #expect(recorder.waitForValues(1))
            for index in 0..<60 { try store.insert("\(index)") }
            #expect(recorder.waitForValue { $0.results.count == 60 })
            #expect(recorder.values.count < 60)
            var list: [Card] = []
            for change in recorder.values {
                #expect(Array(change.previous) == list)
                change.apply(to: &list)
                #expect(Array(change.results) == list)
            }
            recorder.cancel()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a slow loop gets all missed changes in one change set`(_ kind: StoreKind) async throws {
        try await kind.withStore(Card.self, Person.self, Badge.self) { (store: Store) async throws -> Void in
            var iterator = store.cards.sorted(by: \.shop).changesetPublisher.values.makeAsyncIterator()
            let first = try await iterator.next()
            #expect(first?.isInitial == true)
            for shop in ["В", "А", "Б"] {
                try await store.write { _ = try $0.insert(Card(shop: shop, barcode: shop)) }
            }
            let second = try await iterator.next()
            #expect(second?.insertions == [0, 1, 2])
            let all = try await store.cards.all()
            try await store.write { try $0.delete(contentsOf: all) }
            let third = try await iterator.next()
            #expect(third?.deletions == [0, 1, 2])
        }
    }
}

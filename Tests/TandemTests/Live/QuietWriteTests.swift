import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Writes that exclude some subscriptions from notification.
@Suite(.ownThreads) struct QuietWriteTests {
    @Test(arguments: StoreKind.allCases)
    func `a subscription named by its token is not notified, all others are`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let token = LiveToken()
            let cards = store.cards.sorted(by: \.shop)
            let quiet = cards.changesetPublisher.identified(by: token).on(.immediate).record()
            let other = cards.changesetPublisher.identified(by: LiveToken()).on(.immediate).record()
            try store.write(withoutNotifying: [token]) { _ = try $0.insert(Card(shop: "Б", barcode: "1")) }
            #expect(quiet.values.count == 1 && other.values.count == 2)
            // The next change set is relative to the subscriber's own change.
            try store.insert("А")
            #expect(quiet.values.last?.previous.map(\.shop) == ["Б"])
            #expect(quiet.values.last?.insertions == [0] && quiet.values.last?.deletions == [])
            quiet.cancel()
            other.cancel()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `pending changes stay pending`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let token = LiveToken()
            let recorder = store.cards.sorted(by: \.shop).changesetPublisher.identified(by: token).on(.immediate)
                .record(.max(1))
            #expect(recorder.values.count == 1)
            try store.insert("А")
            try store.write(withoutNotifying: [token]) { _ = try $0.insert(Card(shop: "Б", barcode: "1")) }
            try store.insert("В")
            recorder.request(.max(1))
            let change = try #require(recorder.values.last)
            #expect(recorder.values.count == 2)
            // The subscriber has Б already.
            #expect(change.previous.map(\.shop) == ["Б"])
            #expect(change.insertions == [0, 2])
            #expect(change.results.map(\.shop) == ["А", "Б", "В"])
            recorder.cancel()
        }
    }

    @Test func `counts and aggregates can be excluded too`() throws {
        try StoreKind.memory.withStore(Card.self, Person.self, Badge.self) { store in
            let token = LiveToken()
            let count = store.cards.countPublisher.identified(by: token).on(.immediate).record()
            let sum = store.cards.publisher(of: .sum(\.points)).identified(by: token).on(.immediate).record()
            try store.write(withoutNotifying: [token]) { _ = try $0.insert(Card(shop: "Б", barcode: "1", points: 4)) }
            #expect(count.values == [0] && sum.values == [0])
            try store.insert("А", 3)
            #expect(count.values == [0, 2] && sum.values == [0, 7])
            count.cancel()
            sum.cancel()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a quiet write to one of several queries keeps the pending changes of the others`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let token = LiveToken()
            let both = store.combined(
                store.cards.changesetPublisher, store.objects(Badge.self).changesetPublisher
            ).identified(by: token).on(.immediate).record(.max(1))
            try store.write { _ = try $0.insert(Badge(name: "waits")) }
            try store.write(withoutNotifying: [token]) { _ = try $0.insert(Card(shop: "known", barcode: "1")) }
            both.request(.max(1))
            let (cards, badges) = try #require(both.values.last)
            #expect(both.values.count == 2)
            #expect(cards.isEmpty && cards.previous.map(\.shop) == ["known"])
            #expect(badges.insertions == [0] && badges.previous.isEmpty)
            both.cancel()
        }
    }

    @Test func `a quiet write after which another query reloads is not delivered again`() throws {
        try StoreKind.memory.withStore(Card.self, Person.self, Badge.self) { store in
            // A window without a reserve reloads after a removal.
            store.live.tuning.leastReserve = 0
            for shop in ["А", "Б", "В"] { try store.insert(shop) }
            let cards = store.cards.sorted(by: \.shop)
            let token = LiveToken()
            let both = store.combined(cards.changesetPublisher, cards.limit(2).changesetPublisher)
                .identified(by: token).on(.immediate).record(.max(1))
            var known = Array(try #require(both.values.last).0.results)
            try store.insert("Я")
            try store.write(withoutNotifying: [token]) { try $0.delete(known[0]) }
            known.removeFirst()
            both.request(.max(1))
            let (all, first) = try #require(both.values.last)
            #expect(both.values.count == 2)
            // After the reload, the subscriber's own change can't be distinguished from the pending one.
            try #require(all.isInitial)
            all.apply(to: &known)
            #expect(known.map(\.shop) == ["Б", "В", "Я"])
            #expect(first.results.map(\.shop) == ["Б", "В"])
            both.cancel()
        }
    }

    @Test func `an inner write that is rolled back excludes no subscription`() throws {
        try StoreKind.memory.withStore(Card.self, Person.self, Badge.self) { store in
            let token = LiveToken()
            let list = store.cards.changesetPublisher.identified(by: token).on(.immediate).record()
            try store.write { tx in
                try tx.insert(Card(shop: "outer", barcode: "1"))
                try? store.write(withoutNotifying: [token]) { inner in
                    try inner.insert(Card(shop: "inner", barcode: "2"))
                    throw CancellationError()
                }
            }
            #expect(list.values.last?.results.map(\.shop) == ["outer"])
            list.cancel()
        }
    }

    // MARK: Repeated delivery, where the subscriber's own changes can't be told apart

    @Test(arguments: StoreKind.files)
    func `a quiet write that was read together with its reversal is delivered`(_ kind: StoreKind) throws {
        try kind.withStore(Card.self, Person.self, Badge.self) { store in
            let token = LiveToken()
            let shops = store.cards.distinct(by: \.shop).changesetPublisher.identified(by: token).record()
            #expect(store.live.waitUntilIdle(store) { shops.values.count == 1 })
            // The queue is suspended until both commits exist.
            store.live.suspendQueue()
            let card = try store.write(withoutNotifying: [token]) { try $0.insert(Card(shop: "Б", barcode: "1")) }
            try store.write { try $0.delete(card) }
            store.live.queue.resume()
            #expect(store.live.waitUntilIdle(store) { shops.values.count == 2 })
            // The subscriber shows the card that it inserted, and learns that the card does not exist.
            var list = [card]
            let change = try #require(shops.values.last)
            #expect(change.isInitial)
            change.apply(to: &list)
            #expect(list.isEmpty)
            shops.cancel()
        }
    }

    @Test func `a row number that a quiet write reuses does not hide the earlier object's deletion`() throws {
        try StoreKind.memory.withStore(Card.self, Person.self, Badge.self) { store in
            try store.insert("А")
            let token = LiveToken()
            let cards = store.cards.changesetPublisher.identified(by: token).on(.immediate).record(.max(1))
            try store.write { tx in
                try tx.store.writer.connection.execute("DELETE FROM \"Card\"")
                try tx.store.writer.connection.execute("DELETE FROM \"__operations\"")
            }
            try store.write(withoutNotifying: [token]) { _ = try $0.insert(Card(shop: "Б", barcode: "1")) }
            cards.request(.max(1))
            let change = try #require(cards.values.last)
            #expect(cards.values.count == 2)
            #expect(change.isInitial && change.results.map(\.shop) == ["Б"])
            cards.cancel()
        }
    }

    @Test func `an object that a quiet write moves to another row before its first notification is delivered`() throws {
        try StoreKind.memory.withStore(Slip.self) { store in
            let token = LiveToken()
            let slips = store.objects(Slip.self).referenceChangesetPublisher.identified(by: token).on(.immediate)
                .record(.max(1))
            #expect(slips.values.count == 1)
            let slip = try store.write { try $0.insert(Slip()) }
            let id = slip.localID
            try store.write(withoutNotifying: [token]) { tx in
                try tx.store.writer.connection.execute(
                    "INSERT OR REPLACE INTO \"Slip\"(\"localID\", \"text\", \"number\") VALUES(?, '', 1)",
                    binding: [.text(id.rawValue)])
            }
            slips.request(.max(1))
            let change = try #require(slips.values.last)
            #expect(slips.values.count == 2)
            // The subscriber was never told of the object, so its list can't be known.
            #expect(change.isInitial && change.insertedIDs == [id])
            slips.cancel()
        }
    }

    @Test func `a quiet change of an object with a pending notification is delivered`() throws {
        try StoreKind.memory.withStore(Card.self, Person.self, Badge.self) { store in
            let token = LiveToken()
            let cards = store.cards.changesetPublisher.identified(by: token).on(.immediate).record(.max(1))
            var card = try store.write { try $0.insert(Card(shop: "А", barcode: "1")) }
            card.points = 5
            try store.write(withoutNotifying: [token]) { try $0.update(card) }
            cards.request(.max(1))
            let change = try #require(cards.values.last)
            #expect(cards.values.count == 2 && change.isInitial)
            #expect(change.results.map(\.points) == [5])
            cards.cancel()
        }
    }

    @Test func `a count that returns to the delivered value is delivered if a quiet write met pending changes`() throws
    {
        try StoreKind.memory.withStore(Card.self, Person.self, Badge.self) { store in
            let token = LiveToken()
            let count = store.cards.countPublisher.identified(by: token).on(.immediate).record(.max(1))
            let points = store.cards.publisher(of: .sum(\.points)).identified(by: token).on(.immediate).record(.max(1))
            let card = try store.write { try $0.insert(Card(shop: "А", barcode: "1", points: 4)) }
            try store.write(withoutNotifying: [token]) { try $0.delete(card) }
            count.request(.max(1))
            points.request(.max(1))
            // The subscriber subtracts one from the delivered 0.
            #expect(count.values == [0, 0] && points.values == [0, 0])
            count.cancel()
            points.cancel()
        }
    }
}

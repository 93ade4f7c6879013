import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The app's hook that sees each operation before it is sent.
@Suite(.ownThreads) struct BeforeSendTests {
    @Test func `the app sees each operation before it is sent`() async throws {
        let fixture = try SyncFixture { $0.inFlight = 1 }
        let seen = Seen<OutgoingOperation<Card>>()
        try fixture.sync.table(Card.self).setBeforeSend { operation in
            seen.note(operation)
            return .send
        }
        let card = try await fixture.syncedCard()
        let person = try await fixture.store.write { tx in
            let person = try tx.insert(Person(name: "Анна"))
            try tx.update(Card.self, localID: card.localID) { ($0.points, $0.owner) = (2, person.reference) }
            return person
        }
        try await fixture.sync.push()
        try await fixture.store.write { _ = try $0.delete(Card.self, localID: card.localID) }
        try await fixture.sync.push()
        #expect(seen.all.map(\.kind) == [.insert, .update, .delete])
        // An update that waits for the insert of its reference's target is shown when it can be sent.
        let update = try #require(seen.all.dropFirst().first)
        #expect(update.object.points == 2 && update.object.owner?.localID == person.localID)
        #expect(update.changed == ["points", "owner"] && update.object.localID == card.localID)
    }

    @Test func `the app can hold an operation`() async throws {
        let fixture = try SyncFixture()
        try fixture.sync.table(Card.self).setBeforeSend { $0.object.points < 0 ? .hold : .send }
        try await fixture.store.write { tx in
            try tx.insert(Card(shop: "Лента", barcode: "1", points: -1))
            try tx.insert(Card(shop: "Лента", barcode: "2"))
        }
        #expect(try await fixture.sync.push().entries.map(\.outcome.name) == ["held", "done"])
        #expect(try fixture.operation?.state == .held)
        #expect(try await fixture.sync.push().entries.isEmpty)
    }

    @Test func `changes that the app makes before the send are stored and sent`() async throws {
        let fixture = try SyncFixture()
        try fixture.sync.table(Card.self).setBeforeSend { operation in
            var card = operation.object
            card.shop = card.shop.uppercased()
            return .sendChanged(card)
        }
        let id = try await fixture.store.write {
            try $0.insert(Card(shop: "Лента", barcode: "1", note: "mine"))
        }.localID
        #expect(try await fixture.sync.push().isComplete)
        let card = try #require(try fixture.card(id))
        #expect(try card.shop == "ЛЕНТА" && card.note == "mine" && fixture.isLevel())
        try await fixture.store.write { _ = try $0.update(Card.self, localID: id) { $0.shop = "магнит" } }
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.card(id)?.shop == "МАГНИТ" && fixture.isLevel())
        try await fixture.store.write { _ = try $0.delete(Card.self, localID: id) }
        #expect(try await fixture.sync.push().isComplete && fixture.isLevel())
    }

    @Test func `an error of the app leaves the operation, and the push continues`() async throws {
        let fixture = try SyncFixture()
        try fixture.sync.table(Card.self).setBeforeSend { operation in
            if operation.object.barcode == "1" { throw RemoteFailure.Broken() }
            guard operation.object.barcode == "2" else { return .send }
            var card = operation.object
            card.barcode = "3"
            return .sendChanged(card)
        }
        try await fixture.store.write { tx in
            for code in 1...3 { try tx.insert(Card(shop: "Лента", barcode: "\(code)")) }
        }
        let result = try await fixture.sync.push()
        #expect(result.entries.map(\.outcome.name) == ["retryLater", "retryLater", "done"])
        #expect(result.entries[0].outcome.error?.code == .hook && result.entries[1].outcome.error?.code == .hook)
        #expect(try fixture.store.operations.count(in: .pending) == 2 && fixture.store.checkIntegrity() == [])
        // The object contains the reason.
        let messages = try fixture.store.operations.all().map { $0.error?.message ?? "" }
        #expect(messages == result.entries.prefix(2).map { $0.outcome.error?.message ?? "?" })
        #expect(messages.allSatisfy { $0.hasPrefix("The closure of setBeforeSend failed") })
    }

    /// The outcome of an earlier attempt stays unknown.
    @Test func `an error of the app keeps the record of attempts`() async throws {
        let fixture = try SyncFixture(ids: .server)
        try await fixture.store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }
        fixture.remote.next(.loseResponse)
        try await fixture.sync.attemptPush()
        let calls = Counter()
        try fixture.sync.table(Card.self).setBeforeSend { _ in
            if calls.next() == 1 { throw RemoteFailure.Broken() }
            return .send
        }
        #expect(try await fixture.sync.push().entries.map(\.outcome.name) == ["retryLater"])
        #expect(try fixture.operation?.state == .attempted)
        #expect(try fixture.operation?.error?.message.contains("The closure of setBeforeSend failed") == true)
        #expect(try await fixture.sync.push().entries.map(\.outcome.name) == ["adopted"])
        #expect(fixture.remote.items(in: "Card").count == 1)
    }

    /// Each sent value was shown, even if the app sends it unchanged.
    @Test func `the app sees an object again if it is edited meanwhile`() async throws {
        let fixture = try SyncFixture()
        let (store, seen) = (fixture.store, Seen<OutgoingOperation<Card>>())
        try fixture.sync.table(Card.self).setBeforeSend { operation in
            seen.note(operation)
            if seen.all.count == 1 {
                try await store.write {
                    _ = try $0.update(Card.self, localID: operation.object.localID) { $0.points = -9 }
                }
            }
            return operation.object.points < 0 ? .hold : .send
        }
        try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1", points: 1)) }
        #expect(try await fixture.sync.push().entries.map(\.outcome.name) == ["held"])
        #expect(seen.all.map(\.object.points) == [1, -9] && fixture.asked.isEmpty)
    }

    @Test func `the app sees an object again if it is deleted meanwhile`() async throws {
        let fixture = try SyncFixture()
        let (store, seen) = (fixture.store, Seen<OutgoingOperation<Card>>())
        let card = try await fixture.syncedCard()
        try fixture.sync.table(Card.self).setBeforeSend { operation in
            seen.note(operation)
            if seen.all.count == 1 { try await store.write { _ = try $0.delete(Card.self, localID: card.localID) } }
            return .send
        }
        try await store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        #expect(try await fixture.sync.push().isComplete)
        #expect(try seen.all.map(\.kind) == [.update, .delete] && fixture.isLevel())
    }

    @Test func `a hook that edits its own object each time prevents the send`() async throws {
        let fixture = try SyncFixture()
        let (store, calls) = (fixture.store, Counter())
        try fixture.sync.table(Card.self).setBeforeSend { operation in
            let number = calls.next()
            try await store.write {
                _ = try $0.update(Card.self, localID: operation.object.localID) { $0.points = number }
            }
            return .send
        }
        try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }
        #expect(try await fixture.sync.push().entries.map(\.outcome.name) == ["stillPending"])
        #expect(calls.value == 3 && fixture.asked.isEmpty)
    }

    /// The app was shown the older object. Properties that it leaves unchanged are not written.
    @Test func `an edit made while the hook runs stays`() async throws {
        let fixture = try SyncFixture()
        let (store, calls) = (fixture.store, Counter())
        try fixture.sync.table(Card.self).setBeforeSend { operation in
            if calls.next() == 1 {
                try await store.write {
                    _ = try $0.update(Card.self, localID: operation.object.localID) { $0.points = 9 }
                }
            }
            var card = operation.object
            card.shop = card.shop.uppercased()
            return .sendChanged(card)
        }
        let id = try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1", points: 1)) }.localID
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel() && fixture.card(id)?.points == 9 && fixture.card(id)?.shop == "ЛЕНТА")
        #expect(calls.value == 2)
    }

    /// The property that the app changes was edited meanwhile. The app is shown the edit.
    @Test func `the app sees an object again before it overwrites an edit`() async throws {
        let fixture = try SyncFixture()
        let (store, calls) = (fixture.store, Counter())
        try fixture.sync.table(Card.self).setBeforeSend { operation in
            if calls.next() == 1 {
                try await store.write {
                    _ = try $0.update(Card.self, localID: operation.object.localID) { $0.shop = "магнит" }
                }
            }
            var card = operation.object
            card.shop = card.shop.uppercased()
            return .sendChanged(card)
        }
        let id = try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }.localID
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel() && fixture.card(id)?.shop == "МАГНИТ" && calls.value == 2)
    }

    @Test func `an object edited at each call of the hook is left for the next push`() async throws {
        let fixture = try SyncFixture()
        let (store, calls) = (fixture.store, Counter())
        try fixture.sync.table(Card.self).setBeforeSend { operation in
            let number = calls.next()
            try await store.write {
                _ = try $0.update(Card.self, localID: operation.object.localID) { $0.points = number }
            }
            var card = operation.object
            card.points = 1000
            return .sendChanged(card)
        }
        let id = try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }.localID
        #expect(try await fixture.sync.push().entries.map(\.outcome.name) == ["stillPending"])
        #expect(try fixture.card(id)?.points == calls.value && fixture.asked.isEmpty)
    }
}

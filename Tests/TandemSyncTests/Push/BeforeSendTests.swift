import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The app's hook that sees each operation before it is sent.
@Suite(.ownThreads) struct BeforeSendTests {
    @Test func `the app sees each operation before it is sent`() async throws {
        let desk = try Desk { $0.inFlight = 1 }
        let seen = Seen<OutgoingOperation<Card>>()
        try desk.sync.table(Card.self).setBeforeSend { operation in
            seen.note(operation)
            return .send
        }
        let card = try await desk.syncedCard()
        let person = try await desk.store.write { tx in
            let person = try tx.insert(Person(name: "Анна"))
            try tx.update(Card.self, localID: card.localID) { ($0.points, $0.owner) = (2, person.reference) }
            return person
        }
        try await desk.sync.push()
        try await desk.store.write { _ = try $0.delete(Card.self, localID: card.localID) }
        try await desk.sync.push()
        #expect(seen.all.map(\.kind) == [.insert, .update, .delete])
        // An update that waits for the insert of its reference's target is shown when it can be sent.
        let update = try #require(seen.all.dropFirst().first)
        #expect(update.object.points == 2 && update.object.owner?.localID == person.localID)
        #expect(update.changed == ["points", "owner"] && update.object.localID == card.localID)
    }

    @Test func `the app can hold an operation`() async throws {
        let desk = try Desk()
        try desk.sync.table(Card.self).setBeforeSend { $0.object.points < 0 ? .hold : .send }
        try await desk.store.write { tx in
            try tx.insert(Card(shop: "Лента", barcode: "1", points: -1))
            try tx.insert(Card(shop: "Лента", barcode: "2"))
        }
        #expect(try await desk.sync.push().entries.map(\.outcome.name) == ["held", "done"])
        #expect(try desk.operation?.state == .held)
        #expect(try await desk.sync.push().entries.isEmpty)
    }

    @Test func `changes that the app makes before the send are stored and sent`() async throws {
        let desk = try Desk()
        try desk.sync.table(Card.self).setBeforeSend { operation in
            var card = operation.object
            card.shop = card.shop.uppercased()
            return .sendChanged(card)
        }
        let id = try await desk.store.write {
            try $0.insert(Card(shop: "Лента", barcode: "1", note: "mine"))
        }.localID
        #expect(try await desk.sync.push().isComplete)
        let card = try #require(try desk.card(id))
        #expect(try card.shop == "ЛЕНТА" && card.note == "mine" && desk.isLevel())
        try await desk.store.write { _ = try $0.update(Card.self, localID: id) { $0.shop = "магнит" } }
        #expect(try await desk.sync.push().isComplete)
        #expect(try desk.card(id)?.shop == "МАГНИТ" && desk.isLevel())
        try await desk.store.write { _ = try $0.delete(Card.self, localID: id) }
        #expect(try await desk.sync.push().isComplete && desk.isLevel())
    }

    @Test func `an error of the app leaves the operation, and the push continues`() async throws {
        let desk = try Desk()
        try desk.sync.table(Card.self).setBeforeSend { operation in
            if operation.object.barcode == "1" { throw RemoteFailure.Broken() }
            guard operation.object.barcode == "2" else { return .send }
            var card = operation.object
            card.barcode = "3"
            return .sendChanged(card)
        }
        try await desk.store.write { tx in
            for code in 1...3 { try tx.insert(Card(shop: "Лента", barcode: "\(code)")) }
        }
        let result = try await desk.sync.push()
        #expect(result.entries.map(\.outcome.name) == ["retryLater", "retryLater", "done"])
        #expect(result.entries[0].outcome.error?.code == .hook && result.entries[1].outcome.error?.code == .hook)
        #expect(try desk.store.operations.count(in: .pending) == 2 && desk.store.checkIntegrity() == [])
        // The object contains the reason.
        let messages = try desk.store.operations.all().map { $0.error?.message ?? "" }
        #expect(messages == result.entries.prefix(2).map { $0.outcome.error?.message ?? "?" })
        #expect(messages.allSatisfy { $0.hasPrefix("The app's look at the operation failed") })
    }

    /// The outcome of an earlier attempt stays unknown.
    @Test func `an error of the app keeps the record of attempts`() async throws {
        let desk = try Desk(ids: .server)
        try await desk.store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }
        desk.remote.next(.loseAnswer)
        try await desk.sync.attemptPush()
        let looks = Counter()
        try desk.sync.table(Card.self).setBeforeSend { _ in
            if looks.next() == 1 { throw RemoteFailure.Broken() }
            return .send
        }
        #expect(try await desk.sync.push().entries.map(\.outcome.name) == ["retryLater"])
        #expect(try desk.operation?.state == .attempted)
        #expect(try desk.operation?.error?.message.contains("The app's look") == true)
        #expect(try await desk.sync.push().entries.map(\.outcome.name) == ["adopted"])
        #expect(desk.remote.items(in: "Card").count == 1)
    }

    /// Each sent value was shown, even if the app sends it unchanged.
    @Test func `the app sees an object again if it is edited meanwhile`() async throws {
        let desk = try Desk()
        let (store, seen) = (desk.store, Seen<OutgoingOperation<Card>>())
        try desk.sync.table(Card.self).setBeforeSend { operation in
            seen.note(operation)
            if seen.all.count == 1 {
                try await store.write {
                    _ = try $0.update(Card.self, localID: operation.object.localID) { $0.points = -9 }
                }
            }
            return operation.object.points < 0 ? .hold : .send
        }
        try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1", points: 1)) }
        #expect(try await desk.sync.push().entries.map(\.outcome.name) == ["held"])
        #expect(seen.all.map(\.object.points) == [1, -9] && desk.asked.isEmpty)
    }

    @Test func `the app sees an object again if it is deleted meanwhile`() async throws {
        let desk = try Desk()
        let (store, seen) = (desk.store, Seen<OutgoingOperation<Card>>())
        let card = try await desk.syncedCard()
        try desk.sync.table(Card.self).setBeforeSend { operation in
            seen.note(operation)
            if seen.all.count == 1 { try await store.write { _ = try $0.delete(Card.self, localID: card.localID) } }
            return .send
        }
        try await store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        #expect(try await desk.sync.push().isComplete)
        #expect(try seen.all.map(\.kind) == [.update, .delete] && desk.isLevel())
    }

    @Test func `a hook that edits its own object each time prevents the send`() async throws {
        let desk = try Desk()
        let (store, looks) = (desk.store, Counter())
        try desk.sync.table(Card.self).setBeforeSend { operation in
            let number = looks.next()
            try await store.write {
                _ = try $0.update(Card.self, localID: operation.object.localID) { $0.points = number }
            }
            return .send
        }
        try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }
        #expect(try await desk.sync.push().entries.map(\.outcome.name) == ["stillPending"])
        #expect(looks.value == 3 && desk.asked.isEmpty)
    }

    /// The app was shown the older object. Properties that it leaves unchanged are not written.
    @Test func `an edit made while the hook runs stays`() async throws {
        let desk = try Desk()
        let (store, looks) = (desk.store, Counter())
        try desk.sync.table(Card.self).setBeforeSend { operation in
            if looks.next() == 1 {
                try await store.write {
                    _ = try $0.update(Card.self, localID: operation.object.localID) { $0.points = 9 }
                }
            }
            var card = operation.object
            card.shop = card.shop.uppercased()
            return .sendChanged(card)
        }
        let id = try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1", points: 1)) }.localID
        #expect(try await desk.sync.push().isComplete)
        #expect(try desk.isLevel() && desk.card(id)?.points == 9 && desk.card(id)?.shop == "ЛЕНТА")
        #expect(looks.value == 2)
    }

    /// The property that the app changes was edited meanwhile. The app is shown the edit.
    @Test func `the app sees an object again before it overwrites an edit`() async throws {
        let desk = try Desk()
        let (store, looks) = (desk.store, Counter())
        try desk.sync.table(Card.self).setBeforeSend { operation in
            if looks.next() == 1 {
                try await store.write {
                    _ = try $0.update(Card.self, localID: operation.object.localID) { $0.shop = "магнит" }
                }
            }
            var card = operation.object
            card.shop = card.shop.uppercased()
            return .sendChanged(card)
        }
        let id = try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }.localID
        #expect(try await desk.sync.push().isComplete)
        #expect(try desk.isLevel() && desk.card(id)?.shop == "МАГНИТ" && looks.value == 2)
    }

    @Test func `an object edited at each call of the hook is left for the next push`() async throws {
        let desk = try Desk()
        let (store, looks) = (desk.store, Counter())
        try desk.sync.table(Card.self).setBeforeSend { operation in
            let number = looks.next()
            try await store.write {
                _ = try $0.update(Card.self, localID: operation.object.localID) { $0.points = number }
            }
            var card = operation.object
            card.points = 1000
            return .sendChanged(card)
        }
        let id = try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }.localID
        #expect(try await desk.sync.push().entries.map(\.outcome.name) == ["stillPending"])
        #expect(try desk.card(id)?.points == looks.value && desk.asked.isEmpty)
    }
}

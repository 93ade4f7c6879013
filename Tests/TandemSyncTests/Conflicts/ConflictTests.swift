import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The conditions of a conflict, and the data that the app gets.
@Suite(.ownThreads) struct ConflictTests {
    /// Another pull in this process fetches a newer item each time the app decides.
    @Test func `an operation whose item changes at each decision reports why it waits`() async throws {
        let fixture = try SyncFixture()
        let card = try await fixture.syncedCard()
        let serverID = try #require(card.serverID)
        let rounds = Counter()
        let bring: @Sendable () async throws -> Void = {
            let number = rounds.next()
            fixture.remote.edit("Card", id: serverID) { $0.set(.integer(Int64(100 + number)), of: "points") }
            try await fixture.receiveAll()
        }
        try fixture.sync.table(Card.self).setConflicts(
            .resolve { _ in
                try await bring()
                return .merge
            })
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        try await bring()
        let result = try await fixture.sync.push()
        #expect(result.entries.map(\.outcome.name) == ["retryLater"] && fixture.asked.isEmpty)
        #expect(try fixture.operation?.error?.message == result.entries[0].outcome.error?.message)
        #expect(try fixture.operation?.error?.message.contains("as fast as") == true)
    }

    /// This model can't read the item that a pull has kept.
    @Test func `an operation with an unreadable deferred item reports why it waits`() async throws {
        let fixture = try SyncFixture()
        let card = try await fixture.syncedCard()
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        let there = try #require(try fixture.served(card.serverID))
        fixture.remote.edit("Card", id: there.id) { $0.set(.integer(9), of: "points") }
        let settings = try fixture.sync.settings(of: "Card")
        let edited = try #require(try fixture.served(card.serverID))
        var item = try fixture.sync.coder(of: settings).decode(edited)
        item.source = Array(
            String(decoding: item.source, as: UTF8.self)
                .replacing("points\\\":9", with: "points\\\":\\\"x\\\"").utf8)
        try await fixture.store.write { [item] (tx: WriteTransaction) in
            _ = try tx.sync.applyServerItem(item, in: "Card", identity: settings.identity(of: there))
        }
        let result = try await fixture.sync.push()
        #expect(result.entries.map(\.outcome.name) == ["retryLater"] && fixture.asked.isEmpty)
        #expect(result.entries[0].outcome.error?.property == "points")
        #expect(try fixture.operation?.error?.message == result.entries[0].outcome.error?.message)
    }

    private func edit(
        _ fixture: SyncFixture, _ card: Card, _ change: @escaping @Sendable (inout Card) -> Void
    ) async throws {
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID, change) }
    }

    private func editThere(_ fixture: SyncFixture, _ card: Card, _ member: String, _ value: JSONNode) throws {
        fixture.remote.edit("Card", id: try #require(card.serverID)) { $0.set(value, of: member) }
    }

    /// The server holds our own value. No policy reports that, `report` included.
    @Test(arguments: [true, false])
    func `our own write with a lost response is not a conflict`(editsMeanwhile: Bool) async throws {
        let fixture = try SyncFixture()
        try fixture.sync.table(Card.self).setConflicts(.report)
        let card = try await fixture.syncedCard()
        try await edit(fixture, card) { $0.points = 2 }
        fixture.remote.next(.loseResponse)
        try await fixture.sync.attemptPush()
        try await edit(fixture, card) { $0.points = 3 }
        fixture.remote.next(.loseResponse)
        try await fixture.sync.attemptPush()
        if editsMeanwhile { try await edit(fixture, card) { $0.points = 4 } }
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel() && fixture.card(card.localID)?.points == (editsMeanwhile ? 4 : 3))
    }

    /// The same change on both sides leaves nothing to send.
    @Test func `a change that another client has also made is adopted`() async throws {
        let fixture = try SyncFixture()
        try fixture.sync.table(Card.self).setConflicts(.report)
        let card = try await fixture.syncedCard()
        try await edit(fixture, card) { $0.points = 2 }
        try editThere(fixture, card, "points", .integer(2))
        #expect(try await fixture.sync.push().entries.map(\.outcome.name) == ["adopted"])
        #expect(try fixture.isLevel())
    }

    /// DS T18: the client wins, and a third writer's change is not lost.
    @Test func `a third writer's change is not lost`() async throws {
        let fixture = try SyncFixture()
        try fixture.sync.table(Card.self).setConflicts(.clientWins)
        let card = try await fixture.syncedCard()
        try await edit(fixture, card) { $0.points = 2 }
        try editThere(fixture, card, "shop", .text("Магнит"))
        fixture.remote.next(.meanwhile {}, on: .update)
        fixture.remote.next(.conflict { $0.set(.text("третий"), of: "nickname") }, on: .update)
        let result = try await fixture.sync.push()
        guard case .merged(let rounds)? = result.entries.first?.outcome else {
            Issue.record("\(result.entries)")
            return
        }
        #expect(try rounds == 2 && fixture.isLevel())
        let there = try #require(try fixture.served(card.serverID))
        #expect(there[member: "shop"] == .text("Магнит") && there[member: "nickname"] == .text("третий"))
        #expect(there[member: "points"] == .integer(2))
    }

    @Test func `an endless conflict is left for the next push`() async throws {
        let fixture = try SyncFixture()
        let card = try await fixture.syncedCard()
        try await edit(fixture, card) { $0.points = 2 }
        for number in 0..<9 {
            fixture.remote.next(.conflict { $0.set(.text("\(number)"), of: "nickname") }, on: .update)
        }
        let result = try await fixture.sync.push()
        #expect(result.entries.map(\.outcome.name) == ["retryLater"] && fixture.asked.count == 6)
        #expect(try fixture.operation?.state == .pending)
    }

    /// DS T4: an insert conflicts with the tombstone of its ID.
    @Test(arguments: [true, false])
    func `an insert over a tombstone is undeleted if the client wins`(takesValues: Bool) async throws {
        let fixture = try SyncFixture(undeletesWithValues: takesValues)
        let id = try await fixture.store.write { try $0.insert(Card(shop: "Лента", barcode: "1", points: 5)) }.localID
        // Its response was lost, and another device has pulled and deleted the object.
        fixture.remote.next(.loseResponse)
        try await fixture.sync.attemptPush()
        fixture.remote.remove("Card", id: ServerID(id.rawValue))
        let result = try await fixture.sync.push()
        #expect(result.entries.map(\.outcome.name) == ["conflict"])
        try await fixture.sync.keepMine(result.entries[0].id)
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel() && fixture.card(id)?.points == 5)
    }

    /// Two devices have chosen one key.
    @Test func `two inserts with one key are merged`() async throws {
        let fixture = try SyncFixture()
        fixture.remote.edit("Card", id: "k") { item in
            item.members = [("shop", .text("Магнит")), ("barcode", .text("9")), ("points", .integer(3))]
        }
        try await fixture.store.write { tx in
            try tx.insert(Card(shop: "Лента", barcode: "1", points: 2).identified(by: "k"))
        }
        #expect(try await fixture.sync.push().entries.map(\.outcome.name) == ["merged"])
        #expect(try fixture.isLevel() && fixture.card("k")?.shop == "Лента")
    }

    /// Without versions the last write wins, without a conflict.
    @Test func `a table without versions accepts the last write`() async throws {
        let fixture = try SyncFixture(versions: false)
        try fixture.sync.table(Card.self).setConflicts(.report)
        let card = try await fixture.syncedCard()
        try await edit(fixture, card) { $0.points = 2 }
        try editThere(fixture, card, "points", .integer(3))
        #expect(try await fixture.sync.push().isComplete && fixture.isLevel())
        #expect(try fixture.served(card.serverID)?[member: "points"] == .integer(2))
        #expect(fixture.remote.requests.allSatisfy { $0.version == nil })
    }

    @Test func `a hard delete there conflicts with an edit here`() async throws {
        let fixture = try SyncFixture(softDelete: false)
        let card = try await fixture.syncedCard()
        try await edit(fixture, card) { $0.points = 2 }
        fixture.remote.remove("Card", id: try #require(card.serverID))
        #expect(try await fixture.sync.push().entries.map(\.outcome.name) == ["conflict"])
        try fixture.sync.table(Card.self).setConflicts(.clientWins)
        try await fixture.sync.retry(try #require(try fixture.operation?.id))
        #expect(try await fixture.sync.push().isComplete)
        #expect(
            try fixture.isLevel() && fixture.card(card.localID)?.points == 2
                && fixture.remote.items(in: "Card").count == 1)
    }

    @Test func `the app sees all three sides`() async throws {
        let fixture = try SyncFixture()
        let seen = Seen<Conflict<Card>>()
        try fixture.sync.table(Card.self).setConflicts(
            .resolve { conflict in
                seen.note(conflict)
                return .merge
            })
        let card = try await fixture.syncedCard()
        let person = try await fixture.store.write { tx in
            let person = try tx.insert(Person(name: "Анна"))
            try tx.update(Card.self, localID: card.localID) { ($0.points, $0.owner) = (2, person.reference) }
            return person
        }
        try editThere(fixture, card, "points", .integer(3))
        #expect(try await fixture.sync.push().isComplete)
        let conflict = try #require(seen.all.first)
        #expect(seen.all.count == 1 && conflict.kind == .update && conflict.round == 1)
        #expect(conflict.local?.points == 2 && conflict.server?.points == 3 && conflict.base?.points == 1)
        #expect(conflict.local?.owner?.localID == person.localID && conflict.server?.owner == nil)
        #expect(conflict.local?.shop == "Лента" && conflict.localID == card.localID)
        #expect(conflict.changedHere == ["points", "owner"] && conflict.changedThere == ["points"])
    }

    /// The server's side has a unique value that another local object has.
    @Test func `a conflict with a unique value is left to the user`() async throws {
        let fixture = try SyncFixture()
        let card = try await fixture.syncedCard("1")
        try await fixture.store.write { tx in
            try tx.update(Card.self, localID: card.localID) { $0.points = 2 }
            try tx.insert(Card(shop: "Магнит", barcode: "2"))
        }
        try editThere(fixture, card, "barcode", .text("2"))
        let result = try await fixture.sync.push()
        #expect(result.entries.map(\.outcome.name) == ["conflict", "done"])
        #expect(try fixture.store.checkIntegrity() == [])
    }

    @Test func `a resolution that can't be written is left to the user`() async throws {
        let fixture = try SyncFixture()
        let card = try await fixture.syncedCard("1")
        try fixture.sync.table(Card.self).setConflicts(
            .resolve { conflict in
                guard var card = conflict.local else { return .merge }
                card.barcode = "2"
                return .send(card)
            })
        try await fixture.store.write { tx in
            try tx.insert(Card(shop: "Магнит", barcode: "2"))
            try tx.update(Card.self, localID: card.localID) { $0.points = 2 }
        }
        try editThere(fixture, card, "points", .integer(3))
        let result = try await fixture.sync.push()
        #expect(result.entries.contains { $0.outcome.error?.code == .conflict || $0.outcome.error?.code == .hook })
        #expect(try fixture.card(card.localID)?.points == 2 && fixture.store.checkIntegrity() == [])
    }

    /// The example of the documentation: one property is corrected, and others' changes of the rest stay.
    @Test func `a resolution by the app keeps others' changes`() async throws {
        let fixture = try SyncFixture()
        let card = try await fixture.syncedCard()
        try fixture.sync.table(Card.self).setConflicts(
            .resolve { conflict in
                guard var card = conflict.local, let theirs = conflict.server else { return .merge }
                card.points = max(card.points, theirs.points)
                return .send(card)
            })
        try await edit(fixture, card) { $0.points = 2 }
        try editThere(fixture, card, "points", .integer(3))
        try editThere(fixture, card, "shop", .text("Магнит"))
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel() && fixture.card(card.localID)?.shop == "Магнит")
        #expect(try fixture.card(card.localID)?.points == 3)
    }

    /// A deleted object is not shown, so the app means all values that it sends.
    @Test func `a resolution for a deleted object is sent as it is`() async throws {
        let fixture = try SyncFixture()
        let card = try await fixture.syncedCard()
        try fixture.sync.table(Card.self).setConflicts(
            .resolve { conflict in conflict.base.map { .send($0) } ?? .merge })
        try await fixture.store.write { _ = try $0.delete(Card.self, localID: card.localID) }
        try editThere(fixture, card, "shop", .text("Магнит"))
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel() && fixture.card(card.localID)?.shop == "Лента")
    }

    /// The last write wins there, whether the push finds the other change or a pull has fetched it.
    @Test(arguments: [true, false])
    func `a table without versions has no conflicts after a pull`(deletesHere: Bool) async throws {
        let fixture = try SyncFixture(versions: false)
        try fixture.sync.table(Card.self).setConflicts(.report)
        let card = try await fixture.syncedCard()
        if deletesHere {
            try await fixture.store.write { _ = try $0.delete(Card.self, localID: card.localID) }
        } else {
            try await edit(fixture, card) { $0.points = 2 }
        }
        try editThere(fixture, card, "points", .integer(3))
        try await fixture.receiveAll()
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel() && fixture.card(card.localID)?.points == (deletesHere ? nil : 2))
    }

    /// A newer item arrives while the app decides. The decision does not apply to it.
    @Test func `a deferred item while the app decides stays kept`() async throws {
        let fixture = try SyncFixture()
        let card = try await fixture.syncedCard()
        try await edit(fixture, card) { $0.points = 2 }
        try editThere(fixture, card, "points", .integer(3))
        try await fixture.receiveAll()
        try fixture.sync.table(Card.self).setConflicts(
            .resolve { _ in
                try self.editThere(fixture, card, "points", .integer(4))
                try await fixture.receiveAll()
                return .takeServers
            })
        #expect(try await fixture.sync.push().entries.map(\.outcome.name) == ["tookServers"])
        #expect(try fixture.card(card.localID)?.points == 3)
        // The next pull shows it, although the server's token has passed it.
        let kept = try await TandemStore(fixture.store).read { local in
            try local.deferredItemsWithoutOperation(in: "Card", after: nil, limit: 9)
        }
        #expect(kept.map(\.serverID) == [card.serverID])
        try await fixture.sync.pull(Card.self)
        #expect(try fixture.isLevel() && fixture.card(card.localID)?.points == 4)
    }

    @Test func `a property's value before the server's was taken is reported`() async throws {
        let fixture = try SyncFixture()
        try fixture.sync.table(Card.self).setConflicts(.merge(edits: .server))
        let card = try await fixture.syncedCard()
        try await edit(fixture, card) { ($0.points, $0.nickname) = (2, "н") }
        try editThere(fixture, card, "points", .integer(3))
        let entry = try #require(try await fixture.sync.push().entries.first)
        #expect(entry.outcome.name == "merged" && entry.lost?.values == ["points": 2])
        #expect(try fixture.isLevel() && fixture.card(card.localID)?.nickname == "н")
    }
}

/// A recorder of values from closures.
final class Seen<Value: Sendable>: Sendable {
    private let values = Synchronized<[Value]>([])
    var all: [Value] { values.value }
    func note(_ value: Value) { values.change { $0.append(value) } }
}

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
        let desk = try Desk()
        let card = try await desk.syncedCard()
        let serverID = try #require(card.serverID)
        let rounds = Counter()
        let bring: @Sendable () async throws -> Void = {
            let number = rounds.next()
            desk.remote.edit("Card", id: serverID) { $0.set(.integer(Int64(100 + number)), of: "points") }
            try await desk.receiveAll()
        }
        try desk.sync.table(Card.self).setConflicts(
            .resolve { _ in
                try await bring()
                return .merge
            })
        try await desk.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        try await bring()
        let result = try await desk.sync.push()
        #expect(result.entries.map(\.outcome.name) == ["retryLater"] && desk.asked.isEmpty)
        #expect(try desk.operation?.error?.message == result.entries[0].outcome.error?.message)
        #expect(try desk.operation?.error?.message.contains("as fast as") == true)
    }

    /// This model can't read the item that a pull has kept.
    @Test func `an operation with an unreadable deferred item reports why it waits`() async throws {
        let desk = try Desk()
        let card = try await desk.syncedCard()
        try await desk.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        let there = try #require(try desk.served(card.serverID))
        desk.remote.edit("Card", id: there.id) { $0.set(.integer(9), of: "points") }
        let settings = try desk.sync.settings(of: "Card")
        let edited = try #require(try desk.served(card.serverID))
        var item = try desk.sync.coder(of: settings).decode(edited)
        item.source = Array(
            String(decoding: item.source, as: UTF8.self)
                .replacing("points\\\":9", with: "points\\\":\\\"x\\\"").utf8)
        try await desk.store.write { [item] (tx: WriteTransaction) in
            _ = try tx.sync.applyServerItem(item, in: "Card", identity: settings.identity(of: there))
        }
        let result = try await desk.sync.push()
        #expect(result.entries.map(\.outcome.name) == ["retryLater"] && desk.asked.isEmpty)
        #expect(result.entries[0].outcome.error?.property == "points")
        #expect(try desk.operation?.error?.message == result.entries[0].outcome.error?.message)
    }

    private func edit(_ desk: Desk, _ card: Card, _ change: @escaping @Sendable (inout Card) -> Void) async throws {
        try await desk.store.write { _ = try $0.update(Card.self, localID: card.localID, change) }
    }

    private func editThere(_ desk: Desk, _ card: Card, _ member: String, _ value: JSONNode) throws {
        desk.remote.edit("Card", id: try #require(card.serverID)) { $0.set(value, of: member) }
    }

    /// The server holds our own value. No policy reports that, `report` included.
    @Test(arguments: [true, false])
    func `our own write with a lost response is not a conflict`(editsMeanwhile: Bool) async throws {
        let desk = try Desk()
        try desk.sync.table(Card.self).setConflicts(.report)
        let card = try await desk.syncedCard()
        try await edit(desk, card) { $0.points = 2 }
        desk.remote.next(.loseAnswer)
        try await desk.sync.attemptPush()
        try await edit(desk, card) { $0.points = 3 }
        desk.remote.next(.loseAnswer)
        try await desk.sync.attemptPush()
        if editsMeanwhile { try await edit(desk, card) { $0.points = 4 } }
        #expect(try await desk.sync.push().isComplete)
        #expect(try desk.isLevel() && desk.card(card.localID)?.points == (editsMeanwhile ? 4 : 3))
    }

    /// The same change on both sides leaves nothing to send.
    @Test func `a change that another client has also made is adopted`() async throws {
        let desk = try Desk()
        try desk.sync.table(Card.self).setConflicts(.report)
        let card = try await desk.syncedCard()
        try await edit(desk, card) { $0.points = 2 }
        try editThere(desk, card, "points", .integer(2))
        #expect(try await desk.sync.push().entries.map(\.outcome.name) == ["adopted"])
        #expect(try desk.isLevel())
    }

    /// DS T18: the client wins, and a third writer's change is not lost.
    @Test func `a third writer's change is not lost`() async throws {
        let desk = try Desk()
        try desk.sync.table(Card.self).setConflicts(.clientWins)
        let card = try await desk.syncedCard()
        try await edit(desk, card) { $0.points = 2 }
        try editThere(desk, card, "shop", .text("Магнит"))
        desk.remote.next(.meanwhile {}, on: .update)
        desk.remote.next(.conflict { $0.set(.text("третий"), of: "nickname") }, on: .update)
        let result = try await desk.sync.push()
        guard case .merged(let rounds)? = result.entries.first?.outcome else {
            Issue.record("\(result.entries)")
            return
        }
        #expect(try rounds == 2 && desk.isLevel())
        let there = try #require(try desk.served(card.serverID))
        #expect(there[member: "shop"] == .text("Магнит") && there[member: "nickname"] == .text("третий"))
        #expect(there[member: "points"] == .integer(2))
    }

    @Test func `an endless conflict is left for the next push`() async throws {
        let desk = try Desk()
        let card = try await desk.syncedCard()
        try await edit(desk, card) { $0.points = 2 }
        for number in 0..<9 {
            desk.remote.next(.conflict { $0.set(.text("\(number)"), of: "nickname") }, on: .update)
        }
        let result = try await desk.sync.push()
        #expect(result.entries.map(\.outcome.name) == ["retryLater"] && desk.asked.count == 6)
        #expect(try desk.operation?.state == .pending)
    }

    /// DS T4: an insert conflicts with the tombstone of its ID.
    @Test(arguments: [true, false])
    func `an insert over a tombstone is undeleted if the client wins`(takesValues: Bool) async throws {
        let desk = try Desk(undeletesWithValues: takesValues)
        let id = try await desk.store.write { try $0.insert(Card(shop: "Лента", barcode: "1", points: 5)) }.localID
        // Its response was lost, and another device has pulled and deleted the object.
        desk.remote.next(.loseAnswer)
        try await desk.sync.attemptPush()
        desk.remote.remove("Card", id: ServerID(id.rawValue))
        let result = try await desk.sync.push()
        #expect(result.entries.map(\.outcome.name) == ["conflict"])
        try await desk.sync.keepMine(result.entries[0].id)
        #expect(try await desk.sync.push().isComplete)
        #expect(try desk.isLevel() && desk.card(id)?.points == 5)
    }

    /// Two devices have chosen one key.
    @Test func `two inserts with one key are merged`() async throws {
        let desk = try Desk()
        desk.remote.edit("Card", id: "k") { item in
            item.members = [("shop", .text("Магнит")), ("barcode", .text("9")), ("points", .integer(3))]
        }
        try await desk.store.write { tx in
            try tx.insert(Card(shop: "Лента", barcode: "1", points: 2).identified(by: "k"))
        }
        #expect(try await desk.sync.push().entries.map(\.outcome.name) == ["merged"])
        #expect(try desk.isLevel() && desk.card("k")?.shop == "Лента")
    }

    /// Without versions the last write wins, without a conflict.
    @Test func `a table without versions accepts the last write`() async throws {
        let desk = try Desk(versions: false)
        try desk.sync.table(Card.self).setConflicts(.report)
        let card = try await desk.syncedCard()
        try await edit(desk, card) { $0.points = 2 }
        try editThere(desk, card, "points", .integer(3))
        #expect(try await desk.sync.push().isComplete && desk.isLevel())
        #expect(try desk.served(card.serverID)?[member: "points"] == .integer(2))
        #expect(desk.remote.requests.allSatisfy { $0.version == nil })
    }

    @Test func `a hard delete there conflicts with an edit here`() async throws {
        let desk = try Desk(softDelete: false)
        let card = try await desk.syncedCard()
        try await edit(desk, card) { $0.points = 2 }
        desk.remote.remove("Card", id: try #require(card.serverID))
        #expect(try await desk.sync.push().entries.map(\.outcome.name) == ["conflict"])
        try desk.sync.table(Card.self).setConflicts(.clientWins)
        try await desk.sync.retry(try #require(try desk.operation?.id))
        #expect(try await desk.sync.push().isComplete)
        #expect(try desk.isLevel() && desk.card(card.localID)?.points == 2 && desk.remote.items(in: "Card").count == 1)
    }

    @Test func `the app sees all three sides`() async throws {
        let desk = try Desk()
        let seen = Seen<Conflict<Card>>()
        try desk.sync.table(Card.self).setConflicts(
            .resolve { conflict in
                seen.note(conflict)
                return .merge
            })
        let card = try await desk.syncedCard()
        let person = try await desk.store.write { tx in
            let person = try tx.insert(Person(name: "Анна"))
            try tx.update(Card.self, localID: card.localID) { ($0.points, $0.owner) = (2, person.reference) }
            return person
        }
        try editThere(desk, card, "points", .integer(3))
        #expect(try await desk.sync.push().isComplete)
        let conflict = try #require(seen.all.first)
        #expect(seen.all.count == 1 && conflict.kind == .update && conflict.round == 1)
        #expect(conflict.local?.points == 2 && conflict.server?.points == 3 && conflict.base?.points == 1)
        #expect(conflict.local?.owner?.localID == person.localID && conflict.server?.owner == nil)
        #expect(conflict.local?.shop == "Лента" && conflict.localID == card.localID)
        #expect(conflict.changedHere == ["points", "owner"] && conflict.changedThere == ["points"])
    }

    /// The server's side has a unique value that another local object has.
    @Test func `a conflict with a unique value is left to the user`() async throws {
        let desk = try Desk()
        let card = try await desk.syncedCard("1")
        try await desk.store.write { tx in
            try tx.update(Card.self, localID: card.localID) { $0.points = 2 }
            try tx.insert(Card(shop: "Магнит", barcode: "2"))
        }
        try editThere(desk, card, "barcode", .text("2"))
        let result = try await desk.sync.push()
        #expect(result.entries.map(\.outcome.name) == ["conflict", "done"])
        #expect(try desk.store.checkIntegrity() == [])
    }

    @Test func `a resolution that can't be written is left to the user`() async throws {
        let desk = try Desk()
        let card = try await desk.syncedCard("1")
        try desk.sync.table(Card.self).setConflicts(
            .resolve { conflict in
                guard var card = conflict.local else { return .merge }
                card.barcode = "2"
                return .send(card)
            })
        try await desk.store.write { tx in
            try tx.insert(Card(shop: "Магнит", barcode: "2"))
            try tx.update(Card.self, localID: card.localID) { $0.points = 2 }
        }
        try editThere(desk, card, "points", .integer(3))
        let result = try await desk.sync.push()
        #expect(result.entries.contains { $0.outcome.error?.code == .conflict || $0.outcome.error?.code == .hook })
        #expect(try desk.card(card.localID)?.points == 2 && desk.store.checkIntegrity() == [])
    }

    /// The example of the documentation: one property is corrected, and others' changes of the rest stay.
    @Test func `a resolution by the app keeps others' changes`() async throws {
        let desk = try Desk()
        let card = try await desk.syncedCard()
        try desk.sync.table(Card.self).setConflicts(
            .resolve { conflict in
                guard var card = conflict.local, let theirs = conflict.server else { return .merge }
                card.points = max(card.points, theirs.points)
                return .send(card)
            })
        try await edit(desk, card) { $0.points = 2 }
        try editThere(desk, card, "points", .integer(3))
        try editThere(desk, card, "shop", .text("Магнит"))
        #expect(try await desk.sync.push().isComplete)
        #expect(try desk.isLevel() && desk.card(card.localID)?.shop == "Магнит")
        #expect(try desk.card(card.localID)?.points == 3)
    }

    /// A deleted object is not shown, so the app means all values that it sends.
    @Test func `a resolution for a deleted object is sent as it is`() async throws {
        let desk = try Desk()
        let card = try await desk.syncedCard()
        try desk.sync.table(Card.self).setConflicts(
            .resolve { conflict in conflict.base.map { .send($0) } ?? .merge })
        try await desk.store.write { _ = try $0.delete(Card.self, localID: card.localID) }
        try editThere(desk, card, "shop", .text("Магнит"))
        #expect(try await desk.sync.push().isComplete)
        #expect(try desk.isLevel() && desk.card(card.localID)?.shop == "Лента")
    }

    /// The last write wins there, whether the push finds the other change or a pull has fetched it.
    @Test(arguments: [true, false])
    func `a table without versions has no conflicts after a pull`(deletesHere: Bool) async throws {
        let desk = try Desk(versions: false)
        try desk.sync.table(Card.self).setConflicts(.report)
        let card = try await desk.syncedCard()
        if deletesHere {
            try await desk.store.write { _ = try $0.delete(Card.self, localID: card.localID) }
        } else {
            try await edit(desk, card) { $0.points = 2 }
        }
        try editThere(desk, card, "points", .integer(3))
        try await desk.receiveAll()
        #expect(try await desk.sync.push().isComplete)
        #expect(try desk.isLevel() && desk.card(card.localID)?.points == (deletesHere ? nil : 2))
    }

    /// A newer item arrives while the app decides. The decision does not apply to it.
    @Test func `a deferred item while the app decides stays kept`() async throws {
        let desk = try Desk()
        let card = try await desk.syncedCard()
        try await edit(desk, card) { $0.points = 2 }
        try editThere(desk, card, "points", .integer(3))
        try await desk.receiveAll()
        try desk.sync.table(Card.self).setConflicts(
            .resolve { _ in
                try self.editThere(desk, card, "points", .integer(4))
                try await desk.receiveAll()
                return .takeServers
            })
        #expect(try await desk.sync.push().entries.map(\.outcome.name) == ["tookServers"])
        #expect(try desk.card(card.localID)?.points == 3)
        // The next pull shows it, although the server's token has passed it.
        let kept = try await TandemStore(desk.store).read { local in
            try local.deferredItemsWithoutOperation(in: "Card", after: nil, limit: 9)
        }
        #expect(kept.map(\.serverID) == [card.serverID])
        try await desk.sync.pull(Card.self)
        #expect(try desk.isLevel() && desk.card(card.localID)?.points == 4)
    }

    @Test func `a property's value before the server's was taken is reported`() async throws {
        let desk = try Desk()
        try desk.sync.table(Card.self).setConflicts(.merge(edits: .server))
        let card = try await desk.syncedCard()
        try await edit(desk, card) { ($0.points, $0.nickname) = (2, "н") }
        try editThere(desk, card, "points", .integer(3))
        let entry = try #require(try await desk.sync.push().entries.first)
        #expect(entry.outcome.name == "merged" && entry.lost?.values == ["points": 2])
        #expect(try desk.isLevel() && desk.card(card.localID)?.nickname == "н")
    }
}

/// A recorder of values from closures.
final class Seen<Value: Sendable>: Sendable {
    private let values = Synchronized<[Value]>([])
    var all: [Value] { values.value }
    func note(_ value: Value) { values.change { $0.append(value) } }
}

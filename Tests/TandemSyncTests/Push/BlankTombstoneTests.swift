import DatasyncWire
import Foundation
import HTTPTypes
import Tandem
import TandemServerCore
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A server that stores only the ID and version of a deleted row. Its values after an undelete without values are not a
/// change, and all local values are sent.
@Suite(.ownThreads) struct BlankTombstoneTests {
    /// The server's members in place of the values.
    enum Blank: CaseIterable {
        case nothing, nulls, someNulls

        func apply(to item: inout RemoteItem) {
            switch self {
            case .nothing: item.members = []
            case .nulls: for name in item.members.map(\.key) { item.set(.null, of: name) }
            case .someNulls: for name in ["barcode", "nickname", "owner"] { item.set(.null, of: name) }
            }
        }
    }

    private func fixture() async throws -> (SyncFixture, Card) {
        let fixture = try SyncFixture(undeletesWithValues: false)
        try fixture.sync.table(Card.self).setConflicts(.report)
        let id = try await fixture.store.write { tx in
            let owner = try tx.insert(Person(name: "Анна"))
            return try tx.insert(
                Card(
                    shop: "Лента", barcode: "1", points: 5, nickname: "моя",
                    expires: Date(timeIntervalSince1970: 1_800_000_000), owner: owner.reference))
        }.localID
        try await fixture.sync.push()
        fixture.remote.forgetRequests()
        return (fixture, try #require(try fixture.card(id)))
    }

    /// The same, with the card deleted there, which the device has not pulled.
    private func deleted() async throws -> (SyncFixture, Card, ServerID) {
        let (fixture, card) = try await fixture()
        try await fixture.store.write { _ = try $0.delete(Card.self, localID: card.localID) }
        fixture.remote.next(.loseResponse)
        try await fixture.sync.attemptPush()
        return (fixture, card, try #require(card.serverID))
    }

    /// Returns whether the card has its original values here and on the server.
    private func isWhole(_ fixture: SyncFixture, _ card: Card, points: Int = 5) throws -> Bool {
        guard let now = try fixture.card(card.localID), let there = try fixture.served(card.serverID) else {
            return false
        }
        return try fixture.isLevel() && now.shop == "Лента" && now.barcode == "1" && now.nickname == "моя"
            && now.points == points && now.expires == card.expires && now.owner == card.owner && !there.isDeleted
            && there[member: "owner"] == card.owner.map { .text($0.localID.rawValue) }
            && there[member: "expires"] == .text("2027-01-15T08:00:00.000Z")
    }

    /// Deleted here, and restored here before the response arrives.
    @Test(arguments: Blank.allCases)
    func `all values are sent after an undelete`(blank: Blank) async throws {
        let (fixture, card, serverID) = try await deleted()
        fixture.remote.edit("Card", id: serverID) { blank.apply(to: &$0) }
        try await fixture.store.write { tx in
            try tx.undelete(Card.self, localID: card.localID)
            try tx.update(Card.self, localID: card.localID) { $0.points = 9 }
        }
        let result = try await fixture.sync.push()
        #expect(result.isComplete && result.lostEdits.isEmpty)
        #expect(try isWhole(fixture, card, points: 9))
    }

    /// Deleted by another device, and the user keeps the local object.
    @Test(arguments: Blank.allCases)
    func `all values are sent if the user keeps the object`(blank: Blank) async throws {
        let (fixture, card) = try await fixture()
        let serverID = try #require(card.serverID)
        fixture.remote.remove("Card", id: serverID)
        fixture.remote.edit("Card", id: serverID) { blank.apply(to: &$0) }
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 9 } }
        let result = try await fixture.sync.push()
        #expect(result.entries.map(\.outcome.name) == ["conflict"])
        try await fixture.sync.keepMine(result.entries[0].id)
        #expect(try await fixture.sync.push().isComplete)
        #expect(try isWhole(fixture, card, points: 9))
    }

    /// The undelete arrives and its response is lost. The resulting row is not another client's change.
    @Test(arguments: Blank.allCases, [true, false])
    func `all values are sent after an undelete with a lost response`(blank: Blank, restarts: Bool) async throws {
        let (fixture, card, serverID) = try await deleted()
        fixture.remote.edit("Card", id: serverID) { blank.apply(to: &$0) }
        try await fixture.store.write { _ = try $0.undelete(Card.self, localID: card.localID) }
        // The first undelete conflicts with the tombstone's version, the second one is executed.
        fixture.remote.next(.meanwhile {}, on: .undelete)
        fixture.remote.next(.loseResponse, on: .undelete)
        try await fixture.sync.attemptPush()
        #expect(try fixture.served(serverID)?.isDeleted == false)
        var context = fixture.sync
        if restarts {
            context = try fixture.restarted()
            try context.table(Card.self).setConflicts(.report)
        }
        let result = try await context.push()
        #expect(result.isComplete && result.lostEdits.isEmpty, "\(result.entries)")
        #expect(try isWhole(fixture, card))
    }

    /// The undelete arrives, its response is lost, and the object is deleted again. This is not a conflict, and the
    /// object is removed.
    @Test(arguments: Blank.allCases, [true, false])
    func `a delete after a lost undelete removes the object`(blank: Blank, arrives: Bool) async throws {
        let (fixture, card, serverID) = try await deleted()
        fixture.remote.edit("Card", id: serverID) { blank.apply(to: &$0) }
        try await fixture.store.write { _ = try $0.undelete(Card.self, localID: card.localID) }
        // The first undelete conflicts with the tombstone's version.
        fixture.remote.next(.meanwhile {}, on: .undelete)
        fixture.remote.next(arrives ? .loseResponse : .loseRequest, on: .undelete)
        try await fixture.sync.attemptPush()
        #expect(try fixture.served(serverID)?.isDeleted == !arrives)
        try await fixture.store.write { _ = try $0.delete(Card.self, localID: card.localID) }
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel() && fixture.remote.items(in: "Card").isEmpty)
    }

    /// A server that stores the values of deleted rows: others' changes before the delete stay.
    @Test func `others' changes before a delete stay if the server stores the values`() async throws {
        let (fixture, card) = try await fixture()
        let serverID = try #require(card.serverID)
        fixture.remote.edit("Card", id: serverID) { item in
            item.set(.text("Дикси"), of: "shop")
            item.set(.null, of: "nickname")
        }
        fixture.remote.remove("Card", id: serverID)
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 9 } }
        try await fixture.sync.keepMine(try await fixture.sync.push().entries[0].id)
        #expect(try await fixture.sync.push().isComplete)
        let now = try #require(try fixture.card(card.localID))
        #expect(try now.points == 9 && now.shop == "Дикси" && now.nickname == nil && fixture.isLevel())
    }

    /// A limit: other values that replace deleted ones can't be distinguished from others' changes.
    @Test func `replaced values of a deleted row count as others' changes`() async throws {
        let (fixture, card, serverID) = try await deleted()
        fixture.remote.edit("Card", id: serverID) { $0.set(.text(""), of: "shop") }
        try await fixture.store.write { _ = try $0.undelete(Card.self, localID: card.localID) }
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.card(card.localID)?.shop == "" && fixture.isLevel())
    }

    /// The undelete's result equals the local values, so nothing is sent.
    @Test func `values that the server already has are not sent again`() async throws {
        let (fixture, card, _) = try await deleted()
        try await fixture.store.write { _ = try $0.undelete(Card.self, localID: card.localID) }
        #expect(try await fixture.sync.push().isComplete)
        #expect(!fixture.asked.contains(.update))
        #expect(try isWhole(fixture, card))
    }

    /// Creates a world with the server's production logic, in each dialect.
    private func world(_ dialect: Dialect) throws -> SyncWorld {
        try SyncWorld(dialect) { configuration in
            configuration.hooks.beforeCommit = { if $0.kind == .delete { $0.members = JSONObject() } }
        }
    }

    @Test(arguments: Dialect.both, [ServerFault.lostResponse, .lostRequest])
    func `an undelete reaches a server that clears deleted rows`(dialect: Dialect, fault: ServerFault) async throws {
        let world = try world(dialect)
        let (store, sync) = try world.device()
        let id = try await store.write { tx in
            try tx.insert(Card(shop: "Лента", barcode: "1", points: 1, nickname: "моя"))
        }.localID
        try await sync.push()
        try await store.write { _ = try $0.delete(Card.self, localID: id) }
        world.next(.delete, fault)
        try await sync.attemptPush()
        try await store.write { _ = try $0.undelete(Card.self, localID: id) }
        #expect(try await sync.push().isComplete)
        #expect(try world.texts("card", "shop") == ["Лента"] && world.texts("card", "nickname") == ["моя"])
        let card = try #require(try store.object(ofType: Card.self, forPrimaryKey: id))
        #expect(try card.isSynced && card.nickname == "моя" && world.live("card").map(\.version) == [card.version])
        // Another device pulls the whole object.
        let (other, otherSync) = try world.device()
        #expect(try await otherSync.pull(Card.self).inserted == 1)
        #expect(try await other.objects(Card.self).all().map(\.barcode) == ["1"])
    }

    @Test(arguments: Dialect.both)
    func `a remote table restores all values with an undelete`(dialect: Dialect) async throws {
        let world = try world(dialect)
        let cards = try world.device().1.remoteTable(Card.self)
        let card = try await cards.insert(Card(shop: "Лента", barcode: "1", points: 3, nickname: "моя"))
        try await cards.delete(card)
        let back = try await cards.undelete(card)
        #expect(back.shop == "Лента" && back.points == 3 && back.nickname == "моя")
        #expect(try world.texts("card", "nickname") == ["моя"])
    }
}

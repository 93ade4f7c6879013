import DatasyncWire
import Foundation
import HTTPTypes
import Tandem
import TandemServerCore
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A server that keeps no more of a deleted row than its ID and version: what it has after an undelete without values is
/// nobody's change, and all that is here follows.
@Suite(.ownThreads) struct BlankTombstoneTests {
    /// What such a server has in the place of the values.
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

    private func desk() async throws -> (Desk, Card) {
        let desk = try Desk(undeletesWithValues: false)
        try desk.sync.table(Card.self).setConflicts(.report)
        let id = try await desk.store.write { tx in
            let owner = try tx.insert(Person(name: "Анна"))
            return try tx.insert(
                Card(
                    shop: "Лента", barcode: "1", points: 5, nickname: "моя",
                    expires: Date(timeIntervalSince1970: 1_800_000_000), owner: owner.reference))
        }.localID
        try await desk.sync.push()
        desk.remote.forgetRequests()
        return (desk, try #require(try desk.card(id)))
    }

    /// The same, with the card deleted there, which the desk has not heard.
    private func deleted() async throws -> (Desk, Card, ServerID) {
        let (desk, card) = try await desk()
        try await desk.store.write { _ = try $0.delete(Card.self, card.localID) }
        desk.remote.next(.loseAnswer)
        try await desk.sync.attemptPush()
        return (desk, card, try #require(card.serverID))
    }

    /// Here and there it is what it was.
    private func isWhole(_ desk: Desk, _ card: Card, points: Int = 5) throws -> Bool {
        guard let now = try desk.card(card.localID), let there = try desk.served(card.serverID) else { return false }
        return try desk.isLevel() && now.shop == "Лента" && now.barcode == "1" && now.nickname == "моя"
            && now.points == points && now.expires == card.expires && now.owner == card.owner && !there.isDeleted
            && there[member: "owner"] == card.owner.map { .text($0.localID.rawValue) }
            && there[member: "expires"] == .text("2027-01-15T08:00:00.000Z")
    }

    /// Deleted here, and brought back here before its answer came.
    @Test(arguments: Blank.allCases)
    func allOfWhatComesBackFollows(blank: Blank) async throws {
        let (desk, card, serverID) = try await deleted()
        desk.remote.edit("Card", serverID) { blank.apply(to: &$0) }
        try await desk.store.write { tx in
            try tx.undelete(Card.self, card.localID)
            try tx.update(Card.self, card.localID) { $0.points = 9 }
        }
        let result = try await desk.sync.push()
        #expect(result.isComplete && result.lostEdits.isEmpty)
        #expect(try isWhole(desk, card, points: 9))
    }

    /// Deleted by another device, and the user keeps what is here.
    @Test(arguments: Blank.allCases)
    func whatTheUserKeepsFollows(blank: Blank) async throws {
        let (desk, card) = try await desk()
        let serverID = try #require(card.serverID)
        desk.remote.remove("Card", serverID)
        desk.remote.edit("Card", serverID) { blank.apply(to: &$0) }
        try await desk.store.write { _ = try $0.update(Card.self, card.localID) { $0.points = 9 } }
        let result = try await desk.sync.push()
        #expect(result.entries.map(\.outcome.name) == ["conflict"])
        try await desk.sync.keepMine(result.entries[0].id)
        #expect(try await desk.sync.push().isComplete)
        #expect(try isWhole(desk, card, points: 9))
    }

    /// The undelete arrives and its answer does not: what it has left is no change of anybody else's.
    @Test(arguments: Blank.allCases, [true, false])
    func allFollowsAfterALostUndelete(blank: Blank, restarts: Bool) async throws {
        let (desk, card, serverID) = try await deleted()
        desk.remote.edit("Card", serverID) { blank.apply(to: &$0) }
        try await desk.store.write { _ = try $0.undelete(Card.self, card.localID) }
        // The first one meets the tombstone's version, the second one is carried out.
        desk.remote.next(.meanwhile {}, on: .undelete)
        desk.remote.next(.loseAnswer, on: .undelete)
        try await desk.sync.attemptPush()
        #expect(try desk.served(serverID)?.isDeleted == false)
        var context = desk.sync
        if restarts {
            context = try desk.restarted()
            try context.table(Card.self).setConflicts(.report)
        }
        let result = try await context.push()
        #expect(result.isComplete && result.lostEdits.isEmpty, "\(result.entries)")
        #expect(try isWhole(desk, card))
    }

    /// The undelete arrives, its answer does not, and the object is deleted again: it is no conflict, and it goes.
    @Test(arguments: Blank.allCases, [true, false])
    func whatIsDeletedAfterALostUndeleteGoes(blank: Blank, arrives: Bool) async throws {
        let (desk, card, serverID) = try await deleted()
        desk.remote.edit("Card", serverID) { blank.apply(to: &$0) }
        try await desk.store.write { _ = try $0.undelete(Card.self, card.localID) }
        // The first one meets the tombstone's version.
        desk.remote.next(.meanwhile {}, on: .undelete)
        desk.remote.next(arrives ? .loseAnswer : .loseRequest, on: .undelete)
        try await desk.sync.attemptPush()
        #expect(try desk.served(serverID)?.isDeleted == !arrives)
        try await desk.store.write { _ = try $0.delete(Card.self, card.localID) }
        #expect(try await desk.sync.push().isComplete)
        #expect(try desk.isLevel() && desk.remote.items(in: "Card").isEmpty)
    }

    /// A server that keeps the values of what it deletes: what others had changed before they deleted it stands.
    @Test func whatWasKeptOfOthersChangesStands() async throws {
        let (desk, card) = try await desk()
        let serverID = try #require(card.serverID)
        desk.remote.edit("Card", serverID) { item in
            item.set(.text("Дикси"), of: "shop")
            item.set(.null, of: "nickname")
        }
        desk.remote.remove("Card", serverID)
        try await desk.store.write { _ = try $0.update(Card.self, card.localID) { $0.points = 9 } }
        try await desk.sync.keepMine(try await desk.sync.push().entries[0].id)
        #expect(try await desk.sync.push().isComplete)
        let now = try #require(try desk.card(card.localID))
        #expect(try now.points == 9 && now.shop == "Дикси" && now.nickname == nil && desk.isLevel())
    }

    /// A limit: other values in the place of those that were deleted can't be told from others' changes.
    @Test func whatWasPutInThePlaceOfValuesStands() async throws {
        let (desk, card, serverID) = try await deleted()
        desk.remote.edit("Card", serverID) { $0.set(.text(""), of: "shop") }
        try await desk.store.write { _ = try $0.undelete(Card.self, card.localID) }
        #expect(try await desk.sync.push().isComplete)
        #expect(try desk.card(card.localID)?.shop == "" && desk.isLevel())
    }

    /// What the undelete has left is as it is here: nothing is sent for nothing.
    @Test func whatIsThereIsNotSentAgain() async throws {
        let (desk, card, _) = try await deleted()
        try await desk.store.write { _ = try $0.undelete(Card.self, card.localID) }
        #expect(try await desk.sync.push().isComplete)
        #expect(!desk.asked.contains(.update))
        #expect(try isWhole(desk, card))
    }

    /// The server's real logic, in each tongue.
    private func world(_ dialect: Dialect) throws -> SyncWorld {
        try SyncWorld(dialect) { configuration in
            configuration.hooks.beforeCommit = { if $0.kind == .delete { $0.members = JSONObject() } }
        }
    }

    @Test(arguments: Dialect.both, [ServerFault.lostAnswer, .lostRequest])
    func anUndeleteReachesAServerThatBlanks(dialect: Dialect, fault: ServerFault) async throws {
        let world = try world(dialect)
        let (store, sync) = try world.device()
        let id = try await store.write { tx in
            try tx.insert(Card(shop: "Лента", barcode: "1", points: 1, nickname: "моя"))
        }.localID
        try await sync.push()
        try await store.write { _ = try $0.delete(Card.self, id) }
        world.next(.delete, fault)
        try await sync.attemptPush()
        try await store.write { _ = try $0.undelete(Card.self, id) }
        #expect(try await sync.push().isComplete)
        #expect(try world.texts("card", "shop") == ["Лента"] && world.texts("card", "nickname") == ["моя"])
        let card = try #require(try store.object(ofType: Card.self, forPrimaryKey: id))
        #expect(try card.isSynced && card.nickname == "моя" && world.live("card").map(\.version) == [card.version])
        // Another device gets it whole.
        let (other, otherSync) = try world.device()
        #expect(try await otherSync.pull(Card.self).inserted == 1)
        #expect(try await other.objects(Card.self).all().map(\.barcode) == ["1"])
    }

    @Test(arguments: Dialect.both)
    func aRemoteTableBringsAllBack(dialect: Dialect) async throws {
        let world = try world(dialect)
        let cards = try world.device().1.remoteTable(Card.self)
        let card = try await cards.insert(Card(shop: "Лента", barcode: "1", points: 3, nickname: "моя"))
        try await cards.delete(card)
        let back = try await cards.undelete(card)
        #expect(back.shop == "Лента" && back.points == 3 && back.nickname == "моя")
        #expect(try world.texts("card", "nickname") == ["моя"])
    }
}

import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The user's choices for single properties of a conflict.
@Suite(.ownThreads) struct PropertyChoiceTests {
    /// Creates a conflict that waits for the user. The base is Лента with 1 point and without a nickname.
    private func conflict(
        here: (inout Card) -> Void, there: (inout RemoteItem) -> Void
    ) async throws -> (SyncFixture, Card, PendingOperation.Version) {
        let fixture = try SyncFixture()
        try fixture.sync.table(Card.self).setConflicts(.report)
        let card = try await fixture.syncedCard()
        var edited = card
        here(&edited)
        try await fixture.store.write { [edited] tx in
            _ = try tx.update(Card.self, localID: card.localID) { card in
                if card.shop != edited.shop { card.shop = edited.shop }
                if card.points != edited.points { card.points = edited.points }
                if card.nickname != edited.nickname { card.nickname = edited.nickname }
            }
        }
        fixture.remote.edit("Card", id: try #require(card.serverID), change: there)
        let failed = try await fixture.sync.push().failedOperations
        #expect(failed.count == 1)
        fixture.remote.forgetRequests()
        return (fixture, card, try #require(failed.first).version)
    }

    private func points() async throws -> (SyncFixture, Card, PendingOperation.Version) {
        try await conflict(here: { $0.points = 2 }, there: { $0.set(.integer(3), of: "points") })
    }

    @Test(arguments: PropertyChoice.allCases)
    func `a property that both sides changed gets the chosen value on both`(choice: PropertyChoice) async throws {
        let (fixture, card, shown) = try await points()
        try await fixture.sync.resolve(shown, choosing: ["points": choice])
        #expect(fixture.asked.isEmpty)
        let expected = [PropertyChoice.local: 2, .server: 3, .base: 1][choice]
        #expect(try fixture.card(card.localID)?.points == expected)
        #expect(try fixture.store.operations.count() == (choice == .server ? 0 : 1))
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel() && fixture.card(card.localID)?.points == expected)
    }

    @Test func `each property has a choice of its own`() async throws {
        let (fixture, card, shown) = try await conflict(
            here: {
                $0.points = 2
                $0.nickname = "у дома"
            },
            there: {
                $0.set(.integer(3), of: "points")
                $0.set(.text("Магнит"), of: "shop")
            })
        try await fixture.sync.resolve(shown, choosing: ["points": .server, "shop": .local, "nickname": .base])
        #expect(try await fixture.sync.push().isComplete && fixture.isLevel())
        let result = try #require(try fixture.card(card.localID))
        #expect(result.points == 3 && result.shop == "Лента" && result.nickname == nil)
        #expect(try fixture.served(card.serverID)?[member: "shop"] == .text("Лента"))
    }

    @Test func `properties without a choice are merged`() async throws {
        let (fixture, card, shown) = try await conflict(
            here: {
                $0.points = 2
                $0.nickname = "у дома"
            },
            there: {
                $0.set(.integer(3), of: "points")
                $0.set(.text("Магнит"), of: "shop")
            })
        try await fixture.sync.resolve(shown, choosing: ["points": .base])
        #expect(try await fixture.sync.push().isComplete && fixture.isLevel())
        let result = try #require(try fixture.card(card.localID))
        #expect(result.points == 1 && result.shop == "Магнит" && result.nickname == "у дома")
    }

    @Test func `a choice on an outdated version, or of an unknown property, changes nothing`() async throws {
        let (fixture, card, shown) = try await points()
        let before = try fixture.store.operations.all()
        for name in ["price", "note"] {
            await #expect {
                try await fixture.sync.resolve(shown, choosing: ["points": .server, name: .local])
            } throws: {
                ($0 as? TandemError)?.code == .invalidValue
            }
        }
        #expect(try fixture.store.operations.all() == before)
        try await fixture.store.write { tx in
            _ = try tx.update(Card.self, localID: card.localID) { $0.nickname = "у дома" }
        }
        await #expect {
            try await fixture.sync.resolve(shown, choosing: ["points": .server])
        } throws: {
            ($0 as? TandemError)?.code == .staleOperation
        }
        #expect(try fixture.card(card.localID)?.points == 2)
    }

    @Test func `a result that another object's unique value denies changes nothing`() async throws {
        let (fixture, card, shown) = try await conflict(
            here: { $0.points = 2 },
            there: {
                $0.set(.integer(3), of: "points")
                $0.set(.text("2"), of: "barcode")
            })
        try await fixture.store.write { _ = try $0.insert(Card(shop: "Магнит", barcode: "2")) }
        let before = try fixture.store.operations.all()
        await #expect {
            try await fixture.sync.resolve(shown, choosing: ["points": .server])
        } throws: {
            ($0 as? TandemError)?.code == .duplicateValue
        }
        #expect(try fixture.store.operations.all() == before && fixture.card(card.localID)?.points == 2)
    }

    @Test func `an object that one side has deleted has no choices by property`() async throws {
        let fixture = try SyncFixture()
        try fixture.sync.table(Card.self).setConflicts(.report)
        let card = try await fixture.syncedCard()
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        fixture.remote.remove("Card", id: try #require(card.serverID))
        let shown = try #require(try await fixture.sync.push().failedOperations.first).version
        await #expect {
            try await fixture.sync.resolve(shown, choosing: ["points": .local])
        } throws: {
            ($0 as? TandemError)?.code == .objectDeleted
        }
    }

    @Test func `a rejected change has no choices by property, as the server's values are not known`() async throws {
        let fixture = try SyncFixture()
        let card = try await fixture.syncedCard()
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        fixture.remote.next(.fail(.refused(status: 400, message: "no")))
        let shown = try #require(try await fixture.sync.push().failedOperations.first).version
        await #expect {
            try await fixture.sync.resolve(shown, choosing: ["points": .server])
        } throws: {
            ($0 as? TandemError)?.code == .notFound
        }
        #expect(try fixture.card(card.localID)?.points == 2)
    }
}

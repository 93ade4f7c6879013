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
    ) async throws -> (Desk, Card, PendingOperation.Version) {
        let desk = try Desk()
        try desk.sync.table(Card.self).setConflicts(.report)
        let card = try await desk.syncedCard()
        var edited = card
        here(&edited)
        try await desk.store.write { [edited] tx in
            _ = try tx.update(Card.self, localID: card.localID) { card in
                if card.shop != edited.shop { card.shop = edited.shop }
                if card.points != edited.points { card.points = edited.points }
                if card.nickname != edited.nickname { card.nickname = edited.nickname }
            }
        }
        desk.remote.edit("Card", id: try #require(card.serverID), there)
        let failed = try await desk.sync.push().failedOperations
        #expect(failed.count == 1)
        desk.remote.forgetRequests()
        return (desk, card, try #require(failed.first).version)
    }

    private func points() async throws -> (Desk, Card, PendingOperation.Version) {
        try await conflict(here: { $0.points = 2 }, there: { $0.set(.integer(3), of: "points") })
    }

    @Test(arguments: PropertyChoice.allCases)
    func `a property that both sides changed gets the chosen value on both`(choice: PropertyChoice) async throws {
        let (desk, card, shown) = try await points()
        try await desk.sync.resolve(shown, choosing: ["points": choice])
        #expect(desk.asked.isEmpty)
        let expected = [PropertyChoice.local: 2, .server: 3, .base: 1][choice]
        #expect(try desk.card(card.localID)?.points == expected)
        #expect(try desk.store.operations.count() == (choice == .server ? 0 : 1))
        #expect(try await desk.sync.push().isComplete)
        #expect(try desk.isLevel() && desk.card(card.localID)?.points == expected)
    }

    @Test func `each property has a choice of its own`() async throws {
        let (desk, card, shown) = try await conflict(
            here: {
                $0.points = 2
                $0.nickname = "у дома"
            },
            there: {
                $0.set(.integer(3), of: "points")
                $0.set(.text("Магнит"), of: "shop")
            })
        try await desk.sync.resolve(shown, choosing: ["points": .server, "shop": .local, "nickname": .base])
        #expect(try await desk.sync.push().isComplete && desk.isLevel())
        let result = try #require(try desk.card(card.localID))
        #expect(result.points == 3 && result.shop == "Лента" && result.nickname == nil)
        #expect(try desk.served(card.serverID)?[member: "shop"] == .text("Лента"))
    }

    @Test func `properties without a choice are merged`() async throws {
        let (desk, card, shown) = try await conflict(
            here: {
                $0.points = 2
                $0.nickname = "у дома"
            },
            there: {
                $0.set(.integer(3), of: "points")
                $0.set(.text("Магнит"), of: "shop")
            })
        try await desk.sync.resolve(shown, choosing: ["points": .base])
        #expect(try await desk.sync.push().isComplete && desk.isLevel())
        let result = try #require(try desk.card(card.localID))
        #expect(result.points == 1 && result.shop == "Магнит" && result.nickname == "у дома")
    }

    @Test func `a choice on an outdated version, or of an unknown property, changes nothing`() async throws {
        let (desk, card, shown) = try await points()
        let before = try desk.store.operations.all()
        for name in ["price", "note"] {
            await #expect {
                try await desk.sync.resolve(shown, choosing: ["points": .server, name: .local])
            } throws: {
                ($0 as? TandemError)?.code == .invalidValue
            }
        }
        #expect(try desk.store.operations.all() == before)
        try await desk.store.write { tx in
            _ = try tx.update(Card.self, localID: card.localID) { $0.nickname = "у дома" }
        }
        await #expect {
            try await desk.sync.resolve(shown, choosing: ["points": .server])
        } throws: {
            ($0 as? TandemError)?.code == .staleOperation
        }
        #expect(try desk.card(card.localID)?.points == 2)
    }

    @Test func `a result that another object's unique value denies changes nothing`() async throws {
        let (desk, card, shown) = try await conflict(
            here: { $0.points = 2 },
            there: {
                $0.set(.integer(3), of: "points")
                $0.set(.text("2"), of: "barcode")
            })
        try await desk.store.write { _ = try $0.insert(Card(shop: "Магнит", barcode: "2")) }
        let before = try desk.store.operations.all()
        await #expect {
            try await desk.sync.resolve(shown, choosing: ["points": .server])
        } throws: {
            ($0 as? TandemError)?.code == .duplicateValue
        }
        #expect(try desk.store.operations.all() == before && desk.card(card.localID)?.points == 2)
    }

    @Test func `an object that one side has deleted has no choices by property`() async throws {
        let desk = try Desk()
        try desk.sync.table(Card.self).setConflicts(.report)
        let card = try await desk.syncedCard()
        try await desk.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        desk.remote.remove("Card", id: try #require(card.serverID))
        let shown = try #require(try await desk.sync.push().failedOperations.first).version
        await #expect {
            try await desk.sync.resolve(shown, choosing: ["points": .local])
        } throws: {
            ($0 as? TandemError)?.code == .objectDeleted
        }
    }

    @Test func `a rejected change has no choices by property, as the server's values are not known`() async throws {
        let desk = try Desk()
        let card = try await desk.syncedCard()
        try await desk.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        desk.remote.next(.fail(.refused(status: 400, message: "no")))
        let shown = try #require(try await desk.sync.push().failedOperations.first).version
        await #expect {
            try await desk.sync.resolve(shown, choosing: ["points": .server])
        } throws: {
            ($0 as? TandemError)?.code == .notFound
        }
        #expect(try desk.card(card.localID)?.points == 2)
    }
}

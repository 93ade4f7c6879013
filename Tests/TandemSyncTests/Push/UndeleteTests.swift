import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// An object that is deleted here, and restored before the server has acknowledged the delete.
@Suite(.ownThreads) struct UndeleteTests {
    /// All values are sent again, because the delete may have arrived. If it has not, they are not our changes.
    @Test(arguments: [true, false])
    func `an undelete does not overwrite others' changes`(takesValues: Bool) async throws {
        let fixture = try SyncFixture(undeletesWithValues: takesValues)
        try fixture.sync.table(Card.self).setConflicts(.clientWins)
        let card = try await fixture.syncedCard()
        try await fixture.store.write { try $0.delete(Card.self, localID: card.localID) }
        fixture.remote.next(.loseRequest)
        try await fixture.sync.attemptPush()
        fixture.remote.edit("Card", id: try #require(card.serverID)) { $0.set(.integer(7), of: "points") }
        try await fixture.store.write { _ = try $0.undelete(Card.self, localID: card.localID) }
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.served(card.serverID)?[member: "points"] == .integer(7))
        #expect(try fixture.isLevel() && fixture.card(card.localID)?.points == 7)
    }

    /// A property that an earlier attempt sent, and that was reverted since, is a change.
    @Test func `a sent and reverted value is sent`() async throws {
        let fixture = try SyncFixture()
        let card = try await fixture.syncedCard()
        try await fixture.store.write { try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        fixture.remote.next(.loseResponse)
        try await fixture.sync.attemptPush()
        try await fixture.store.write { try $0.update(Card.self, localID: card.localID) { $0.points = 1 } }
        fixture.remote.edit("Card", id: try #require(card.serverID)) { $0.set(.text("Дикси"), of: "shop") }
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel() && fixture.card(card.localID)?.points == 1)
    }

    /// The delete conflicted with others' changes, and did not arrive the next time.
    @Test func `an edit before a delete is restored with the object`() async throws {
        let fixture = try SyncFixture()
        try fixture.sync.table(Card.self).setConflicts(.clientWins)
        let card = try await fixture.syncedCard()
        try await fixture.store.write { try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        try await fixture.store.write { try $0.delete(Card.self, localID: card.localID) }
        fixture.remote.edit("Card", id: try #require(card.serverID)) { $0.set(.text("Дикси"), of: "shop") }
        let (remote, refusals) = (fixture.remote, Counter())
        remote.next(.meanwhile { if refusals.next() == 1 { remote.next(.loseRequest) } })
        try await fixture.sync.attemptPush()
        #expect(fixture.asked == [.delete, .delete])
        try await fixture.store.write { _ = try $0.undelete(Card.self, localID: card.localID) }
        #expect(try fixture.card(card.localID)?.points == 2 && fixture.card(card.localID)?.shop == "Дикси")
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel() && fixture.card(card.localID)?.points == 2)
    }

    /// The server's response to the delete is not our change when the object is restored.
    @Test func `a restored delete without an earlier edit takes the server's values`() async throws {
        let fixture = try SyncFixture()
        try fixture.sync.table(Card.self).setConflicts(.clientWins)
        let card = try await fixture.syncedCard()
        try await fixture.store.write { try $0.delete(Card.self, localID: card.localID) }
        fixture.remote.edit("Card", id: try #require(card.serverID)) { $0.set(.text("Дикси"), of: "shop") }
        let (remote, refusals) = (fixture.remote, Counter())
        remote.next(.meanwhile { if refusals.next() == 1 { remote.next(.loseRequest) } })
        try await fixture.sync.attemptPush()
        try await fixture.store.write { _ = try $0.undelete(Card.self, localID: card.localID) }
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel() && fixture.card(card.localID)?.shop == "Дикси")
    }
}

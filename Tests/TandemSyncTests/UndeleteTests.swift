import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// What becomes of an object that is deleted here, and brought back before the server has taken the delete.
@Suite(.ownThreads) struct UndeleteTests {
    /// All of it is sent again, as the delete may have arrived; where it has not, that is no change of ours.
    @Test(arguments: [true, false])
    func anUndeleteDoesNotWriteOverWhatOthersHaveChanged(takesValues: Bool) async throws {
        let desk = try Desk(undeletesWithValues: takesValues)
        try desk.sync.table(Card.self).setConflicts(.clientWins)
        let card = try await desk.syncedCard()
        try await desk.store.write { try $0.delete(Card.self, card.localID) }
        desk.remote.next(.loseRequest)
        try await desk.sync.attemptPush()
        desk.remote.edit("Card", try #require(card.serverID)) { $0.set(.integer(7), of: "points") }
        try await desk.store.write { _ = try $0.undelete(Card.self, card.localID) }
        #expect(try await desk.sync.push().isComplete)
        #expect(try desk.served(card.serverID)?[member: "points"] == .integer(7))
        #expect(try desk.isLevel() && desk.card(card.localID)?.points == 7)
    }

    /// The same for a property that was sent by an earlier attempt, and edited back since: that is a change.
    @Test func whatWasSentAndEditedBackIsSent() async throws {
        let desk = try Desk()
        let card = try await desk.syncedCard()
        try await desk.store.write { try $0.update(Card.self, card.localID) { $0.points = 2 } }
        desk.remote.next(.loseAnswer)
        try await desk.sync.attemptPush()
        try await desk.store.write { try $0.update(Card.self, card.localID) { $0.points = 1 } }
        desk.remote.edit("Card", try #require(card.serverID)) { $0.set(.text("Дикси"), of: "shop") }
        #expect(try await desk.sync.push().isComplete)
        #expect(try desk.isLevel() && desk.card(card.localID)?.points == 1)
    }

    /// The delete has met what others made of the object, and did not arrive the next time.
    @Test func anEditBeforeADeleteComesBackWithTheObject() async throws {
        let desk = try Desk()
        try desk.sync.table(Card.self).setConflicts(.clientWins)
        let card = try await desk.syncedCard()
        try await desk.store.write { try $0.update(Card.self, card.localID) { $0.points = 2 } }
        try await desk.store.write { try $0.delete(Card.self, card.localID) }
        desk.remote.edit("Card", try #require(card.serverID)) { $0.set(.text("Дикси"), of: "shop") }
        let (remote, refusals) = (desk.remote, Counter())
        remote.next(.meanwhile { if refusals.next() == 1 { remote.next(.loseRequest) } })
        try await desk.sync.attemptPush()
        #expect(desk.asked == [.delete, .delete])
        try await desk.store.write { _ = try $0.undelete(Card.self, card.localID) }
        #expect(try desk.card(card.localID)?.points == 2 && desk.card(card.localID)?.shop == "Дикси")
        #expect(try await desk.sync.push().isComplete)
        #expect(try desk.isLevel() && desk.card(card.localID)?.points == 2)
    }

    /// What the server has answered to the delete is no change of ours when the object comes back.
    @Test func aDeleteThatReplacedNothingComesBackAsTheServerHasIt() async throws {
        let desk = try Desk()
        try desk.sync.table(Card.self).setConflicts(.clientWins)
        let card = try await desk.syncedCard()
        try await desk.store.write { try $0.delete(Card.self, card.localID) }
        desk.remote.edit("Card", try #require(card.serverID)) { $0.set(.text("Дикси"), of: "shop") }
        let (remote, refusals) = (desk.remote, Counter())
        remote.next(.meanwhile { if refusals.next() == 1 { remote.next(.loseRequest) } })
        try await desk.sync.attemptPush()
        try await desk.store.write { _ = try $0.undelete(Card.self, card.localID) }
        #expect(try await desk.sync.push().isComplete)
        #expect(try desk.isLevel() && desk.card(card.localID)?.shop == "Дикси")
    }
}

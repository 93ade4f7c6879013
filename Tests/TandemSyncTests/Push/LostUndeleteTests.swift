import DatasyncWire
import Foundation
import HTTPTypes
import Tandem
import TandemServerCore
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// An object that was deleted, restored and deleted again, while the server's response to the undelete was lost.
@Suite(.ownThreads) struct LostUndeleteTests {
    /// Returns the card. Nothing was sent since the undelete.
    private func lost(_ fixture: SyncFixture, arrives: Bool) async throws -> Card {
        // Any change that counts as another client's becomes a conflict.
        try fixture.sync.table(Card.self).setConflicts(.report)
        let card = try await fixture.syncedCard()
        try await fixture.store.write { try $0.delete(Card.self, localID: card.localID) }
        fixture.remote.next(.loseResponse)
        try await fixture.sync.attemptPush()
        try await fixture.store.write { tx in
            try tx.undelete(Card.self, localID: card.localID)
            try tx.update(Card.self, localID: card.localID) { $0.points = 2 }
        }
        // The first undelete has the version before the delete, and is rejected.
        fixture.remote.next(.meanwhile {}, on: .undelete)
        fixture.remote.next(arrives ? .loseResponse : .loseRequest, on: .undelete)
        try await fixture.sync.attemptPush()
        #expect(try fixture.served(card.serverID)?.isDeleted == !arrives)
        try await fixture.store.write { try $0.delete(Card.self, localID: card.localID) }
        fixture.remote.forgetRequests()
        return card
    }

    @Test(arguments: [true, false], [true, false])
    func `a delete after an undelete without a response removes the object`(
        arrives: Bool, takesValues: Bool
    ) async throws {
        let fixture = try SyncFixture(undeletesWithValues: takesValues)
        _ = try await lost(fixture, arrives: arrives)
        #expect(try await fixture.sync.push().isComplete)
        #expect(fixture.asked == (arrives ? [.delete, .delete] : [.delete]))
        #expect(try fixture.isLevel() && fixture.remote.items(in: "Card").isEmpty)
    }

    @Test(arguments: [true, false])
    func `a delete after an undelete without a response conflicts with another client's edit`(
        takesValues: Bool
    ) async throws {
        let fixture = try SyncFixture(undeletesWithValues: takesValues)
        let card = try await lost(fixture, arrives: true)
        fixture.remote.edit("Card", id: try #require(card.serverID)) { $0.set(.text("н"), of: "nickname") }
        #expect(try await fixture.sync.push().entries.map(\.outcome.name) == ["conflict"])
        #expect(try fixture.served(card.serverID)?.isDeleted == false)
    }

    @Test func `a delete after a delete without a response is one request`() async throws {
        let fixture = try SyncFixture()
        let card = try await fixture.syncedCard()
        try await fixture.store.write { try $0.delete(Card.self, localID: card.localID) }
        fixture.remote.next(.loseResponse)
        try await fixture.sync.attemptPush()
        #expect(try await fixture.sync.push().isComplete && fixture.asked == [.delete, .delete])
        #expect(try fixture.isLevel() && fixture.remote.items(in: "Card").isEmpty)
    }

    @Test(arguments: Dialect.both)
    func `a delete after an undelete without a response removes the row in each dialect`(
        dialect: Dialect
    ) async throws {
        let world = try SyncWorld(dialect)
        let (store, sync) = try world.device()
        try sync.table(Card.self).setConflicts(.report)
        let id = try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1", points: 1)) }.localID
        try await sync.push()
        try await store.write { _ = try $0.delete(Card.self, localID: id) }
        world.next(.delete, .lostResponse)
        try await sync.attemptPush()
        try await store.write { _ = try $0.undelete(Card.self, localID: id) }
        let undeletes = Counter()
        world.next { Self.isUndelete($0) && undeletes.next() == 2 ? [.lostResponse] : [] }
        try await sync.attemptPush()
        #expect(try world.live("card").count == 1)
        try await store.write { _ = try $0.delete(Card.self, localID: id) }
        #expect(try await sync.push().isComplete && store.operations.count() == 0)
        #expect(try world.live("card").isEmpty && store.checkIntegrity() == [])
    }

    private static func isUndelete(_ request: HTTPRequest) -> Bool {
        let path = request.path ?? ""
        return request.method == .put && path.contains("__includedeleted=true")
            || request.method == .post && path.split(separator: "/").count == 3
    }
}

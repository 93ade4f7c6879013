import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A server whose inserts restore deleted items. A repeated insert must not undo a delete by another device.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct RestoringServerTests {
    /// Returns a device whose insert was carried out, and whose response was lost.
    private func insertedWithoutResponse(_ fault: RemoteFault = .loseResponse) async throws -> (SyncFixture, LocalID) {
        let fixture = try SyncFixture(traits: .insertRestoresDeleted) { $0.retry.tries = 1 }
        let id = try await fixture.store.write { try $0.insert(Card(shop: "Лента", barcode: "1", points: 1)) }.localID
        fixture.remote.next(fault, on: .insert)
        try await fixture.sync.attemptPush()
        #expect(try fixture.operation?.state == .attempted)
        fixture.remote.forgetRequests()
        return (fixture, id)
    }

    @Test func `the scripted server restores a deleted item on insert`() async throws {
        let remote = ScriptedRemote(traits: .insertRestoresDeleted)
        let item = OutgoingItem(table: "Card", id: "a", members: [("shop", .text("Лента"))])
        _ = try await remote.insert(item)
        await #expect(throws: RemoteFailure.self) { try await remote.insert(item) }
        remote.remove("Card", id: "a")
        _ = try await remote.insert(item)
        #expect(remote.items(in: "Card").map(\.id) == ["a"])
    }

    @Test func `an object deleted by another device stays deleted`() async throws {
        let (fixture, id) = try await insertedWithoutResponse()
        fixture.remote.remove("Card", id: ServerID(id.rawValue))
        // The edit conflicts with the delete: by default, the user decides.
        let result = try await fixture.sync.attemptPush()
        #expect(result.entries.map(\.outcome.name) == ["conflict"])
        #expect(fixture.asked == [.find])
        #expect(fixture.remote.items(in: "Card").isEmpty && fixture.remote.all(in: "Card").count == 1)
        // The user takes the server's side.
        try await fixture.sync.takeServers(result.entries[0].id)
        #expect(try fixture.card(id) == nil && fixture.isLevel())
    }

    @Test func `a deleted object is restored if the user keeps it`() async throws {
        let (fixture, id) = try await insertedWithoutResponse()
        fixture.remote.remove("Card", id: ServerID(id.rawValue))
        let result = try await fixture.sync.attemptPush()
        try await fixture.sync.keepMine(try #require(result.entries.first).id)
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel() && fixture.remote.items(in: "Card").count == 1)
        #expect(fixture.asked.last == .undelete && !fixture.asked.contains(.insert))
    }

    @Test func `the policy decides about a deleted object`() async throws {
        let (fixture, id) = try await insertedWithoutResponse()
        try fixture.sync.table(Card.self).setConflicts(.serverWins)
        fixture.remote.remove("Card", id: ServerID(id.rawValue))
        let result = try await fixture.sync.push()
        #expect(result.lostEdits.map(\.isDeletedOnServer) == [true])
        #expect(try fixture.card(id) == nil && fixture.isLevel())
    }

    @Test func `an insert that arrived is recognized without a second insert`() async throws {
        let (fixture, _) = try await insertedWithoutResponse()
        #expect(try await fixture.sync.push().entries.map(\.outcome.name) == ["adopted"])
        #expect(fixture.asked == [.find])
        #expect(try fixture.isLevel())
    }

    @Test func `an insert that did not arrive is sent after its lookup`() async throws {
        let (fixture, _) = try await insertedWithoutResponse(.loseRequest)
        #expect(try await fixture.sync.push().isComplete)
        #expect(fixture.asked == [.find, .insert])
        #expect(try fixture.isLevel() && fixture.remote.items(in: "Card").count == 1)
    }

    @Test func `an insert is not repeated while its lookup fails`() async throws {
        let (fixture, id) = try await insertedWithoutResponse()
        fixture.remote.remove("Card", id: ServerID(id.rawValue))
        fixture.remote.next(.fail(.unreachable), on: .find)
        try await fixture.sync.attemptPush()
        #expect(fixture.asked == [.find] && fixture.remote.items(in: "Card").isEmpty)
        // The operation waits again, and still knows the earlier attempt.
        #expect(try fixture.operation?.state == .pending)
        #expect(try await fixture.sync.attemptPush().entries.map(\.outcome.name) == ["conflict"])
        #expect(fixture.remote.items(in: "Card").isEmpty)
    }

    @Test func `an insert that was never sent is not looked up`() async throws {
        let fixture = try SyncFixture(traits: .insertRestoresDeleted)
        try await fixture.store.write { _ = try $0.insert(Card(shop: "Лента", barcode: "1")) }
        #expect(try await fixture.sync.push().isComplete)
        #expect(fixture.asked == [.insert])
    }

    /// The retry is within the same push.
    @Test func `an insert after a busy response is looked up`() async throws {
        let fixture = try SyncFixture(traits: .insertRestoresDeleted)
        try await fixture.store.write { _ = try $0.insert(Card(shop: "Лента", barcode: "1")) }
        fixture.remote.next(.fail(.later(status: 503, retryAfter: nil)), on: .insert)
        #expect(try await fixture.sync.push().isComplete)
        #expect(fixture.asked == [.insert, .find, .insert])
        #expect(try fixture.isLevel())
    }

    /// The insert would restore the item for a moment, if another device has deleted it.
    @Test(arguments: [false, true])
    func `a delete of a lost insert sends no insert`(isDeletedThere: Bool) async throws {
        let (fixture, id) = try await insertedWithoutResponse()
        if isDeletedThere { fixture.remote.remove("Card", id: ServerID(id.rawValue)) }
        try await fixture.store.write { try $0.delete(Card.self, localID: id) }
        #expect(try await fixture.sync.push().isComplete)
        #expect(!fixture.asked.contains(.insert) && fixture.remote.items(in: "Card").isEmpty)
        #expect(try fixture.isLevel())
    }
}

import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// A server whose inserts restore deleted items. A repeated insert must not undo a delete by another device.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct RestoringServerTests {
    /// Returns a device whose insert was carried out, and whose response was lost.
    private func uncertain(_ fault: RemoteFault = .loseAnswer) async throws -> (Desk, LocalID) {
        let desk = try Desk(traits: .insertRestoresDeleted) { $0.retry.tries = 1 }
        let id = try await desk.store.write { try $0.insert(Card(shop: "Лента", barcode: "1", points: 1)) }.localID
        desk.remote.next(fault, on: .insert)
        try await desk.sync.attemptPush()
        #expect(try desk.operation?.state == .attempted)
        desk.remote.forgetRequests()
        return (desk, id)
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
        let (desk, id) = try await uncertain()
        desk.remote.remove("Card", id: ServerID(id.rawValue))
        // The edit meets the delete: by default, the user decides.
        let result = try await desk.sync.attemptPush()
        #expect(result.entries.map(\.outcome.name) == ["conflict"])
        #expect(desk.asked == [.find])
        #expect(desk.remote.items(in: "Card").isEmpty && desk.remote.all(in: "Card").count == 1)
        // The user takes the server's side.
        try await desk.sync.takeServers(result.entries[0].id)
        #expect(try desk.card(id) == nil && desk.isLevel())
    }

    @Test func `a deleted object is restored if the user keeps it`() async throws {
        let (desk, id) = try await uncertain()
        desk.remote.remove("Card", id: ServerID(id.rawValue))
        let result = try await desk.sync.attemptPush()
        try await desk.sync.keepMine(try #require(result.entries.first).id)
        #expect(try await desk.sync.push().isComplete)
        #expect(try desk.isLevel() && desk.remote.items(in: "Card").count == 1)
        #expect(desk.asked.last == .undelete && !desk.asked.contains(.insert))
    }

    @Test func `the policy decides about a deleted object`() async throws {
        let (desk, id) = try await uncertain()
        try desk.sync.table(Card.self).setConflicts(.serverWins)
        desk.remote.remove("Card", id: ServerID(id.rawValue))
        let result = try await desk.sync.push()
        #expect(result.lostEdits.map(\.isDeletedOnServer) == [true])
        #expect(try desk.card(id) == nil && desk.isLevel())
    }

    @Test func `an insert that arrived is recognized without a second insert`() async throws {
        let (desk, _) = try await uncertain()
        #expect(try await desk.sync.push().entries.map(\.outcome.name) == ["adopted"])
        #expect(desk.asked == [.find])
        #expect(try desk.isLevel())
    }

    @Test func `an insert that did not arrive is sent after its lookup`() async throws {
        let (desk, _) = try await uncertain(.loseRequest)
        #expect(try await desk.sync.push().isComplete)
        #expect(desk.asked == [.find, .insert])
        #expect(try desk.isLevel() && desk.remote.items(in: "Card").count == 1)
    }

    @Test func `an insert is not repeated while its lookup fails`() async throws {
        let (desk, id) = try await uncertain()
        desk.remote.remove("Card", id: ServerID(id.rawValue))
        desk.remote.next(.fail(.unreachable), on: .find)
        try await desk.sync.attemptPush()
        #expect(desk.asked == [.find] && desk.remote.items(in: "Card").isEmpty)
        // The operation waits again, and still knows the earlier attempt.
        #expect(try desk.operation?.state == .pending)
        #expect(try await desk.sync.attemptPush().entries.map(\.outcome.name) == ["conflict"])
        #expect(desk.remote.items(in: "Card").isEmpty)
    }

    @Test func `an insert that was never sent is not looked up`() async throws {
        let desk = try Desk(traits: .insertRestoresDeleted)
        try await desk.store.write { _ = try $0.insert(Card(shop: "Лента", barcode: "1")) }
        #expect(try await desk.sync.push().isComplete)
        #expect(desk.asked == [.insert])
    }

    /// The retry is within the same push.
    @Test func `an insert after a busy response is looked up`() async throws {
        let desk = try Desk(traits: .insertRestoresDeleted)
        try await desk.store.write { _ = try $0.insert(Card(shop: "Лента", barcode: "1")) }
        desk.remote.next(.fail(.later(status: 503, retryAfter: nil)), on: .insert)
        #expect(try await desk.sync.push().isComplete)
        #expect(desk.asked == [.insert, .find, .insert])
        #expect(try desk.isLevel())
    }

    /// The insert would restore the item for a moment, if another device has deleted it.
    @Test(arguments: [false, true])
    func `a delete of a lost insert sends no insert`(isDeletedThere: Bool) async throws {
        let (desk, id) = try await uncertain()
        if isDeletedThere { desk.remote.remove("Card", id: ServerID(id.rawValue)) }
        try await desk.store.write { try $0.delete(Card.self, localID: id) }
        #expect(try await desk.sync.push().isComplete)
        #expect(!desk.asked.contains(.insert) && desk.remote.items(in: "Card").isEmpty)
        #expect(try desk.isLevel())
    }
}

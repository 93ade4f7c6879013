import Foundation
import Tandem
import TandemServerCore
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// An insert or another change with an unknown outcome. It may have arrived, once or twice, and with or without its
/// omitted references.
@Suite(.ownThreads) struct UnknownOutcomeTests {
    /// The POST arrives twice, and the second one's lookup fails for another reason. The object exists.
    @Test(arguments: [401, 403, 429])
    func `an insert that conflicts with itself does not count as unsent`(status: Int) async throws {
        // The dialect whose response does not contain the conflicting item.
        let world = try SyncWorld(.azureMobileApps)
        let (store, sync) = try world.device { $0.retry.tries = 1 }
        let id = try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }.localID
        world.next(.post, .twice)
        world.next(.get, .status(status))
        #expect(try await sync.attemptPush().entries.map(\.outcome.name) == ["retryLater"])
        #expect(try store.operations.all().map(\.state) == [.attempted] && world.live("card").count == 1)
        // Its delete must be sent.
        try await store.write { _ = try $0.delete(Card.self, localID: id) }
        #expect(try store.operations.count() == 1)
        #expect(try await sync.push().isComplete)
        #expect(try world.live("card").isEmpty && store.operations.count() == 0 && store.checkIntegrity() == [])
    }

    /// The same for a conflict with an item that can't be looked up.
    @Test(arguments: [PendingOperation.Kind.insert, .update, .delete])
    func `a change that conflicts with an unknown item may have arrived`(kind: PendingOperation.Kind) async throws {
        let fixture = try SyncFixture { $0.retry.tries = 1 }
        let card = try await fixture.syncedCard()
        try await fixture.store.write { tx in
            switch kind {
            case .insert: try tx.insert(Card(shop: "Магнит", barcode: "2"))
            case .update: try tx.update(Card.self, localID: card.localID) { $0.points = 2 }
            case .delete: try tx.delete(Card.self, localID: card.localID)
            }
        }
        fixture.remote.next(.fail(.conflict(status: 409, item: nil)))
        fixture.remote.next(.fail(.unreachable), on: .find)
        let result = try await fixture.sync.attemptPush()
        #expect(result.entries.map(\.outcome.name) == ["retryLater"] && result.stoppedBy?.code == .unreachable)
        #expect(try fixture.operation?.state == .attempted)
        #expect(try await fixture.sync.push().isComplete)
        #expect(try fixture.isLevel())
    }

    /// Two objects refer to each other, so the first one is sent without its reference. It arrives, its response is
    /// lost, and the next attempt surely fails. The missing reference on the server is still our own.
    @Test(arguments: [StoreScene.Kind.tandem, .memory], [IdentityPolicy.client, .server(lookUp: "localKey")])
    func `an insert's omitted references are known after a failed retry`(
        kind: StoreScene.Kind, identity: IdentityPolicy
    ) async throws {
        let stage = try StoreScene(kind)
        let people = try stage.sync.table(Person.self)
        people.setIdentity(identity)
        // Another client's change would stay.
        people.setConflicts(.serverWins)
        try await stage.write { local in
            _ = try local.insert(["name": "Анна", "friend": "b"], in: "Person", as: "a")
            _ = try local.insert(["name": "Борис", "friend": "a"], in: "Person", as: "b")
        }
        stage.remote.next(.loseResponse, on: .insert)
        try await stage.push()
        #expect(stage.remote.items(in: "Person").map { $0[member: "friend"] } == [.null])
        stage.remote.next(.fail(.unreachable))
        try await stage.push()
        // A pull fetches the inserted object, so that it is known before a third attempt.
        _ = try await stage.sync.runPull(PullQuery(Person.self), pushesFirst: false)
        let result = try await stage.sync.attemptPush()
        #expect(result.isComplete && result.lostEdits.isEmpty, "\(result.entries)")
        try await stage.expectEmpty()
        for (id, friend) in [("a", "b"), ("b", "a")] as [(LocalID, StorageValue)] {
            #expect(try await stage.store.read { try $0.object(id, in: "Person") }?.values["friend"] == friend)
        }
        let there = stage.remote.items(in: "Person")
        #expect(Set(there.compactMap { $0[member: "friend"] }.map { "\($0)" }).count == 2)
        #expect(there.count == 2 && !there.contains { $0[member: "friend"] == .null })
    }

    /// An object that refers to itself, if the server makes the IDs.
    @Test(arguments: [StoreScene.Kind.tandem, .memory])
    func `a reference to itself is not lost to the server's side`(kind: StoreScene.Kind) async throws {
        let stage = try StoreScene(kind, ids: .server)
        let people = try stage.sync.table(Person.self)
        people.setIdentity(.server(lookUp: "localKey"))
        people.setConflicts(.serverWins)
        try await stage.write { _ = try $0.insert(["name": "Анна", "friend": "a"], in: "Person", as: "a") }
        stage.remote.next(.loseResponse, on: .insert)
        try await stage.push()
        stage.remote.next(.fail(.unreachable), on: .find)
        try await stage.push()
        _ = try await stage.sync.runPull(PullQuery(Person.self), pushesFirst: false)
        #expect(try await stage.sync.push().isComplete)
        try await stage.expectEmpty()
        #expect(stage.remote.items(in: "Person").map { $0[member: "friend"] } == [.text("s1")])
        #expect(try await stage.store.read { try $0.object("a", in: "Person") }?.values["friend"] == "a")
    }
}

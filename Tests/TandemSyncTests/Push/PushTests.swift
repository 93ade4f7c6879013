import DatasyncWire
import Foundation
import Tandem
import TandemServerCore
import TandemSync
import TandemTesting
import TestSupport
import Testing

/// The requests of a push, and their local effects.
@Suite(.ownThreads) struct PushTests {
    @Test(arguments: Dialect.both)
    func `a change of each kind reaches the server`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        let (store, sync) = try world.device()
        let card = try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1", points: 7)) }
        let inserted = try await sync.push()
        #expect(inserted.isComplete && inserted.entries.map(\.outcome.name) == ["done"])
        #expect(try world.texts("card", "shop") == ["Лента"])
        let stored = try #require(try store.object(ofType: Card.self, forPrimaryKey: card.localID))
        #expect(stored.isSynced && stored.serverID?.rawValue == card.localID.rawValue && stored.version != nil)

        try await store.write { try $0.update(Card.self, localID: card.localID) { $0.shop = "Пятёрочка" } }
        #expect(try await sync.push().entries.map(\.outcome.name) == ["done"])
        #expect(try world.texts("card", "shop") == ["Пятёрочка"])

        try await store.write { try $0.delete(Card.self, localID: card.localID) }
        #expect(try await sync.push().entries.map(\.outcome.name) == ["done"])
        #expect(try world.texts("card", "shop") == [])
        #expect(try store.operations.count() == 0)
        #expect(try store.sql("SELECT count(*) FROM Card")[0][0] == 0)
        #expect(try store.checkIntegrity() == [])
    }

    @Test func `an empty queue sends no request`() async throws {
        let world = try SyncWorld()
        let (_, sync) = try world.device()
        let result = try await sync.push()
        #expect(result.isComplete && result.entries.isEmpty && world.requests.isEmpty)
    }

    /// FB 9: one bad record blocks all.
    @Test(arguments: [1, 8])
    func `a rejected object does not block the rest`(inFlight: Int) async throws {
        let world = try SyncWorld { configuration in
            configuration.hooks.validate = { _, row in
                row["barcode"] == .text("2") ? ["The barcode is not valid."] : []
            }
        }
        let (store, sync) = try world.device { $0.inFlight = inFlight }
        try await store.write { tx in
            for code in 1...3 { try tx.insert(Card(shop: "Лента", barcode: "\(code)")) }
        }
        let result = try await sync.push()
        #expect(result.entries.map(\.outcome.name) == ["done", "refused", "done"])
        #expect(!result.isComplete && result.failedOperations.count == 1)
        #expect(try world.texts("card", "barcode") == ["1", "3"])
        let failed = try #require(try store.operations.all().first)
        #expect(failed.state == .failed && failed.error?.status == 400)
        #expect(failed.error?.message.contains("not valid") == true)
    }

    /// A duplicate number is a conflict for many servers. The user gets the server's message, and the request is not
    /// repeated.
    @Test(arguments: [PendingOperation.Kind.insert, .update, .delete])
    func `a conflict about another value is a rejection with the server's message`(
        kind: PendingOperation.Kind
    ) async throws {
        let fixture = try SyncFixture { $0.inFlight = 1 }
        let id = kind == .insert ? LocalID("new") : try await fixture.syncedCard().localID
        try await fixture.store.write { tx in
            switch kind {
            case .insert: try tx.insert(Card(shop: "Лента", barcode: "1"))
            case .update: try tx.update(Card.self, localID: id) { $0.points = 2 }
            case .delete: try tx.delete(Card.self, localID: id)
            }
        }
        fixture.remote.next(.fail(.conflict(status: 409, item: nil, detail: .init(message: "The number is taken."))))
        let result = try await fixture.sync.push()
        #expect(result.entries.map(\.outcome.name) == ["refused"] && fixture.asked.count == 2)
        let failed = try #require(try await fixture.sync.failedOperations().first)
        #expect(failed.status == 409 && failed.operation.error?.message.contains("The number is taken.") == true)
        // The cause is resolved.
        try await fixture.sync.retry(failed.id)
        #expect(try await fixture.sync.push().isComplete && fixture.isLevel())
    }

    /// The same for an undelete, and for a table without known versions.
    @Test(arguments: [true, false])
    func `a false conflict is a rejection, whatever the server holds`(versions: Bool) async throws {
        let fixture = try SyncFixture { $0.inFlight = 1 }
        var features = TableFeatures()
        features.versions = versions
        try fixture.sync.table(Card.self).setFeatures(features)
        let card = try await fixture.syncedCard()
        if versions {
            try await fixture.store.write { try $0.delete(Card.self, localID: card.localID) }
            fixture.remote.next(.loseResponse)
            try await fixture.sync.attemptPush()
            try await fixture.store.write { try $0.undelete(Card.self, localID: card.localID) }
            // The first one conflicts with the tombstone's version.
            fixture.remote.next(.meanwhile {}, on: .undelete)
        } else {
            try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        }
        fixture.remote.next(
            .fail(.conflict(status: 409, item: nil, detail: .init(message: "The number is taken."))),
            on: versions ? .undelete : .update)
        let result = try await fixture.sync.push()
        #expect(result.entries.map(\.outcome.name) == ["refused"])
        let failed = try #require(try await fixture.sync.failedOperations().first)
        #expect(failed.operation.error?.message.contains("The number is taken.") == true)
    }

    /// FB 20: a rejection is invisible and repeated endlessly.
    @Test func `a rejection waits for the user or a new change`() async throws {
        let world = try SyncWorld { configuration in
            configuration.hooks.validate = { _, row in row["points"] == .number("-1") ? ["Too few points."] : [] }
        }
        let (store, sync) = try world.device()
        let card = try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1", points: -1)) }
        for _ in 1...5 { try await sync.push() }
        #expect(world.requests.count == 1)
        try await store.write { try $0.update(Card.self, localID: card.localID) { $0.points = 1 } }
        #expect(try await sync.push().isComplete)
        #expect(try world.texts("card", "barcode") == ["1"])
    }

    /// FB 20: a database's constraint is reported as 500. It may be temporary, so it is retried, and the user sees the
    /// reason.
    @Test func `an operation that fails repeatedly is shown with its reason`() async throws {
        let world = try SyncWorld()
        let (store, sync) = try world.device()
        let card = try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }
        for _ in 1...3 { world.next(.post, .status(500)) }
        #expect(try await sync.push().entries.map(\.outcome.name) == ["retryLater"])
        #expect(world.requests.count == 3)
        let error = try #require(try store.operations.all().first?.error)
        #expect(error.status == 500 && !error.message.isEmpty)
        #expect(try await sync.state(of: card) == .retrying(.insert, error: error))
        let status = try await sync.status()
        #expect(status.retrying == 1 && status.pending == 1 && status.failed == 0)
        #expect(try await sync.push().isComplete)
        #expect(try await sync.state(of: card) == .synced)
        #expect(try await sync.status().retrying == 0)
    }

    @Test func `a held operation is not sent`() async throws {
        let world = try SyncWorld()
        let (store, sync) = try world.device()
        try await store.write { tx in
            let card = try tx.insert(Card(shop: "Лента", barcode: "1"))
            let operation = try #require(try tx.operations.all().first { $0.localID == card.localID })
            try tx.sync.hold(operation.id)
        }
        #expect(try await sync.push().entries.isEmpty && world.requests.isEmpty)
    }

    /// DS T24: the server may change any value when it commits.
    @Test func `the server's values are stored`() async throws {
        let world = try SyncWorld { configuration in
            configuration.hooks.beforeCommit = { $0.members["nickname"] = .text("theirs") }
        }
        let (store, sync) = try world.device()
        let card = try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }
        try await sync.push()
        let stored = try #require(try store.object(ofType: Card.self, forPrimaryKey: card.localID))
        #expect(stored.nickname == "theirs" && stored.isSynced)
        #expect(try store.operations.count() == 0)
    }
}

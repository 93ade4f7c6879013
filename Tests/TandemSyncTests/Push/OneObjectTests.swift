import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

@Model struct Crate {
    struct Contents: Codable, Hashable {
        var weight: UInt64
    }
    var contents: Contents
    var depth: Double = 0
}

/// An error of one object blocks nothing else.
@Suite(.ownThreads) struct OneObjectTests {
    /// Others have given a card the barcode of a new local card. The other values were ours already.
    @Test func `a clash of unique values is an error of that object`() async throws {
        let fixture = try SyncFixture()
        let card = try await fixture.syncedCard()
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        fixture.remote.next(.loseResponse, on: .update)
        try await fixture.sync.attemptPush()
        try await fixture.store.write { _ = try $0.insert(Card(shop: "Магнит", barcode: "clash")) }
        let serverID = try #require(card.serverID)
        fixture.remote.edit("Card", id: serverID) { item in
            item.members.removeAll { $0.key == "barcode" }
            item.members.append(("barcode", .text("clash")))
        }
        let result = try await fixture.sync.push()
        #expect(result.stoppedBy == nil && result.entries.map(\.outcome.isFinished) == [false, true])
        #expect(try fixture.store.operations.count() == 1 && fixture.store.operations.count(in: .failed) == 1)
    }

    /// A page without items that reports more: the items after it are not removed.
    @Test func `an empty page with more items removes nothing`() async throws {
        struct Hollow: Remote {
            var format: WireFormat { WireFormat() }
            func page(_ request: PageRequest) async throws(RemoteFailure) -> RemotePage {
                RemotePage(items: [], hasMore: true)
            }
            func find(_ table: RemoteTableName, key: RemoteKey) async throws(RemoteFailure) -> RemoteItem? { nil }
            func insert(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse { throw .notFound }
            func update(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse { throw .notFound }
            func delete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse { throw .notFound }
            func undelete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteResponse { throw .notFound }
        }
        let fixture = try SyncFixture()
        _ = try await fixture.syncedCard()
        let sync = SyncContext(store: fixture.store, remote: Hollow())
        for queryID in [nil, "cards"] {
            await #expect { try await sync.pull(Card.self, queryID: queryID) } throws: {
                ($0 as? SyncError)?.code == .noProgress
            }
        }
        #expect(try await fixture.store.objects(Card.self).count() == 1)
    }

    /// The server's item is kept for the user's decision.
    @Test func `a clash is a conflict with the server's side`() async throws {
        let fixture = try SyncFixture()
        let card = try await fixture.syncedCard()
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        fixture.remote.next(.loseResponse, on: .update)
        try await fixture.sync.attemptPush()
        let other = try await fixture.store.write { try $0.insert(Card(shop: "Магнит", barcode: "clash")) }
        fixture.remote.edit("Card", id: try #require(card.serverID)) { $0.set(.text("clash"), of: "barcode") }
        let result = try await fixture.sync.push()
        #expect(result.entries.map(\.outcome.name) == ["conflict", "done"])
        let failed = try #require(try await fixture.sync.failedOperations().first)
        #expect(failed.isConflict && failed.serverValues?["barcode"] == "clash")
        // The blocking value is changed.
        try await fixture.store.write { _ = try $0.update(Card.self, localID: other.localID) { $0.barcode = "2" } }
        try await fixture.sync.takeServers(failed.id)
        #expect(try await fixture.sync.push().isComplete && fixture.isLevel())
        #expect(try fixture.card(card.localID)?.barcode == "clash")
    }

    /// Its number fits the store, but no wire format.
    @Test func `a value without a wire form is an error of that object`() async throws {
        let store = try Store(inMemoryModels: [Crate.self])
        let remote = ScriptedRemote()
        let sync = SyncContext(store: store, remote: remote)
        let (large, small) = try await store.write { tx in
            (
                try tx.insert(Crate(contents: Crate.Contents(weight: .max))),
                try tx.insert(Crate(contents: Crate.Contents(weight: 1)))
            )
        }
        let result = try await sync.push()
        #expect(result.stoppedBy == nil && result.entries.map(\.outcome.name) == ["refused", "done"])
        #expect(result.entries[0].outcome.error?.code == .notEncodable)
        #expect(result.entries[0].outcome.error?.property == "contents")
        #expect(result.entries[0].outcome.error?.table == "Crate")
        #expect(remote.items(in: "Crate").map(\.id.rawValue) == [small.localID.rawValue])
        // Nothing of it was sent, and it can be corrected.
        #expect(try store.operations.all().map(\.attempts) == [0])
        try await store.write { _ = try $0.update(Crate.self, localID: large.localID) { $0.contents.weight = 2 } }
        #expect(try await sync.push().isComplete && store.operations.count() == 0)
    }

    /// To delete an insert with a lost response, the insert is sent again. Its values are omitted if they can't be
    /// sent.
    @Test func `a value that can't be sent does not block a delete`() async throws {
        let store = try Store(inMemoryModels: [Crate.self])
        let remote = ScriptedRemote()
        let sync = SyncContext(store: store, remote: remote)
        let id = try await store.write { try $0.insert(Crate(contents: Crate.Contents(weight: 1))) }.localID
        remote.next(.loseResponse)
        try await sync.attemptPush()
        try await store.write { tx in
            try tx.update(Crate.self, localID: id) { $0.depth = .nan }
            try tx.delete(Crate.self, localID: id)
        }
        #expect(try await sync.push().isComplete)
        #expect(try remote.items(in: "Crate").isEmpty && store.operations.count() == 0)
        #expect(remote.requests.map(\.kind) == [.insert, .find, .delete])
    }

    /// Others' changes meanwhile are not removed silently.
    @Test func `a delete without a version conflicts with others' changes`() async throws {
        let store = try Store(inMemoryModels: [Crate.self])
        let remote = ScriptedRemote()
        let sync = SyncContext(store: store, remote: remote)
        try sync.table(Crate.self).setConflicts(.report)
        let id = try await store.write { try $0.insert(Crate(contents: Crate.Contents(weight: 1))) }.localID
        remote.next(.loseResponse)
        try await sync.attemptPush()
        remote.edit("Crate", id: ServerID(id.rawValue)) { $0.set(.integer(7), of: "depth") }
        try await store.write { tx in
            try tx.update(Crate.self, localID: id) { $0.depth = .nan }
            try tx.delete(Crate.self, localID: id)
        }
        #expect(try await sync.push().entries.map(\.outcome.name) == ["conflict"])
        #expect(remote.items(in: "Crate").count == 1)
    }

    /// The server has made the object, and reports the ID of another local object.
    @Test func `a response with another object's ID is an error of that object`() async throws {
        let fixture = try SyncFixture(ids: .server)
        let older = try await fixture.syncedCard("1")
        // A remote that restarts its numbers.
        let remote = ScriptedRemote(ids: .server)
        let sync = SyncContext(store: fixture.store, remote: remote)
        try sync.table(Card.self).setIdentity(.server(lookUp: "localKey"))
        try await fixture.store.write { tx in
            for code in 2...3 { try tx.insert(Card(shop: "Магнит", barcode: "\(code)")) }
        }
        let result = try await sync.push()
        let refused = result.entries.filter { $0.outcome.name == "refused" }
        #expect(result.stoppedBy == nil && result.entries.map(\.outcome.isFinished).filter { $0 }.count == 1)
        #expect(refused.map(\.outcome.error?.code) == [.invalidResponse])
        #expect(try fixture.store.operations.count(in: .failed) == 1 && fixture.card(older.localID)?.serverID == "s1")
        #expect(try fixture.store.checkIntegrity() == [])
        // The object exists: it is not inserted again, and the user sees the server's item.
        remote.forgetRequests()
        try await sync.retry(try #require(refused.first).id)
        #expect(try await sync.push().entries.map(\.outcome.name) == ["conflict"])
        #expect(remote.requests.map(\.kind) == [.find])
    }
}

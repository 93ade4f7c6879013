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

/// What is wrong with one object holds up nothing else.
@Suite(.ownThreads) struct OneObjectTests {
    /// Others have given a card the barcode of a new one here, and ours of the rest was there already.
    @Test func aUniqueValueThatClashesIsThatObjectsError() async throws {
        let desk = try Desk()
        let card = try await desk.syncedCard()
        try await desk.store.write { _ = try $0.update(Card.self, card.localID) { $0.points = 2 } }
        desk.remote.next(.loseAnswer, on: .update)
        try await desk.sync.attemptPush()
        try await desk.store.write { _ = try $0.insert(Card(shop: "Магнит", barcode: "clash")) }
        let serverID = try #require(card.serverID)
        desk.remote.edit("Card", serverID) { item in
            item.members.removeAll { $0.key == "barcode" }
            item.members.append(("barcode", .text("clash")))
        }
        let result = try await desk.sync.push()
        #expect(result.stoppedBy == nil && result.entries.map(\.outcome.isSettled) == [false, true])
        #expect(try desk.store.operations.count() == 1 && desk.store.operations.count(in: .failed) == 1)
    }

    /// A page without items that says there are more: what lies behind it is not taken for gone.
    @Test func anEmptyPageThatHasMoreTakesNothingAway() async throws {
        struct Hollow: Remote {
            var format: WireFormat { WireFormat() }
            func page(_ request: PageRequest) async throws(RemoteFailure) -> RemotePage {
                RemotePage(items: [], hasMore: true)
            }
            func find(_ table: RemoteTableName, _ key: RemoteKey) async throws(RemoteFailure) -> RemoteItem? { nil }
            func insert(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteAnswer { throw .notFound }
            func update(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteAnswer { throw .notFound }
            func delete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteAnswer { throw .notFound }
            func undelete(_ item: OutgoingItem) async throws(RemoteFailure) -> RemoteAnswer { throw .notFound }
        }
        let desk = try Desk()
        _ = try await desk.syncedCard()
        let sync = SyncContext(store: desk.store, remote: Hollow())
        for queryID in [nil, "cards"] {
            await #expect { try await sync.pull(Card.self, queryID: queryID) } throws: {
                ($0 as? SyncError)?.code == .noProgress
            }
        }
        #expect(try await desk.store.objects(Card.self).count() == 1)
    }

    /// The object that the server has brought is kept for the user to choose.
    @Test func whatClashesIsAConflictWithTheServersSide() async throws {
        let desk = try Desk()
        let card = try await desk.syncedCard()
        try await desk.store.write { _ = try $0.update(Card.self, card.localID) { $0.points = 2 } }
        desk.remote.next(.loseAnswer, on: .update)
        try await desk.sync.attemptPush()
        let other = try await desk.store.write { try $0.insert(Card(shop: "Магнит", barcode: "clash")) }
        desk.remote.edit("Card", try #require(card.serverID)) { $0.set(.text("clash"), of: "barcode") }
        let result = try await desk.sync.push()
        #expect(result.entries.map(\.outcome.name) == ["conflict", "done"])
        let failed = try #require(try await desk.sync.failedOperations().first)
        #expect(failed.isConflict && failed.serverValues?["barcode"] == "clash")
        // What stood in the way goes.
        try await desk.store.write { _ = try $0.update(Card.self, other.localID) { $0.barcode = "2" } }
        try await desk.sync.takeServers(failed.id)
        #expect(try await desk.sync.push().isComplete && desk.isLevel())
        #expect(try desk.card(card.localID)?.barcode == "clash")
    }

    /// Its number fits the store, and no wire.
    @Test func aValueThatDoesNotComeBackFromTheWireIsThatObjectsError() async throws {
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
        #expect(result.entries[0].outcome.error?.code == .unsendable)
        #expect(result.entries[0].outcome.error?.property == "contents")
        #expect(result.entries[0].outcome.error?.table == "Crate")
        #expect(remote.items(in: "Crate").map(\.id.rawValue) == [small.localID.rawValue])
        // Nothing of it was sent, and it can be mended.
        #expect(try store.operations.all().map(\.attempts) == [0])
        try await store.write { _ = try $0.update(Crate.self, large.localID) { $0.contents.weight = 2 } }
        #expect(try await sync.push().isComplete && store.operations.count() == 0)
    }

    /// An insert whose answer was lost is deleted by sending it once more: without its values, if they can't be sent.
    @Test func aValueThatCanNotBeSentKeepsNoDeleteBack() async throws {
        let store = try Store(inMemoryModels: [Crate.self])
        let remote = ScriptedRemote()
        let sync = SyncContext(store: store, remote: remote)
        let id = try await store.write { try $0.insert(Crate(contents: Crate.Contents(weight: 1))) }.localID
        remote.next(.loseAnswer)
        try await sync.attemptPush()
        try await store.write { tx in
            try tx.update(Crate.self, id) { $0.depth = .nan }
            try tx.delete(Crate.self, id)
        }
        #expect(try await sync.push().isComplete)
        #expect(try remote.items(in: "Crate").isEmpty && store.operations.count() == 0)
        #expect(remote.requests.map(\.kind) == [.insert, .find, .delete])
    }

    /// What others have made of it meanwhile is not erased unseen.
    @Test func aDeleteWithoutAVersionMeetsWhatOthersHaveMadeOfIt() async throws {
        let store = try Store(inMemoryModels: [Crate.self])
        let remote = ScriptedRemote()
        let sync = SyncContext(store: store, remote: remote)
        try sync.table(Crate.self).setConflicts(.report)
        let id = try await store.write { try $0.insert(Crate(contents: Crate.Contents(weight: 1))) }.localID
        remote.next(.loseAnswer)
        try await sync.attemptPush()
        remote.edit("Crate", ServerID(id.rawValue)) { $0.set(.integer(7), of: "depth") }
        try await store.write { tx in
            try tx.update(Crate.self, id) { $0.depth = .nan }
            try tx.delete(Crate.self, id)
        }
        #expect(try await sync.push().entries.map(\.outcome.name) == ["conflict"])
        #expect(remote.items(in: "Crate").count == 1)
    }

    /// The server has made the object, and says that it is another one that is here.
    @Test func anAnswerWithAnotherObjectsIDIsThatObjectsError() async throws {
        let desk = try Desk(ids: .server)
        let older = try await desk.syncedCard("1")
        // One that begins to count anew.
        let remote = ScriptedRemote(ids: .server)
        let sync = SyncContext(store: desk.store, remote: remote)
        try sync.table(Card.self).setIdentity(.server(lookUp: "localKey"))
        try await desk.store.write { tx in
            for code in 2...3 { try tx.insert(Card(shop: "Магнит", barcode: "\(code)")) }
        }
        let result = try await sync.push()
        let refused = result.entries.filter { $0.outcome.name == "refused" }
        #expect(result.stoppedBy == nil && result.entries.map(\.outcome.isSettled).filter { $0 }.count == 1)
        #expect(refused.map(\.outcome.error?.code) == [.badAnswer])
        #expect(try desk.store.operations.count(in: .failed) == 1 && desk.card(older.localID)?.serverID == "s1")
        #expect(try desk.store.checkIntegrity() == [])
        // It is there: it is not inserted a second time, and the user sees what the server holds.
        remote.forgetRequests()
        try await sync.retry(try #require(refused.first).id)
        #expect(try await sync.push().entries.map(\.outcome.name) == ["conflict"])
        #expect(remote.requests.map(\.kind) == [.find])
    }
}

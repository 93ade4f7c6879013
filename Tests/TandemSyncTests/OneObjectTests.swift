import Tandem
import TandemTesting
import Testing

@testable import TandemSync

/// What is wrong with one object holds up nothing else.
@Suite struct OneObjectTests {
    /// Others have given a card the barcode of a new one here, and ours of the rest was there already.
    @Test func aUniqueValueThatClashesIsThatObjectsError() async throws {
        let desk = try Desk()
        let card = try await desk.syncedCard()
        try await desk.store.write { _ = try $0.update(Card.self, card.localID) { $0.points = 2 } }
        desk.remote.next(.loseAnswer, on: .update)
        try await desk.sync.push()
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
        #expect(try desk.store.objects(Card.self).count() == 1)
    }
}

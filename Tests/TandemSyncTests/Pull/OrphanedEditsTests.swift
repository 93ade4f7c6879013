import LocalStoreSupport
import Synchronization
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// Edits of objects that a full pull does not find, if no tombstone reports their delete.
@Suite(.ownThreads) struct OrphanedEditsTests {
    private let everything = [PullQuery(Card.self)]

    /// Two cards whose points are 2 here and 1 on the server, which then deletes the first one.
    private func edited(_ desk: Desk) async throws -> [Card] {
        let cards = [try await desk.syncedCard("1"), try await desk.syncedCard("2")]
        try await desk.store.write { tx in
            for card in cards { try tx.update(Card.self, localID: card.localID) { $0.points = 2 } }
        }
        desk.remote.forgetRequests()
        return cards
    }

    @Test(arguments: [true, false])
    func `an edit of an unlisted object is dropped and reported`(wasChangedThere: Bool) async throws {
        let desk = try Desk(softDelete: false)
        let cards = try await edited(desk)
        let gone = try #require(cards[0].serverID)
        if wasChangedThere {
            // The deferred item beside the edit is older than the delete.
            desk.remote.edit("Card", id: gone) { $0.set(.text("theirs"), of: "nickname") }
            #expect(try await desk.sync.runPull(everything[0], pushesFirst: false).deferred == 1)
            desk.remote.forgetRequests()
        }
        desk.remote.remove("Card", id: gone)
        let result = try await desk.sync.synchronize(everything)
        #expect(result.isComplete && result.lostEdits.map(\.values) == [["points": 2]])
        #expect(result.lostEdits.map(\.serverID) == [gone] && result.lostEdits.map(\.localID) == [cards[0].localID])
        // No request failed.
        #expect(desk.asked == [.page, .update])
        #expect(try desk.isLevel() && desk.card(cards[0].localID) == nil && desk.card(cards[1].localID)?.points == 2)
    }

    @Test func `a policy that prefers the edit keeps it`() async throws {
        let desk = try Desk(softDelete: false)
        try desk.sync.table(Card.self).setConflicts(.merge(deletes: .editWins))
        let cards = try await edited(desk)
        desk.remote.remove("Card", id: try #require(cards[0].serverID))
        let result = try await desk.sync.synchronize(everything)
        #expect(result.lostEdits.isEmpty && result.isComplete && desk.remote.items(in: "Card").count == 2)
        #expect(try desk.isLevel() && desk.card(cards[0].localID)?.points == 2)
    }

    @Test func `an operation that waits for the user stays`() async throws {
        let desk = try Desk(softDelete: false)
        let cards = try await edited(desk)
        try await desk.sync.hold(try #require(try desk.operation?.id))
        desk.remote.remove("Card", id: try #require(cards[0].serverID))
        #expect(try await desk.sync.synchronize(everything).lostEdits.isEmpty)
        #expect(try desk.card(cards[0].localID)?.points == 2)
    }

    /// The object may no longer match the filter. The push finds out.
    @Test func `a pull with a filter drops no edit`() async throws {
        let desk = try Desk(softDelete: false)
        let cards = try await edited(desk)
        desk.remote.remove("Card", id: try #require(cards[0].serverID))
        let result = try await desk.sync.synchronize([PullQuery(Card.self) { $0.points > 0 }])
        #expect(result.lostEdits.isEmpty && result.failedOperations.map(\.operation.localID) == [cards[0].localID])
        #expect(try desk.card(cards[0].localID)?.points == 2)
    }

    /// An undelete is queued, so the missing item is expected.
    @Test func `a queued undelete is not dropped`() async throws {
        let desk = try Desk()
        let cards = try await edited(desk)
        desk.remote.remove("Card", id: try #require(cards[0].serverID))
        let conflict = try #require(try await desk.sync.push().failedOperations.first)
        try await desk.sync.keepMine(conflict.id)
        let result = try await desk.sync.synchronize(everything)
        #expect(result.lostEdits.isEmpty && result.isComplete)
        #expect(try desk.isLevel() && desk.card(cards[0].localID)?.points == 2)
    }

    /// A lagging replica, or a temporarily invisible row: the next pull of the same sync finds it unchanged.
    @Test(arguments: [nil, "cards"])
    func `an object missed once is not dropped`(queryID: String?) async throws {
        let desk = try Desk(softDelete: false)
        let cards = try await edited(desk)
        let remote = Overlooking(desk.remote, try #require(cards[0].serverID))
        let sync = SyncContext(store: desk.store, remote: remote, options: desk.sync.options)
        try sync.table(Card.self).setFeatures(desk.sync.settings(of: "Card").features)
        let result = try await sync.synchronize(everything + [PullQuery(Card.self, queryID: queryID)])
        #expect(result.lostEdits.isEmpty && result.isComplete)
        #expect(try desk.isLevel() && desk.card(cards[0].localID)?.points == 2)
    }

    /// A server whose first page lacks an item.
    private final class Overlooking: ForwardingRemote {
        let base: any Remote
        private let overlooked: Mutex<ServerID?>

        init(_ base: ScriptedRemote, _ id: ServerID) {
            self.base = base
            overlooked = Mutex(id)
        }

        func page(_ request: PageRequest) async throws(RemoteFailure) -> RemotePage {
            var page = try await base.page(request)
            let id = overlooked.withLock { id in
                defer { id = nil }
                return id
            }
            page.items.removeAll { $0.id == id }
            return page
        }
    }

    /// An object that a later pull of the same sync finds exists.
    @Test func `an object found by a later pull is not dropped`() async throws {
        let desk = try Desk(softDelete: false)
        let cards = try await edited(desk)
        let id = try #require(cards[0].serverID)
        let item = try #require(try desk.served(id))
        desk.remote.remove("Card", id: id)
        let remote = desk.remote
        remote.next(.meanwhile {}, on: .page)
        remote.next(.meanwhile { remote.edit("Card", id: id) { $0 = item } }, on: .page)
        let result = try await desk.sync.synchronize(everything + everything)
        #expect(result.lostEdits.isEmpty && result.isComplete)
        #expect(try desk.isLevel() && desk.card(cards[0].localID)?.points == 2)
    }
}

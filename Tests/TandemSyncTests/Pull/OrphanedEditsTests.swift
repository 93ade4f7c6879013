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
    private func edited(_ fixture: SyncFixture) async throws -> [Card] {
        let cards = [try await fixture.syncedCard("1"), try await fixture.syncedCard("2")]
        try await fixture.store.write { tx in
            for card in cards { try tx.update(Card.self, localID: card.localID) { $0.points = 2 } }
        }
        fixture.remote.forgetRequests()
        return cards
    }

    @Test(arguments: [true, false])
    func `an edit of an unlisted object is dropped and reported`(wasChangedThere: Bool) async throws {
        let fixture = try SyncFixture(softDelete: false)
        let cards = try await edited(fixture)
        let gone = try #require(cards[0].serverID)
        if wasChangedThere {
            // The deferred item beside the edit is older than the delete.
            fixture.remote.edit("Card", id: gone) { $0.set(.text("theirs"), of: "nickname") }
            #expect(try await fixture.sync.runPull(everything[0], pushesFirst: false).deferred == 1)
            fixture.remote.forgetRequests()
        }
        fixture.remote.remove("Card", id: gone)
        let result = try await fixture.sync.synchronize(everything)
        #expect(result.isComplete && result.lostEdits.map(\.values) == [["points": 2]])
        #expect(result.lostEdits.map(\.serverID) == [gone] && result.lostEdits.map(\.localID) == [cards[0].localID])
        // No request failed.
        #expect(fixture.asked == [.page, .update])
        #expect(
            try fixture.isLevel() && fixture.card(cards[0].localID) == nil
                && fixture.card(cards[1].localID)?.points == 2)
    }

    @Test func `a policy that prefers the edit keeps it`() async throws {
        let fixture = try SyncFixture(softDelete: false)
        try fixture.sync.table(Card.self).setConflicts(.merge(deletes: .editWins))
        let cards = try await edited(fixture)
        fixture.remote.remove("Card", id: try #require(cards[0].serverID))
        let result = try await fixture.sync.synchronize(everything)
        #expect(result.lostEdits.isEmpty && result.isComplete && fixture.remote.items(in: "Card").count == 2)
        #expect(try fixture.isLevel() && fixture.card(cards[0].localID)?.points == 2)
    }

    @Test func `an operation that waits for the user stays`() async throws {
        let fixture = try SyncFixture(softDelete: false)
        let cards = try await edited(fixture)
        try await fixture.sync.hold(try #require(try fixture.operation?.id))
        fixture.remote.remove("Card", id: try #require(cards[0].serverID))
        #expect(try await fixture.sync.synchronize(everything).lostEdits.isEmpty)
        #expect(try fixture.card(cards[0].localID)?.points == 2)
    }

    /// The object may no longer match the filter. The push finds out.
    @Test func `a pull with a filter drops no edit`() async throws {
        let fixture = try SyncFixture(softDelete: false)
        let cards = try await edited(fixture)
        fixture.remote.remove("Card", id: try #require(cards[0].serverID))
        let result = try await fixture.sync.synchronize([PullQuery(Card.self) { $0.points > 0 }])
        #expect(result.lostEdits.isEmpty && result.failedOperations.map(\.operation.localID) == [cards[0].localID])
        #expect(try fixture.card(cards[0].localID)?.points == 2)
    }

    /// An undelete is queued, so the missing item is expected.
    @Test func `a queued undelete is not dropped`() async throws {
        let fixture = try SyncFixture()
        let cards = try await edited(fixture)
        fixture.remote.remove("Card", id: try #require(cards[0].serverID))
        let conflict = try #require(try await fixture.sync.push().failedOperations.first)
        try await fixture.sync.keepMine(conflict.id)
        let result = try await fixture.sync.synchronize(everything)
        #expect(result.lostEdits.isEmpty && result.isComplete)
        #expect(try fixture.isLevel() && fixture.card(cards[0].localID)?.points == 2)
    }

    /// A lagging replica, or a temporarily invisible row: the next pull of the same sync finds it unchanged.
    @Test(arguments: [nil, "cards"])
    func `an object missed once is not dropped`(queryID: String?) async throws {
        let fixture = try SyncFixture(softDelete: false)
        let cards = try await edited(fixture)
        let remote = OmittingRemote(fixture.remote, try #require(cards[0].serverID))
        let sync = SyncContext(store: fixture.store, remote: remote, options: fixture.sync.options)
        try sync.table(Card.self).setFeatures(fixture.sync.settings(of: "Card").features)
        let result = try await sync.synchronize(everything + [PullQuery(Card.self, queryID: queryID)])
        #expect(result.lostEdits.isEmpty && result.isComplete)
        #expect(try fixture.isLevel() && fixture.card(cards[0].localID)?.points == 2)
    }

    /// A server whose first page lacks an item.
    private final class OmittingRemote: ForwardingRemote {
        let base: any Remote
        private let omitted: Mutex<ServerID?>

        init(_ base: ScriptedRemote, _ id: ServerID) {
            self.base = base
            omitted = Mutex(id)
        }

        func page(_ request: PageRequest) async throws(RemoteFailure) -> RemotePage {
            var page = try await base.page(request)
            let id = omitted.withLock { id in
                defer { id = nil }
                return id
            }
            page.items.removeAll { $0.id == id }
            return page
        }
    }

    /// An object that a later pull of the same sync finds exists.
    @Test func `an object found by a later pull is not dropped`() async throws {
        let fixture = try SyncFixture(softDelete: false)
        let cards = try await edited(fixture)
        let id = try #require(cards[0].serverID)
        let item = try #require(try fixture.served(id))
        fixture.remote.remove("Card", id: id)
        let remote = fixture.remote
        remote.next(.meanwhile {}, on: .page)
        remote.next(.meanwhile { remote.edit("Card", id: id) { $0 = item } }, on: .page)
        let result = try await fixture.sync.synchronize(everything + everything)
        #expect(result.lostEdits.isEmpty && result.isComplete)
        #expect(try fixture.isLevel() && fixture.card(cards[0].localID)?.points == 2)
    }
}

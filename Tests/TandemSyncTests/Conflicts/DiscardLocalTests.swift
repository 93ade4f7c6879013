import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// Taking the server's side may need a request to the server, which is its own sync.
@Suite(.ownThreads) struct DiscardLocalTests {
    /// Creates an edit of a synced card's points, to 2, that the server has rejected.
    private func refused(_ fixture: SyncFixture, as user: String? = nil) async throws -> (Card, PendingOperation.ID) {
        let card = try await fixture.syncedCard()
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        fixture.remote.next(.fail(.refused(status: 400, message: "no")))
        let context = SyncContext(store: fixture.store, remote: fixture.remote, user: user)
        let id = try await context.push().entries[0].id
        fixture.remote.forgetRequests()
        return (card, id)
    }

    @Test func `another user's decision sends no request`() async throws {
        let fixture = try SyncFixture()
        let (card, id) = try await refused(fixture, as: "anna")
        fixture.remote.remove("Card", id: try #require(card.serverID))
        let other = SyncContext(store: fixture.store, remote: fixture.remote, user: "boris")
        await #expect { try await other.takeServers(id) } throws: { ($0 as? SyncError)?.code == .otherUser }
        #expect(try fixture.card(card.localID)?.points == 2 && fixture.asked.isEmpty && fixture.operation != nil)
    }

    @Test func `a change made during the request stays`() async throws {
        let fixture = try SyncFixture()
        let (card, id) = try await refused(fixture)
        let (store, clock) = (fixture.store, fixture.clock)
        fixture.remote.next(
            .meanwhile {
                clock.advance(by: 1)
                _ = try? await store.write { try $0.update(Card.self, localID: card.localID) { $0.nickname = "н" } }
            }, on: .find)
        await #expect { try await fixture.sync.takeServers(id) } throws: {
            ($0 as? TandemError)?.code == .staleOperation
        }
        #expect(try fixture.card(card.localID)?.nickname == "н" && fixture.card(card.localID)?.points == 2)
        try await fixture.sync.takeServers(id)
        #expect(try fixture.isLevel() && fixture.card(card.localID)?.points == 1)
    }

    @Test func `a cancelled task is not an unreachable server`() async throws {
        let fixture = try SyncFixture()
        let (_, id) = try await refused(fixture)
        fixture.remote.next(.hang, on: .find)
        let taking = Task { try await fixture.sync.takeServers(id) }
        while !fixture.asked.contains(.find) { try await Task.sleep(for: .milliseconds(1)) }
        taking.cancel()
        await #expect(throws: CancellationError.self) { try await taking.value }
        #expect(try fixture.operation != nil)
    }

    @Test func `the server is requested by one sync at a time`() async throws {
        let fixture = try SyncFixture()
        let (card, id) = try await refused(fixture)
        try await fixture.sync.withExclusiveSync {
            await #expect { try await fixture.sync.takeServers(id) } throws: { ($0 as? SyncError)?.code == .busy }
        }
        #expect(try fixture.card(card.localID)?.points == 2 && fixture.asked.isEmpty)
    }

    /// An item fetched by a sync in between is new enough: no request is sent.
    @Test func `an item fetched by a sync meanwhile is used`() async throws {
        let fixture = try SyncFixture()
        let (card, id) = try await refused(fixture)
        fixture.remote.edit("Card", id: try #require(card.serverID)) { $0.set(.integer(5), of: "points") }
        let taking = try await fixture.sync.withExclusiveSync {
            let taking = Task.detached { try await fixture.sync.takeServers(id) }
            await Task.yield()
            try await fixture.receiveAll()
            return taking
        }
        #expect(try await taking.value["points"] == 2)
        #expect(try fixture.isLevel() && fixture.card(card.localID)?.points == 5 && fixture.asked.isEmpty)
    }
}

import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// Taking the server's side may need a request to the server, which is its own sync.
@Suite(.ownThreads) struct DiscardLocalTests {
    /// Creates an edit of a synced card's points, to 2, that the server has rejected.
    private func refused(_ desk: Desk, as user: String? = nil) async throws -> (Card, PendingOperation.ID) {
        let card = try await desk.syncedCard()
        try await desk.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        desk.remote.next(.fail(.refused(status: 400, message: "no")))
        let context = SyncContext(store: desk.store, remote: desk.remote, user: user)
        let id = try await context.push().entries[0].id
        desk.remote.forgetRequests()
        return (card, id)
    }

    @Test func `another user's decision sends no request`() async throws {
        let desk = try Desk()
        let (card, id) = try await refused(desk, as: "anna")
        desk.remote.remove("Card", id: try #require(card.serverID))
        let other = SyncContext(store: desk.store, remote: desk.remote, user: "boris")
        await #expect { try await other.takeServers(id) } throws: { ($0 as? SyncError)?.code == .otherUser }
        #expect(try desk.card(card.localID)?.points == 2 && desk.asked.isEmpty && desk.operation != nil)
    }

    @Test func `a change made during the request stays`() async throws {
        let desk = try Desk()
        let (card, id) = try await refused(desk)
        let (store, clock) = (desk.store, desk.clock)
        desk.remote.next(
            .meanwhile {
                clock.advance(by: 1)
                _ = try? await store.write { try $0.update(Card.self, localID: card.localID) { $0.nickname = "н" } }
            }, on: .find)
        await #expect { try await desk.sync.takeServers(id) } throws: {
            ($0 as? TandemError)?.code == .staleOperation
        }
        #expect(try desk.card(card.localID)?.nickname == "н" && desk.card(card.localID)?.points == 2)
        try await desk.sync.takeServers(id)
        #expect(try desk.isLevel() && desk.card(card.localID)?.points == 1)
    }

    @Test func `a cancelled task is not an unreachable server`() async throws {
        let desk = try Desk()
        let (_, id) = try await refused(desk)
        desk.remote.next(.hang, on: .find)
        let taking = Task { try await desk.sync.takeServers(id) }
        while !desk.asked.contains(.find) { try await Task.sleep(for: .milliseconds(1)) }
        taking.cancel()
        await #expect(throws: CancellationError.self) { try await taking.value }
        #expect(try desk.operation != nil)
    }

    @Test func `the server is requested by one sync at a time`() async throws {
        let desk = try Desk()
        let (card, id) = try await refused(desk)
        try await desk.sync.withExclusiveSync {
            await #expect { try await desk.sync.takeServers(id) } throws: { ($0 as? SyncError)?.code == .busy }
        }
        #expect(try desk.card(card.localID)?.points == 2 && desk.asked.isEmpty)
    }

    /// An item fetched by a sync in between is new enough: no request is sent.
    @Test func `an item fetched by a sync meanwhile is used`() async throws {
        let desk = try Desk()
        let (card, id) = try await refused(desk)
        desk.remote.edit("Card", id: try #require(card.serverID)) { $0.set(.integer(5), of: "points") }
        let taking = try await desk.sync.withExclusiveSync {
            let taking = Task.detached { try await desk.sync.takeServers(id) }
            await Task.yield()
            try await desk.receiveAll()
            return taking
        }
        #expect(try await taking.value["points"] == 2)
        #expect(try desk.isLevel() && desk.card(card.localID)?.points == 5 && desk.asked.isEmpty)
    }
}

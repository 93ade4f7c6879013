import Synchronization
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// Only a result contains discarded values. The app gets it, whatever stops the sync afterwards.
@Suite(.ownThreads) struct GivenUpTests {
    struct Killed: Error {}

    /// A synced card whose points are 2 here and 3 there, with a policy that takes the server's side.
    private func conflict(_ fixture: SyncFixture, _ context: SyncContext) async throws -> Card {
        let card = try await fixture.syncedCard()
        try context.table(Card.self).setConflicts(.serverWins)
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        fixture.remote.edit("Card", id: try #require(card.serverID)) { $0.set(.integer(3), of: "points") }
        return card
    }

    @Test func `a push that is interrupted afterwards reports discarded values`() async throws {
        let fixture = try SyncFixture()
        let context = try fixture.restarted { options in
            options.onPushStep = { step in if case .concluded = step { throw Killed() } }
        }
        _ = try await conflict(fixture, context)
        let error = await #expect(throws: SyncError.self) { try await context.push() }
        #expect(error?.code == .store && error?.underlying is Killed)
        let result = try #require(error?.result)
        #expect(result.lostEdits.map(\.values) == [["points": 2]] && !result.isComplete)
        #expect(result.entries.map(\.outcome.name) == ["tookServers"])
        #expect(try await context.status().lastError == error?.description)
    }

    @Test func `a push that is cancelled afterwards reports discarded values`() async throws {
        let fixture = try SyncFixture { $0.inFlight = 1 }
        let card = try await conflict(fixture, fixture.sync)
        try await fixture.store.write { try $0.insert(Card(shop: "Магнит", barcode: "2")) }
        fixture.remote.next(.hang, on: .insert)
        let sync = fixture.sync
        let push = Task { try await sync.push() }
        while !fixture.asked.contains(.insert) { try await Task.sleep(for: .milliseconds(1)) }
        push.cancel()
        let error = await #expect(throws: SyncError.self) { try await push.value }
        #expect(error?.code == .cancelled && error?.result?.entries.count == 2)
        #expect(error?.result?.lostEdits.map(\.values) == [["points": 2]])
        #expect(try fixture.card(card.localID)?.points == 3 && fixture.store.operations.count() == 1)
    }

    /// The server's points are taken, and the nickname is still unsent. Then the user discards that too.
    @Test func `values discarded later are reported too`() async throws {
        let fixture = try SyncFixture()
        let sync = fixture.sync
        let context = try fixture.restarted { options in
            options.onPushStep = { step in if case .concluded(let id) = step { try await sync.discard(id) } }
        }
        let card = try await conflict(fixture, context)
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.nickname = "н" } }
        try context.table(Card.self).setConflicts(.merge(edits: .server))
        let result = try await context.push()
        #expect(result.lostEdits.map(\.values) == [["points": 2]] && result.isComplete)
        #expect(result.entries.map(\.outcome.name) == ["tookServers"])
        #expect(try fixture.isLevel() && fixture.card(card.localID)?.points == 3)
    }

    /// No values were discarded, so the push only throws the error.
    @Test func `an interrupted push without discarded values throws`() async throws {
        let fixture = try SyncFixture()
        let context = try fixture.restarted { options in
            options.onPushStep = { step in if case .responded = step { throw Killed() } }
        }
        _ = try await conflict(fixture, context)
        await #expect(throws: Killed.self) { try await context.push() }
    }

    @Test func `a pull that fails after its push reports discarded values`() async throws {
        let fixture = try SyncFixture()
        _ = try await conflict(fixture, fixture.sync)
        fixture.remote.next(.fail(.unreachable), on: .page)
        let error = await #expect(throws: SyncError.self) { try await fixture.sync.pull(Card.self) }
        #expect(error?.code == .unreachable && error?.result?.lostEdits.map(\.values) == [["points": 2]])
        #expect(try await fixture.sync.status().lastError == error?.description)
        // Without discarded values it throws the same.
        try await fixture.store.write { try $0.insert(Card(shop: "Магнит", barcode: "2")) }
        fixture.remote.next(.fail(.unreachable), on: .page)
        await #expect { try await fixture.sync.pull(Card.self) } throws: { ($0 as? SyncError)?.code == .unreachable }
        #expect(try fixture.store.operations.count() == 0)
    }

    @Test func `a sync whose push is interrupted reports dropped edits`() async throws {
        for dies in [true, false] {
            let fixture = try SyncFixture { $0.inFlight = 1 }
            let context = try fixture.restarted { options in
                options.onPushStep = { _ in if dies { throw Killed() } }
            }
            let card = try await fixture.syncedCard()
            try await context.synchronize()
            try await fixture.store.write { tx in
                try tx.update(Card.self, localID: card.localID) { $0.points = 2 }
                try tx.insert(Card(shop: "Магнит", barcode: "2"))
            }
            fixture.remote.remove("Card", id: try #require(card.serverID))
            var (result, error) = (nil as SyncResult?, nil as SyncError?)
            do {
                result = try await context.synchronize()
            } catch let thrown as SyncError {
                (result, error) = (thrown.result, thrown)
            }
            #expect(result?.lostEdits.map(\.values) == [["points": 2]])
            #expect(result?.isComplete == !dies && (error?.underlying is Killed) == dies)
            #expect(try await context.status().lastError == error?.description)
        }
    }
}

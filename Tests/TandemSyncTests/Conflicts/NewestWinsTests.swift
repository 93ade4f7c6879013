import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The later change wins, by time and not by the order of arrival (FB 8).
@Suite(.ownThreads) struct NewestWinsTests {
    enum Arrival: CaseIterable, Sendable { case pushFindsIt, pullBringsItFirst }

    /// - Parameters:
    ///   - ours: The time of the local change, in seconds after the server's.
    ///   - skew: The seconds by which the local clock is ahead of the server's.
    private func points(ours: TimeInterval, skew: TimeInterval = 0, _ arrival: Arrival) async throws -> Int? {
        let fixture = try SyncFixture()
        fixture.clock.advance(by: skew)
        try fixture.sync.table(Card.self).setConflicts(.newestWins)
        // The response contains the server's time.
        let card = try await fixture.syncedCard()
        let there = try #require(card.serverID)
        fixture.remote.advanceClock(by: 100)
        fixture.remote.edit("Card", id: there) { $0.set(.integer(3), of: "points") }
        fixture.clock.advance(by: 100 + ours)
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        // Afterwards both have the same time.
        fixture.clock.advance(by: 100 - ours)
        fixture.remote.advanceClock(by: 100)
        if arrival == .pullBringsItFirst { try await fixture.receiveAll() }
        try await fixture.sync.push()
        #expect(try fixture.isLevel())
        return try fixture.card(card.localID)?.points
    }

    @Test(arguments: Arrival.allCases)
    func `the newest change wins in either order`(arrival: Arrival) async throws {
        #expect(try await points(ours: 50, arrival) == 2)
        #expect(try await points(ours: -50, arrival) == 3)
    }

    /// An hour ahead, or behind: the server's clock counts.
    @Test(arguments: Arrival.allCases, [3600.0, -3600])
    func `a wrong local clock is corrected`(arrival: Arrival, skew: TimeInterval) async throws {
        #expect(try await points(ours: 50, skew: skew, arrival) == 2)
        #expect(try await points(ours: -50, skew: skew, arrival) == 3)
    }

    @Test func `deletes are compared by their times too`() async throws {
        for (ours, isGone) in [(50.0, true), (-50, false)] {
            let fixture = try SyncFixture()
            try fixture.sync.table(Card.self).setConflicts(.newestWins)
            let card = try await fixture.syncedCard()
            let there = try #require(card.serverID)
            fixture.remote.advanceClock(by: 100)
            fixture.remote.edit("Card", id: there) { $0.set(.integer(3), of: "points") }
            fixture.clock.advance(by: 100 + ours)
            try await fixture.store.write { _ = try $0.delete(Card.self, localID: card.localID) }
            fixture.clock.advance(by: 100 - ours)
            fixture.remote.advanceClock(by: 100)
            try await fixture.sync.push()
            #expect(try fixture.isLevel() && (fixture.card(card.localID) == nil) == isGone)
        }
    }

    /// Tombstones have no time, so the server's side wins.
    @Test func `a server's delete without a time wins`() async throws {
        let fixture = try SyncFixture(softDelete: false)
        try fixture.sync.table(Card.self).setConflicts(.newestWins)
        let card = try await fixture.syncedCard()
        fixture.clock.advance(by: 100)
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        fixture.remote.remove("Card", id: try #require(card.serverID))
        let result = try await fixture.sync.push()
        #expect(result.entries.map(\.outcome.name) == ["tookServers"] && result.entries[0].lost?.values["points"] == 2)
        #expect(try fixture.isLevel() && fixture.card(card.localID) == nil)
    }

    /// After a restart the server's clock is unknown. The response that reports the conflict contains the time.
    @Test(arguments: [3600.0, -3600])
    func `a conflict's response contains the server's time`(skew: TimeInterval) async throws {
        for ours in [50.0, -50] {
            let fixture = try SyncFixture()
            fixture.clock.advance(by: skew)
            let card = try await fixture.syncedCard()
            fixture.remote.advanceClock(by: 100)
            fixture.remote.edit("Card", id: try #require(card.serverID)) { $0.set(.integer(3), of: "points") }
            fixture.clock.advance(by: 100 + ours)
            try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
            fixture.clock.advance(by: 100 - ours)
            fixture.remote.advanceClock(by: 100)
            let context = try fixture.restarted()
            try context.table(Card.self).setConflicts(.newestWins)
            try await context.push()
            #expect(try fixture.isLevel() && fixture.card(card.localID)?.points == (ours > 0 ? 2 : 3))
        }
    }

    @Test func `a page contains the server's time`() async throws {
        let server = PagedServer()
        var options = SyncContext.Options()
        let time = TimeInterval(server.state.withLock { $0.now }) / 1000
        options.clock = JumpingClock(ManualClock(Date(timeIntervalSince1970: time - 3600)))
        let store = try Store(inMemoryModels: [Person.self, Card.self, Pet.self])
        let context = SyncContext(store: store, remote: server, options: options)
        try await context.pull(Pet.self)
        #expect(context.serverClock.offset == 3600)
    }

    @Test func `a server's clock is the median of its responses in whole seconds`() {
        let clock = ServerTimeEstimator()
        let now = Date(timeIntervalSinceReferenceDate: 1000)
        #expect(clock.offset == 0)
        // The time of a response is truncated to the second.
        clock.record(now.addingTimeInterval(-0.9), between: now, and: now)
        #expect(clock.offset == 0)
        for _ in 0..<8 { clock.record(now.addingTimeInterval(59.2), between: now, and: now) }
        clock.record(now.addingTimeInterval(-1e6), between: now, and: now)
        #expect(clock.offset == 59 && clock.serverTime(of: now) == now.addingTimeInterval(59))
        // A slow request counts as answered in its middle.
        let slow = ServerTimeEstimator()
        slow.record(now.addingTimeInterval(15), between: now, and: now.addingTimeInterval(20))
        #expect(slow.offset == 5)
    }
}

import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The later change wins, by times and not by the order in which they arrive (FB 8).
@Suite(.ownThreads) struct NewestWinsTests {
    enum Arrival: CaseIterable, Sendable { case pushMeetsIt, pullBringsItFirst }

    /// - Parameters:
    ///   - ours: When the change is made here, in seconds after the server's.
    ///   - skew: By how much the local clock is ahead of the server's.
    private func points(ours: TimeInterval, skew: TimeInterval = 0, _ arrival: Arrival) async throws -> Int? {
        let desk = try Desk()
        desk.clock.advance(by: skew)
        try desk.sync.table(Card.self).setConflicts(.newestWins)
        // Its answer tells what time it is there.
        let card = try await desk.syncedCard()
        let there = try #require(card.serverID)
        desk.remote.advanceClock(by: 100)
        desk.remote.edit("Card", there) { $0.set(.integer(3), of: "points") }
        desk.clock.advance(by: 100 + ours)
        try await desk.store.write { _ = try $0.update(Card.self, card.localID) { $0.points = 2 } }
        // Then it is the same moment for both.
        desk.clock.advance(by: 100 - ours)
        desk.remote.advanceClock(by: 100)
        if arrival == .pullBringsItFirst { try await desk.receiveAll() }
        try await desk.sync.push()
        #expect(try desk.isLevel())
        return try desk.card(card.localID)?.points
    }

    @Test(arguments: Arrival.allCases)
    func theNewestWinsInEitherOrder(arrival: Arrival) async throws {
        #expect(try await points(ours: 50, arrival) == 2)
        #expect(try await points(ours: -50, arrival) == 3)
    }

    /// An hour ahead, or behind: what counts is the server's clock.
    @Test(arguments: Arrival.allCases, [3600.0, -3600])
    func aClockThatIsWrongIsPutRight(arrival: Arrival, skew: TimeInterval) async throws {
        #expect(try await points(ours: 50, skew: skew, arrival) == 2)
        #expect(try await points(ours: -50, skew: skew, arrival) == 3)
    }

    @Test func deletesAreComparedByTheirTimesToo() async throws {
        for (ours, isGone) in [(50.0, true), (-50, false)] {
            let desk = try Desk()
            try desk.sync.table(Card.self).setConflicts(.newestWins)
            let card = try await desk.syncedCard()
            let there = try #require(card.serverID)
            desk.remote.advanceClock(by: 100)
            desk.remote.edit("Card", there) { $0.set(.integer(3), of: "points") }
            desk.clock.advance(by: 100 + ours)
            try await desk.store.write { _ = try $0.delete(Card.self, card.localID) }
            desk.clock.advance(by: 100 - ours)
            desk.remote.advanceClock(by: 100)
            try await desk.sync.push()
            #expect(try desk.isLevel() && (desk.card(card.localID) == nil) == isGone)
        }
    }

    /// No tombstone has a time: the server's side stands.
    @Test func whatTheServerKeepsNoTimeOfIsTheServers() async throws {
        let desk = try Desk(softDelete: false)
        try desk.sync.table(Card.self).setConflicts(.newestWins)
        let card = try await desk.syncedCard()
        desk.clock.advance(by: 100)
        try await desk.store.write { _ = try $0.update(Card.self, card.localID) { $0.points = 2 } }
        desk.remote.remove("Card", try #require(card.serverID))
        let result = try await desk.sync.push()
        #expect(result.entries.map(\.outcome.name) == ["tookServers"] && result.entries[0].lost?.values["points"] == 2)
        #expect(try desk.isLevel() && desk.card(card.localID) == nil)
    }

    /// After a restart nothing is known of the server's clock: the very answer that tells of the conflict tells the time.
    @Test(arguments: [3600.0, -3600])
    func aConflictTellsWhatTimeItIsThere(skew: TimeInterval) async throws {
        for ours in [50.0, -50] {
            let desk = try Desk()
            desk.clock.advance(by: skew)
            let card = try await desk.syncedCard()
            desk.remote.advanceClock(by: 100)
            desk.remote.edit("Card", try #require(card.serverID)) { $0.set(.integer(3), of: "points") }
            desk.clock.advance(by: 100 + ours)
            try await desk.store.write { _ = try $0.update(Card.self, card.localID) { $0.points = 2 } }
            desk.clock.advance(by: 100 - ours)
            desk.remote.advanceClock(by: 100)
            let context = try desk.restarted()
            try context.table(Card.self).setConflicts(.newestWins)
            try await context.push()
            #expect(try desk.isLevel() && desk.card(card.localID)?.points == (ours > 0 ? 2 : 3))
        }
    }

    @Test func aPageTellsWhatTimeItIsThere() async throws {
        let server = PagedServer()
        var options = SyncContext.Options()
        let time = TimeInterval(server.state.withLock { $0.now }) / 1000
        options.clock = JumpingClock(ManualClock(Date(timeIntervalSince1970: time - 3600)))
        let store = try Store(inMemoryModels: [Person.self, Card.self, Pet.self])
        let context = SyncContext(store: store, remote: server, options: options)
        try await context.pull(Pet.self)
        #expect(context.serverClock.offset == 3600)
    }

    @Test func aServersClockIsTheMedianOfItsAnswersInWholeSeconds() {
        let clock = ServerClock()
        let now = Date(timeIntervalSinceReferenceDate: 1000)
        #expect(clock.offset == 0)
        // An answer's time is cut to the second.
        clock.note(now.addingTimeInterval(-0.9), between: now, and: now)
        #expect(clock.offset == 0)
        for _ in 0..<8 { clock.note(now.addingTimeInterval(59.2), between: now, and: now) }
        clock.note(now.addingTimeInterval(-1e6), between: now, and: now)
        #expect(clock.offset == 59 && clock.serverTime(of: now) == now.addingTimeInterval(59))
        // A request that took long was answered in its middle, as far as anyone knows.
        let slow = ServerClock()
        slow.note(now.addingTimeInterval(15), between: now, and: now.addingTimeInterval(20))
        #expect(slow.offset == 5)
    }
}

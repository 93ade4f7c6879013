import Foundation
import Synchronization
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The app gets the discarded values of a scheduler's syncs. Only their results contain them.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct SchedulerResultTests {
    private typealias Results = Mutex<[Result<SyncResult, any Error>]>

    private let cards = [PullQuery(Card.self, queryID: "cards")]

    /// Creates a card whose points are 2 here and 1 on the server.
    private func editedCard(_ fixture: SchedulerFixture) async throws -> ServerID {
        let card = try await fixture.insert("1")
        try await fixture.sync.synchronize(cards)
        let synced = try #require(try fixture.store.object(ofType: Card.self, forPrimaryKey: card.localID))
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        return try #require(synced.serverID)
    }

    @Test(arguments: [true, false])
    func `a sync reports discarded values`(isDeleted: Bool) async throws {
        let fixture = try SchedulerFixture()
        let id = try await editedCard(fixture)
        if isDeleted {
            fixture.remote.remove("Card", id: id)
        } else {
            try fixture.sync.table(Card.self).setConflicts(.serverWins)
            fixture.remote.edit("Card", id: id) { $0.set(.integer(3), of: "points") }
        }
        let results = Results([])
        let scheduler = SyncScheduler(fixture.sync, pulls: cards, network: nil) { result in
            // A sync that the app starts here is explicit.
            #expect(!ScheduledRun.isAutomatic)
            results.withLock { $0.append(result) }
        }
        scheduler.start()
        await scheduler.waitUntilIdle()
        await scheduler.stop()
        let delivered = try results.withLock { try $0.map { try $0.get() } }
        #expect(delivered.count == 1)
        #expect(delivered.flatMap(\.lostEdits).map(\.values) == [["points": 2]])
        #expect(delivered.flatMap(\.lostEdits).map(\.isDeletedOnServer) == [isDeleted])
        #expect(try await fixture.store.objects(Card.self).all().map(\.points) == (isDeleted ? [] : [3]))
    }

    /// The sync is stopped between the drop and its end. The app gets the result, and can store it.
    @Test func `a stopped sync reports discarded values`() async throws {
        let fixture = try SchedulerFixture()
        fixture.remote.remove("Card", id: try await editedCard(fixture))
        try await fixture.insert("2")
        fixture.remote.next(.hang, on: .insert)
        let results = Results([])
        let store = fixture.store
        let scheduler = SyncScheduler(fixture.sync, pulls: cards, network: nil) { result in
            #expect(!Task.isCancelled)
            await #expect(throws: Never.self) {
                try await store.write { _ = try $0.insert(Pet(name: "noted")) }
            }
            results.withLock { $0.append(result) }
        }
        scheduler.start()
        #expect(await comesTrue { fixture.remote.requests.count { $0.kind == .insert } == 2 })
        await scheduler.stop()
        let delivered = results.withLock { $0 }
        #expect(throws: SyncError.self) { try delivered.first?.get() }
        guard delivered.count == 1, case .lostEdit(let edit)? = delivered[0].issues.first else {
            Issue.record("\(delivered)")
            return
        }
        #expect(edit.values == ["points": 2] && edit.isDeletedOnServer && edit.of(Card.self)?.points == 2)
        #expect(try await fixture.store.objects(Pet.self).count() == 1)
    }

    @Test func `a failed sync is reported too`() async throws {
        let fixture = try SchedulerFixture()
        fixture.fail(.unreachable, times: 1)
        let results = Results([])
        let scheduler = SyncScheduler(fixture.sync, pulls: cards, network: nil) { result in
            results.withLock { $0.append(result) }
        }
        scheduler.start()
        await scheduler.waitUntilIdle()
        let delivered = results.withLock { $0 }
        #expect(delivered.count == 1)
        #expect(throws: SyncError.self) { try delivered.first?.get() }
        // The scheduler has handled the failure as well.
        #expect(scheduler.state == .waiting(until: fixture.clock.now() + 5))
        await scheduler.stop()
    }

    @Test func `a scheduler without a closure syncs all models`() async throws {
        let fixture = try SchedulerFixture()
        try await fixture.insert("1")
        fixture.remote.edit("animals", id: "a") { $0.members = [("petName", .text("Мурка"))] }
        let scheduler = SyncScheduler(fixture.sync, network: nil)
        scheduler.start()
        await scheduler.waitUntilIdle()
        await scheduler.stop()
        #expect(fixture.remote.items(in: "Card").count == 1)
        #expect(try await fixture.store.objects(Pet.self).all().map(\.name) == ["Мурка"])
    }

    @Test func `the closure that gets the result may stop the scheduler`() async throws {
        let fixture = try SchedulerFixture()
        let held = Mutex<SyncScheduler?>(nil)
        let scheduler = SyncScheduler(fixture.sync, pulls: cards, network: nil) { _ in
            await held.withLock { $0 }?.stop()
        }
        held.withLock { $0 = scheduler }
        scheduler.start()
        #expect(await comesTrue { scheduler.state == .stopped && fixture.remote.requests.count == 1 })
        held.withLock { $0 = nil }
    }
}

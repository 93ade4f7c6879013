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
    private func editedCard(_ desk: SchedulerFixture) async throws -> ServerID {
        let card = try await desk.insert("1")
        try await desk.sync.synchronize(cards)
        let synced = try #require(try desk.store.object(ofType: Card.self, forPrimaryKey: card.localID))
        try await desk.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        return try #require(synced.serverID)
    }

    @Test(arguments: [true, false])
    func `a sync reports discarded values`(isDeleted: Bool) async throws {
        let desk = try SchedulerFixture()
        let id = try await editedCard(desk)
        if isDeleted {
            desk.remote.remove("Card", id: id)
        } else {
            try desk.sync.table(Card.self).setConflicts(.serverWins)
            desk.remote.edit("Card", id: id) { $0.set(.integer(3), of: "points") }
        }
        let results = Results([])
        let scheduler = SyncScheduler(desk.sync, pulls: cards, network: nil) { result in
            // A sync that the app starts here is explicit.
            #expect(!ScheduledRun.isAutomatic)
            results.withLock { $0.append(result) }
        }
        scheduler.start()
        await scheduler.waitUntilIdle()
        await scheduler.stop()
        let told = try results.withLock { try $0.map { try $0.get() } }
        #expect(told.count == 1)
        #expect(told.flatMap(\.lostEdits).map(\.values) == [["points": 2]])
        #expect(told.flatMap(\.lostEdits).map(\.isDeletedOnServer) == [isDeleted])
        #expect(try await desk.store.objects(Card.self).all().map(\.points) == (isDeleted ? [] : [3]))
    }

    /// The sync is stopped between the drop and its end. The app gets the result, and can store it.
    @Test func `a stopped sync reports discarded values`() async throws {
        let desk = try SchedulerFixture()
        desk.remote.remove("Card", id: try await editedCard(desk))
        try await desk.insert("2")
        desk.remote.next(.hang, on: .insert)
        let results = Results([])
        let store = desk.store
        let scheduler = SyncScheduler(desk.sync, pulls: cards, network: nil) { result in
            #expect(!Task.isCancelled)
            await #expect(throws: Never.self) {
                try await store.write { _ = try $0.insert(Pet(name: "noted")) }
            }
            results.withLock { $0.append(result) }
        }
        scheduler.start()
        #expect(await comesTrue { desk.remote.requests.count { $0.kind == .insert } == 2 })
        await scheduler.stop()
        let told = results.withLock { $0 }
        #expect(throws: SyncError.self) { try told.first?.get() }
        guard told.count == 1, case .lostEdit(let edit)? = told[0].issues.first else {
            Issue.record("\(told)")
            return
        }
        #expect(edit.values == ["points": 2] && edit.isDeletedOnServer && edit.of(Card.self)?.points == 2)
        #expect(try await desk.store.objects(Pet.self).count() == 1)
    }

    @Test func `a failed sync is reported too`() async throws {
        let desk = try SchedulerFixture()
        desk.fail(.unreachable, times: 1)
        let results = Results([])
        let scheduler = SyncScheduler(desk.sync, pulls: cards, network: nil) { result in
            results.withLock { $0.append(result) }
        }
        scheduler.start()
        await scheduler.waitUntilIdle()
        let told = results.withLock { $0 }
        #expect(told.count == 1)
        #expect(throws: SyncError.self) { try told.first?.get() }
        // The scheduler has handled the failure as well.
        #expect(scheduler.state == .waiting(until: desk.clock.now() + 5))
        await scheduler.stop()
    }

    @Test func `a scheduler without a closure syncs all models`() async throws {
        let desk = try SchedulerFixture()
        try await desk.insert("1")
        desk.remote.edit("animals", id: "a") { $0.members = [("petName", .text("Мурка"))] }
        let scheduler = SyncScheduler(desk.sync, network: nil)
        scheduler.start()
        await scheduler.waitUntilIdle()
        await scheduler.stop()
        #expect(desk.remote.items(in: "Card").count == 1)
        #expect(try await desk.store.objects(Pet.self).all().map(\.name) == ["Мурка"])
    }

    @Test func `the closure that gets the result may stop the scheduler`() async throws {
        let desk = try SchedulerFixture()
        let held = Mutex<SyncScheduler?>(nil)
        let scheduler = SyncScheduler(desk.sync, pulls: cards, network: nil) { _ in
            await held.withLock { $0 }?.stop()
        }
        held.withLock { $0 = scheduler }
        scheduler.start()
        #expect(await comesTrue { scheduler.state == .stopped && desk.remote.requests.count == 1 })
        held.withLock { $0 = nil }
    }
}

import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The status contains the error of the last sync, thrown or in its result, until a sync succeeds.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct LastErrorTests {
    enum Way: CaseIterable, Sendable {
        case push, pull, pullAfterItsPush, synchronizeThrown, synchronizePull, synchronizePush, takeServers
    }

    /// Makes a sync fail.
    ///
    /// - Returns: The error, as it was thrown or in the result.
    private func fail(_ way: Way, _ fixture: SyncFixture) async throws -> SyncError? {
        let sync = fixture.sync
        let cards = PullQuery(Card.self, queryID: "cards")
        let later = RemoteFault.fail(.later(status: 503, retryAfter: nil))
        do {
            switch way {
            case .push:
                fixture.remote.next(.fail(.unreachable), on: .update)
                try await sync.push()
                return nil
            case .pull:
                fixture.remote.next(.fail(.unreachable), on: .page)
                try await sync.pull(Person.self, queryID: "people")
                return nil
            case .pullAfterItsPush:
                fixture.remote.next(.fail(.unreachable), on: .update)
                try await sync.pull(cards)
                return nil
            case .synchronizeThrown:
                fixture.remote.next(.fail(.unreachable), on: .page)
                try await sync.synchronize([cards])
                return nil
            case .synchronizePull:
                fixture.remote.next(later, on: RequestMatch { $0.kind == .page && $0.table == "Person" })
                let result = try await sync.synchronize([cards, PullQuery(Person.self, queryID: "people")])
                #expect(result.entries.map(\.outcome.name) == ["done"])
                guard case .failure(let error)? = result.pulls.last?.outcome else { return nil }
                return error
            case .synchronizePush:
                fixture.remote.next(.fail(.unreachable), on: .update)
                try await sync.synchronize([cards])
                return nil
            case .takeServers:
                fixture.remote.next(.fail(.refused(status: 403, message: "no")), on: .update)
                let id = try #require(try await sync.push().failedOperations.first?.id)
                // A failed operation is not a failure of the sync.
                #expect(try await sync.status().lastError == nil)
                fixture.remote.next(.fail(.unreachable), on: .find)
                try await sync.takeServers(id)
                return nil
            }
        } catch let error as SyncError {
            return error
        }
    }

    @Test(arguments: Way.allCases)
    func `a failure is shown until a sync succeeds`(way: Way) async throws {
        let fixture = try SyncFixture { $0.retry.tries = 1 }
        let card = try await fixture.syncedCard()
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        #expect(try await fixture.sync.status().lastError == nil)
        let error = try #require(try await fail(way, fixture))
        let shown = try await fixture.sync.status()
        #expect(shown.lastError == error.description && !shown.isSyncing && shown.activity == nil)
        // A purge sends nothing, and its outcome does not change the status.
        try await fixture.sync.purge(Pet.self)
        #expect(try await fixture.sync.status().lastError == error.description)
        // Nor does a sync that has only begun.
        let sync = fixture.sync
        let duringIt = Synchronized<String?>(nil)
        fixture.remote.next(
            .meanwhile {
                let error = try? await sync.status().lastError
                duringIt.change { $0 = error }
            }, on: .page)
        try await fixture.sync.pull(Person.self, queryID: "people")
        #expect(duringIt.value == error.description)
        #expect(try await fixture.sync.status().lastError == nil)
    }

    @Test func `a refused purge is not a failed sync`() async throws {
        let fixture = try SyncFixture()
        try await fixture.store.write { _ = try $0.insert(Card(shop: "Лента", barcode: "1")) }
        await #expect { try await fixture.sync.purge(Card.self) } throws: {
            ($0 as? SyncError)?.code == .pendingOperations
        }
        #expect(try await fixture.sync.status().lastError == nil)
    }

    @Test(arguments: [Way.push, .synchronizePull, .synchronizeThrown])
    func `the last error is live`(way: Way) async throws {
        let fixture = try SyncFixture { $0.retry.tries = 1 }
        let card = try await fixture.syncedCard()
        try await fixture.store.write { _ = try $0.update(Card.self, localID: card.localID) { $0.points = 2 } }
        let last = Synchronized<SyncStatus?>(nil)
        let statuses = fixture.sync.statuses
        let watch = Task { for try await status in statuses { last.change { $0 = status } } }
        let error = try #require(try await fail(way, fixture))
        #expect(
            await comesTrue { last.value.map { $0.lastError == error.description && !$0.isSyncing } ?? false })
        try await fixture.sync.synchronize()
        #expect(await comesTrue { last.value.map { $0.lastError == nil && !$0.isSyncing } ?? false })
        watch.cancel()
    }

    @Test func `a scheduler's failure is shown too`() async throws {
        let fixture = try SchedulerFixture()
        fixture.fail(.unreachable, times: 1)
        await fixture.start()
        #expect(try await fixture.sync.status().lastError?.contains("https://scripted.example/tables/Card") == true)
        await fixture.pass(5)
        #expect(try await fixture.sync.status().lastError == nil)
        await fixture.scheduler.stop()
    }
}

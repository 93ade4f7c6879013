import Foundation
import Tandem
import TandemSync
import TandemTesting
import TestSupport
import Testing

/// Results as an app sees them, and makes them: nothing here that is not public.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct ResultTests {
    private func desk() throws -> (Store, ScriptedRemote, SyncContext) {
        let remote = ScriptedRemote()
        let store = try Store(inMemoryModels: [Person.self, Card.self, Pet.self])
        return (store, remote, SyncContext(store: store, remote: remote))
    }

    /// The closure of a scheduler does what it likes, and says what came of it.
    @Test func aClosureOfAScheduledSyncPutsItsResultTogether() async throws {
        let (store, remote, sync) = try desk()
        try await store.write { _ = try $0.insert(Card(shop: "Лента", barcode: "1")) }
        let results = Synchronized<[SyncResult]>([])
        let scheduler = SyncScheduler(sync, network: nil) { sync in
            let cards = PullQuery(Card.self, queryID: "cards")
            let push = try await sync.push()
            let pull = SyncResult.Pull(query: cards, outcome: .success(try await sync.pull(cards)))
            let result = SyncResult(pulls: [pull], push: push)
            results.change { $0.append(result) }
            return result
        }
        scheduler.start()
        #expect(await comesTrue { results.value.count == 1 })
        await scheduler.stop()
        #expect(results.value[0].isComplete && remote.items(in: "Card").count == 1)
        #expect(scheduler.lastError == nil)
    }

    /// What the app says has failed is tried again.
    @Test func aSchedulerBelievesTheAppsResult() async throws {
        let clock = ManualSyncClock()
        let store = try Store(inMemoryModels: [Person.self, Card.self, Pet.self])
        let remote = ScriptedRemote(clock: ManualClock(clock.now()))
        var options = SyncContext.Options()
        (options.clock, options.random) = (clock, { 0 })
        let sync = SyncContext(store: store, remote: remote, options: options)
        let query = PullQuery(Card.self, queryID: "cards")
        let scheduler = SyncScheduler(sync, network: nil) { sync in
            do {
                return SyncResult(pulls: [.init(query: query, outcome: .success(try await sync.pull(query)))])
            } catch let error as SyncError {
                return SyncResult(
                    pulls: [.init(query: query, outcome: .failure(error))], push: PushResult(stoppedBy: error))
            }
        }
        remote.next(.loseRequest, on: .page)
        let start = clock.now()
        scheduler.start()
        #expect(await comesTrue { scheduler.state == .waiting(until: start + 5) })
        #expect((scheduler.lastError as? SyncError)?.code == .unreachable)
        #expect(await comesTrue { clock.alarms == [start + 5] })
        clock.advance(by: .seconds(5))
        #expect(await comesTrue { scheduler.state == .waiting(until: start + 905) })
        #expect(scheduler.lastError == nil)
        await scheduler.stop()
    }

    @Test func eachResultHasAllThatOneOfASyncHas() {
        let lost: [String: StorageValue] = ["points": 2]
        let entry = PushResult.Entry(
            id: 7, kind: .update, table: "Card", localID: "a", outcome: .tookServers, lost: lost)
        let push = PushResult(entries: [entry])
        #expect(push.isComplete && push.refused.isEmpty && push.entries[0].lost == lost && push.entries[0].id == 7)
        #expect(PushResult().isComplete && PushResult().entries.isEmpty)
        let row = RefusedRow(model: "Card", table: "Card", serverID: "s", message: "Its barcode is taken.")
        let pull = PullResult(
            inserted: 1, updated: 2, deleted: 3, unchanged: 4, keptBeside: 5, refusedRows: [row], pages: 6, push: push)
        #expect(pull.changes == 6 && pull.unchanged == 4 && pull.keptBeside == 5 && pull.pages == 6)
        #expect(pull.refusedRows[0].message == row.message && pull.push?.entries.count == 1)
        #expect(pull.pushError == nil && pull.stoppedBy == nil && PullResult().changes == 0)
        let edit = DroppedEdit(model: "Card", localID: "a", serverID: "s", values: lost)
        let query = PullQuery(Card.self, queryID: "cards")
        let whole = SyncResult(
            pulls: [.init(query: query, outcome: .success(pull))], dropped: [edit], push: push)
        // A row could not be written.
        #expect(!whole.isComplete && whole.dropped[0].values == lost && whole.pushError == nil)
        #expect(SyncResult(pulls: [.init(query: query, outcome: .success(PullResult()))], push: push).isComplete)
        #expect(SyncResult().isComplete)
    }

    /// Which table it is of, where a sync has pulled several.
    @Test func aRefusedRowNamesItsModelAndTable() async throws {
        let (_, remote, sync) = try desk()
        for id in ["a", "b"] as [ServerID] {
            remote.edit("Card", id) { item in
                item.set(.text("Лента"), of: "shop")
                item.set(.text("1"), of: "barcode")
                item.set(.integer(0), of: "points")
            }
        }
        let result = try await sync.synchronize([
            PullQuery(Person.self, queryID: "people"), PullQuery(Card.self, queryID: "cards"),
        ])
        let rows = try result.pulls.flatMap { try $0.outcome.get().refusedRows }
        #expect(rows.map(\.serverID) == ["b"] && rows.map(\.model) == ["Card"] && rows.map(\.table) == ["Card"])
        // Also one that was kept, and is tried again.
        let again = try await sync.pull(Card.self, queryID: "cards").refusedRows
        #expect(again.map(\.serverID) == ["b"] && again.map(\.model) == ["Card"])
    }
}

import Foundation
import Tandem
import TandemSync
import TandemTesting
import TestSupport
import Testing

/// Results as an app reads and creates them, with public API only.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct ResultTests {
    private func fixture() throws -> (Store, ScriptedRemote, SyncContext) {
        let remote = ScriptedRemote()
        let store = try Store(inMemoryModels: [Person.self, Card.self, Pet.self])
        return (store, remote, SyncContext(store: store, remote: remote))
    }

    /// A scheduler's closure may do any work, and returns the result.
    @Test func `a scheduled closure builds its own result`() async throws {
        let (store, remote, sync) = try fixture()
        try await store.write { _ = try $0.insert(Card(shop: "Лента", barcode: "1")) }
        let results = Synchronized<[SyncResult]>([])
        let scheduler = SyncScheduler(sync, network: nil) { sync in
            let cards = PullQuery(Card.self, queryID: "cards")
            let result = try await sync.push().followed(by: sync.pull(cards))
            results.change { $0.append(result) }
            return result
        }
        scheduler.start()
        #expect(await comesTrue { results.value.count == 1 })
        await scheduler.stop()
        #expect(results.value[0].isComplete && remote.items(in: "Card").count == 1)
        #expect(results.value[0].entries.count == 1 && results.value[0].pulls.count == 1)
        #expect(scheduler.lastError == nil)
    }

    /// A failed sync is retried.
    @Test func `a scheduler uses the app's result`() async throws {
        let clock = ManualSyncClock()
        let store = try Store(inMemoryModels: [Person.self, Card.self, Pet.self])
        let remote = ScriptedRemote(clock: ManualClock(clock.now()))
        var options = SyncContext.Options()
        (options.clock, options.random) = (clock, { 0 })
        let sync = SyncContext(store: store, remote: remote, options: options)
        let query = PullQuery(Card.self, queryID: "cards")
        let scheduler = SyncScheduler(sync, network: nil) { sync in
            do {
                return try await sync.pull(query)
            } catch let error as SyncError {
                return SyncResult(pulls: [.init(query: query, outcome: .failure(error))])
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

    @Test func `a result built by the app lists its parts as issues`() throws {
        let card = Card(shop: "Лента", barcode: "1", points: 2)
        let edit = LostEdit(card, properties: ["points"])
        #expect(edit.model == "Card" && edit.localID == card.localID && edit.values == ["points": 2])
        #expect(edit.of(Card.self)?.shop == "Лента" && edit.of(Person.self) == nil)
        let entry = SyncResult.Entry(
            id: 7, kind: .update, table: "Card", localID: card.localID, outcome: .tookServers, lost: edit)
        let row = RefusedRow(model: "Card", table: "Card", serverID: "s", message: "Its barcode is taken.")
        let pull = PullResult(
            inserted: 1, updated: 2, deleted: 3, unchanged: 4, deferred: 5, refusedRows: [row],
            rowsAheadOfClock: ["f"], pages: 6)
        #expect(pull.changes == 6 && PullResult().changes == 0)
        let query = PullQuery(Card.self, queryID: "cards")
        let dropped = LostEdit(card, properties: ["shop"], isDeletedOnServer: true)
        let result = SyncResult(
            pulls: [.init(query: query, outcome: .success(pull)), .init(query: query, outcome: .success(pull))],
            entries: [entry], lostEdits: [dropped])
        // The counts of all pulls add up to those of the result.
        #expect(result.inserted == 2 && result.changes == 12 && result.pages == 12 && result.unchanged == 8)
        #expect(result.lostEdits.map(\.values) == [["shop": "Лента"], ["points": 2]])
        #expect(
            result.issues.map(\.description) == [
                "The edit of Card \(card.localID) was dropped: the server has deleted the object. Lost: shop.",
                "The edit of Card \(card.localID) was dropped: the server's values were taken. Lost: points.",
                "The server's Card s was not stored: Its barcode is taken.",
                "The server dates Card f past its own clock.",
                "The server's Card s was not stored: Its barcode is taken.",
                "The server dates Card f past its own clock.",
            ])
        // A row could not be stored. Lost edits are final.
        #expect(!result.isComplete && SyncResult(entries: [entry], lostEdits: [dropped]).isComplete)
        #expect(SyncResult().isComplete && SyncResult().issues.isEmpty)
        let held = SyncResult.Entry(id: 8, kind: .update, table: "Card", localID: "b", outcome: .held)
        let left = SyncResult.Entry(id: 9, kind: .delete, table: "Card", localID: "c", outcome: .notReached)
        #expect(SyncResult(entries: [held]).isComplete && !SyncResult(entries: [left]).isComplete)
        #expect(
            SyncResult(entries: [held, left]).issues.map(\.description) == [
                "The delete of Card c was not sent: The push stopped earlier."
            ])
    }

    /// The table is named, because a sync may have pulled several.
    @Test func `a refused row names its model and table`() async throws {
        let (_, remote, sync) = try fixture()
        for id in ["a", "b"] as [ServerID] {
            remote.edit("Card", id: id) { item in
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
        // This includes a kept row that is tried again.
        let again = try await sync.pull(Card.self, queryID: "cards").refusedRows
        #expect(again.map(\.serverID) == ["b"] && again.map(\.model) == ["Card"])
    }
}

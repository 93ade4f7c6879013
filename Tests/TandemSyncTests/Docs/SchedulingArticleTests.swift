import Synchronization
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The code of the article on scheduling, compiled and run. The lines between the markers equal the article's.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct SchedulingArticleTests {
    private final class Journal: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }

        func note(_ issue: SyncIssue) {
            lines.withLock { $0.append("\(issue)") }
        }
    }

    private struct List: Sendable {
        let query: PullQuery
    }

    /// Two cards with local points. The server has deleted the first, and has other points for the second.
    private func fixture() async throws -> SyncFixture {
        let fixture = try SyncFixture()
        try fixture.sync.table(Card.self).setConflicts(.serverWins)
        let (first, second) = (try await fixture.syncedCard("1"), try await fixture.syncedCard("2"))
        fixture.remote.remove("Card", id: try #require(first.serverID))
        fixture.remote.edit("Card", id: try #require(second.serverID)) { $0.set(.integer(3), of: "points") }
        try await fixture.store.write { tx in
            for card in [first, second] { try tx.update(Card.self, localID: card.localID) { $0.points = 2 } }
        }
        return fixture
    }

    @Test func `a scheduler reports lost edits`() async throws {
        let (sync, journal) = (try await fixture().sync, Journal())
        // Scheduling begins
        let scheduler = SyncScheduler(
            sync,
            onResult: { result in
                for issue in result.issues { journal.note(issue) }
            })
        scheduler.start()
        // Scheduling ends
        #expect(await comesTrue { journal.all.count == 2 })
        await scheduler.stop()
    }

    @Test func `an app with its own sync closure gets the result`() async throws {
        let (sync, journal, openLists) = (try await fixture().sync, Journal(), [List(query: PullQuery(Person.self))])
        // Scheduling begins
        let scheduler = SyncScheduler(sync) { sync in
            let result = try await sync.synchronize([PullQuery(Card.self, queryID: "cards")] + openLists.map(\.query))
            for issue in result.issues { journal.note(issue) }
            return result
        }
        // Scheduling ends
        scheduler.start()
        #expect(await comesTrue { journal.all.count == 2 })
        await scheduler.stop()
    }

    @Test func `the article's code equals the tested code`() throws {
        try Snippets.expectTested("Scheduling", of: "TandemSync", in: #filePath)
    }
}

import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// When a table was last fetched to its end, as an app sees it.
@Suite(.ownThreads) struct LastSuccessTests {
    private func pass(_ seconds: TimeInterval, _ desk: Desk) {
        desk.clock.advance(by: seconds)
        desk.remote.advanceClock(by: seconds)
    }

    private func success(_ context: SyncContext, of table: String = "Card") async throws -> Date? {
        try await context.status().lastSuccess[table]
    }

    @Test(arguments: ["cards", nil])
    func anotherContextKnowsWhenAPullHasFoundSomething(queryID: String?) async throws {
        let desk = try Desk()
        desk.remote.edit("Card", "a") {
            $0.set(.text("Лента"), of: "shop")
            $0.set(.text("1"), of: "barcode")
        }
        #expect(try await success(desk.sync) == nil)
        // The server's clock passes what it has sent: then nothing is left to be remembered of it.
        for _ in 1...3 {
            pass(60, desk)
            try await desk.sync.pull(Card.self, queryID: queryID)
        }
        #expect(try await success(desk.sync) == desk.clock.now())
        desk.remote.edit("Card", "a") { $0.set(.text("Магнит"), of: "shop") }
        pass(60, desk)
        try await desk.sync.pull(Card.self, queryID: queryID)
        let found = desk.clock.now()
        pass(60, desk)
        let writes = try desk.store.totalChanges()
        try await desk.sync.pull(Card.self, queryID: queryID)
        // Nothing is written for the date's sake.
        #expect(try desk.store.totalChanges() == writes)
        #expect(try await success(desk.sync) == desk.clock.now())
        #expect(try await success(desk.restarted()) == found)
        #expect(try await success(desk.restarted(), of: "Person") == nil)
        try await desk.sync.purge(Card.self)
        #expect(try await success(desk.restarted()) == nil)
    }

    /// An empty table was fetched as well.
    @Test func theFirstFullPullIsRememberedThoughItBringsNothing() async throws {
        let desk = try Desk()
        try await desk.sync.pull(Card.self)
        #expect(try await success(desk.restarted()) == desk.clock.now())
    }

    @Test func aPullThatFailsIsNoSuccess() async throws {
        let desk = try Desk()
        desk.remote.next(.fail(.unreachable), on: .page)
        await #expect(throws: SyncError.self) { try await desk.sync.pull(Card.self) }
        #expect(try await success(desk.sync) == nil)
        #expect(try await success(desk.restarted()) == nil)
    }
}

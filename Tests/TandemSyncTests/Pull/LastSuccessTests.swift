import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The time at which a table was last fetched completely, as an app sees it.
@Suite(.ownThreads) struct LastSuccessTests {
    private func pass(_ seconds: TimeInterval, _ fixture: SyncFixture) {
        fixture.clock.advance(by: seconds)
        fixture.remote.advanceClock(by: seconds)
    }

    private func success(_ context: SyncContext, of table: String = "Card") async throws -> Date? {
        try await context.status().lastSuccess[table]
    }

    @Test(arguments: ["cards", nil])
    func `another context knows the time of a pull with changes`(queryID: String?) async throws {
        let fixture = try SyncFixture()
        fixture.remote.edit("Card", id: "a") {
            $0.set(.text("Лента"), of: "shop")
            $0.set(.text("1"), of: "barcode")
        }
        #expect(try await success(fixture.sync) == nil)
        // The server's clock passes its items. Then nothing is left to record.
        for _ in 1...3 {
            pass(60, fixture)
            try await fixture.sync.pull(Card.self, queryID: queryID)
        }
        #expect(try await success(fixture.sync) == fixture.clock.now())
        fixture.remote.edit("Card", id: "a") { $0.set(.text("Магнит"), of: "shop") }
        pass(60, fixture)
        try await fixture.sync.pull(Card.self, queryID: queryID)
        let found = fixture.clock.now()
        pass(60, fixture)
        let writes = try fixture.store.totalChanges()
        try await fixture.sync.pull(Card.self, queryID: queryID)
        // The date alone is not written.
        #expect(try fixture.store.totalChanges() == writes)
        #expect(try await success(fixture.sync) == fixture.clock.now())
        #expect(try await success(fixture.restarted()) == found)
        #expect(try await success(fixture.restarted(), of: "Person") == nil)
        try await fixture.sync.purge(Card.self)
        #expect(try await success(fixture.restarted()) == nil)
    }

    /// An empty table was fetched too.
    @Test func `the first full pull is recorded although it fetches nothing`() async throws {
        let fixture = try SyncFixture()
        try await fixture.sync.pull(Card.self)
        #expect(try await success(fixture.restarted()) == fixture.clock.now())
    }

    @Test func `a failed pull is not a success`() async throws {
        let fixture = try SyncFixture()
        fixture.remote.next(.fail(.unreachable), on: .page)
        await #expect(throws: SyncError.self) { try await fixture.sync.pull(Card.self) }
        #expect(try await success(fixture.sync) == nil)
        #expect(try await success(fixture.restarted()) == nil)
    }

    // MARK: Across a restart

    private func context(_ store: Store, _ fixture: SyncFixture) -> SyncContext {
        var options = SyncContext.Options()
        options.clock = JumpingClock(fixture.clock)
        return SyncContext(store: store, remote: fixture.remote, options: options)
    }

    private func recorded(_ store: Store) async throws -> [String: Date] {
        try await TandemStore(store).read { try $0.lastSuccesses() }
    }

    /// Pulls until nothing is left to record of the cards.
    private func pullAll(_ sync: SyncContext, _ fixture: SyncFixture, queryID: String? = "cards") async throws {
        for _ in 1...3 {
            pass(60, fixture)
            try await sync.pull(Card.self, queryID: queryID)
        }
    }

    @Test(arguments: [StoreKind.file, .encrypted], ["cards", nil])
    func `a pull that finds nothing makes no commit and is known after a restart`(
        kind: StoreKind, queryID: String?
    ) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (fixture, path) = (try SyncFixture(), folder.path(of: "store.tandem"))
        fixture.remote.edit("Card", id: "a") { $0.members = [("shop", .text("Лента")), ("barcode", .text("1"))] }
        let store = try kind.open(at: path, [Person.self, Card.self, Pet.self])
        let sync = context(store, fixture)
        try await pullAll(sync, fixture, queryID: queryID)
        pass(60, fixture)
        let (writes, before) = (try store.totalChanges(), try await recorded(store))
        try await sync.pull(Card.self, queryID: queryID)
        #expect(try store.totalChanges() == writes)
        #expect(try await recorded(store) == before)
        store.close()
        // Two times, and nothing else.
        #expect(FileManager.default.contents(atPath: path + "-sync")?.count == 16)

        let reopened = try kind.open(at: path, [Person.self, Card.self, Pet.self])
        defer { reopened.close() }
        let next = context(reopened, fixture)
        #expect(try await success(next) == fixture.clock.now())
        #expect(try await success(next, of: "Person") == nil)
        try await next.purge(Card.self)
        #expect(try await success(next) == nil)
        // The next success is stored in the store.
        pass(60, fixture)
        try await next.pull(Card.self, queryID: queryID)
        #expect(try await success(context(reopened, fixture)) == fixture.clock.now())
    }

    @Test func `a whole sync that finds nothing is known after a restart for each table`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (fixture, path) = (try SyncFixture(), folder.path(of: "store.tandem"))
        let store = try Store(at: path, models: [Person.self, Card.self, Pet.self])
        let sync = context(store, fixture)
        // Each table has its own time of success: equal times could not be distinguished.
        fixture.remote.edit("Person", id: "p") { $0.members = [("name", .text("Ада"))] }
        fixture.remote.edit("Card", id: "c") { $0.members = [("shop", .text("Лента")), ("barcode", .text("1"))] }
        for table in ["Person", "Card"] {
            for _ in 1...3 {
                pass(60, fixture)
                try await sync.synchronize([PullQuery(table: table, queryID: table)])
            }
        }
        pass(60, fixture)
        try await sync.synchronize([PullQuery(Card.self, queryID: "Card"), PullQuery(Person.self, queryID: "Person")])
        let last = fixture.clock.now()
        pass(60, fixture)
        try await sync.synchronize([PullQuery(Card.self, queryID: "Card")])
        store.close()
        let reopened = try Store(at: path, models: [Person.self, Card.self, Pet.self])
        defer { reopened.close() }
        let next = context(reopened, fixture)
        #expect(try await success(next) == fixture.clock.now())
        #expect(try await success(next, of: "Person") == last)
    }

    @Test func `a restored backup ignores later pulls`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (fixture, path, copy) = (try SyncFixture(), folder.path(of: "a.tandem"), folder.path(of: "b.tandem"))
        fixture.remote.edit("Card", id: "a") { $0.members = [("shop", .text("Лента")), ("barcode", .text("1"))] }
        let store = try Store(at: path, models: [Person.self, Card.self, Pet.self])
        let sync = context(store, fixture)
        try await pullAll(sync, fixture)
        let known = try await recorded(store)["Card"]
        try store.backup(to: copy)
        fixture.remote.edit("Card", id: "a") { $0.set(.text("Магнит"), of: "shop") }
        try await pullAll(sync, fixture)
        #expect(try await success(context(store, fixture)) == fixture.clock.now())
        store.close()
        try FileManager.default.copyItem(atPath: path + "-sync", toPath: copy + "-sync")
        let restored = try Store(at: copy, models: [Person.self, Card.self, Pet.self])
        defer { restored.close() }
        #expect(known != nil)
        #expect(try await success(context(restored, fixture)) == known)
    }

    @Test func `equal times of two tables and invalid files are ignored`() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = folder.path(of: "x.tandem-sync")
        func date(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }
        let recorded = ["Card": date(1.5), "Person": date(2), "Pet": date(2)]
        var pulls = QuietPulls(at: path)
        pulls.update(["Card": date(5), "Person": date(6), "Film": date(9)], after: recorded)
        let later = ["Card": date(5), "Person": date(2), "Pet": date(2)]
        #expect(pulls.successes(after: recorded) == later)
        // Without the lock there is no file to write to.
        pulls.write(to: path)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(FileManager.default.createFile(atPath: path, contents: Data(repeating: 7, count: 500)))
        #expect(QuietPulls(at: path).successes(after: recorded) == recorded)
        pulls.write(to: path)
        #expect(QuietPulls(at: path) == pulls && QuietPulls(at: path).successes(after: recorded) == later)
        // Another store records other times.
        #expect(QuietPulls(at: path).successes(after: ["Card": date(1)]) == ["Card": date(1)])
        for garbage in [Data("x".utf8), Data(repeating: 0xFF, count: 32), Data(repeating: 0, count: 1 << 17)] {
            #expect(FileManager.default.createFile(atPath: path, contents: garbage))
            #expect(QuietPulls(at: path).successes(after: recorded) == recorded)
        }
    }
}

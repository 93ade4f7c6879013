import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// The time at which a table was last fetched completely, as an app sees it.
@Suite(.ownThreads) struct LastSuccessTests {
    private func pass(_ seconds: TimeInterval, _ desk: Desk) {
        desk.clock.advance(by: seconds)
        desk.remote.advanceClock(by: seconds)
    }

    private func success(_ context: SyncContext, of table: String = "Card") async throws -> Date? {
        try await context.status().lastSuccess[table]
    }

    @Test(arguments: ["cards", nil])
    func `another context knows the time of a pull with changes`(queryID: String?) async throws {
        let desk = try Desk()
        desk.remote.edit("Card", id: "a") {
            $0.set(.text("Лента"), of: "shop")
            $0.set(.text("1"), of: "barcode")
        }
        #expect(try await success(desk.sync) == nil)
        // The server's clock passes its items. Then nothing is left to record.
        for _ in 1...3 {
            pass(60, desk)
            try await desk.sync.pull(Card.self, queryID: queryID)
        }
        #expect(try await success(desk.sync) == desk.clock.now())
        desk.remote.edit("Card", id: "a") { $0.set(.text("Магнит"), of: "shop") }
        pass(60, desk)
        try await desk.sync.pull(Card.self, queryID: queryID)
        let found = desk.clock.now()
        pass(60, desk)
        let writes = try desk.store.totalChanges()
        try await desk.sync.pull(Card.self, queryID: queryID)
        // The date alone is not written.
        #expect(try desk.store.totalChanges() == writes)
        #expect(try await success(desk.sync) == desk.clock.now())
        #expect(try await success(desk.restarted()) == found)
        #expect(try await success(desk.restarted(), of: "Person") == nil)
        try await desk.sync.purge(Card.self)
        #expect(try await success(desk.restarted()) == nil)
    }

    /// An empty table was fetched too.
    @Test func `the first full pull is recorded although it fetches nothing`() async throws {
        let desk = try Desk()
        try await desk.sync.pull(Card.self)
        #expect(try await success(desk.restarted()) == desk.clock.now())
    }

    @Test func `a failed pull is not a success`() async throws {
        let desk = try Desk()
        desk.remote.next(.fail(.unreachable), on: .page)
        await #expect(throws: SyncError.self) { try await desk.sync.pull(Card.self) }
        #expect(try await success(desk.sync) == nil)
        #expect(try await success(desk.restarted()) == nil)
    }

    // MARK: Across a restart

    private func context(_ store: Store, _ desk: Desk) -> SyncContext {
        var options = SyncContext.Options()
        options.clock = JumpingClock(desk.clock)
        return SyncContext(store: store, remote: desk.remote, options: options)
    }

    private func recorded(_ store: Store) async throws -> [String: Date] {
        try await TandemStore(store).read { try $0.lastSuccesses() }
    }

    /// Pulls until nothing is left to record of the cards.
    private func settle(_ sync: SyncContext, _ desk: Desk, queryID: String? = "cards") async throws {
        for _ in 1...3 {
            pass(60, desk)
            try await sync.pull(Card.self, queryID: queryID)
        }
    }

    @Test(arguments: [StoreKind.file, .encrypted], ["cards", nil])
    func `a pull that finds nothing makes no commit and is known after a restart`(
        kind: StoreKind, queryID: String?
    ) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (desk, path) = (try Desk(), folder.path(of: "store.tandem"))
        desk.remote.edit("Card", id: "a") { $0.members = [("shop", .text("Лента")), ("barcode", .text("1"))] }
        let store = try kind.open(at: path, [Person.self, Card.self, Pet.self])
        let sync = context(store, desk)
        try await settle(sync, desk, queryID: queryID)
        pass(60, desk)
        let (writes, before) = (try store.totalChanges(), try await recorded(store))
        try await sync.pull(Card.self, queryID: queryID)
        #expect(try store.totalChanges() == writes)
        #expect(try await recorded(store) == before)
        store.close()
        // Two times, and nothing else.
        #expect(FileManager.default.contents(atPath: path + "-sync")?.count == 16)

        let reopened = try kind.open(at: path, [Person.self, Card.self, Pet.self])
        defer { reopened.close() }
        let next = context(reopened, desk)
        #expect(try await success(next) == desk.clock.now())
        #expect(try await success(next, of: "Person") == nil)
        try await next.purge(Card.self)
        #expect(try await success(next) == nil)
        // The next success is stored in the store.
        pass(60, desk)
        try await next.pull(Card.self, queryID: queryID)
        #expect(try await success(context(reopened, desk)) == desk.clock.now())
    }

    @Test func `a whole sync that finds nothing is known after a restart for each table`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (desk, path) = (try Desk(), folder.path(of: "store.tandem"))
        let store = try Store(at: path, models: [Person.self, Card.self, Pet.self])
        let sync = context(store, desk)
        // Each table has its own time of success: equal times could not be distinguished.
        desk.remote.edit("Person", id: "p") { $0.members = [("name", .text("Ада"))] }
        desk.remote.edit("Card", id: "c") { $0.members = [("shop", .text("Лента")), ("barcode", .text("1"))] }
        for table in ["Person", "Card"] {
            for _ in 1...3 {
                pass(60, desk)
                try await sync.synchronize([PullQuery(table: table, queryID: table)])
            }
        }
        pass(60, desk)
        try await sync.synchronize([PullQuery(Card.self, queryID: "Card"), PullQuery(Person.self, queryID: "Person")])
        let last = desk.clock.now()
        pass(60, desk)
        try await sync.synchronize([PullQuery(Card.self, queryID: "Card")])
        store.close()
        let reopened = try Store(at: path, models: [Person.self, Card.self, Pet.self])
        defer { reopened.close() }
        let next = context(reopened, desk)
        #expect(try await success(next) == desk.clock.now())
        #expect(try await success(next, of: "Person") == last)
    }

    @Test func `a restored backup ignores later pulls`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let (desk, path, copy) = (try Desk(), folder.path(of: "a.tandem"), folder.path(of: "b.tandem"))
        desk.remote.edit("Card", id: "a") { $0.members = [("shop", .text("Лента")), ("barcode", .text("1"))] }
        let store = try Store(at: path, models: [Person.self, Card.self, Pet.self])
        let sync = context(store, desk)
        try await settle(sync, desk)
        let known = try await recorded(store)["Card"]
        try store.backup(to: copy)
        desk.remote.edit("Card", id: "a") { $0.set(.text("Магнит"), of: "shop") }
        try await settle(sync, desk)
        #expect(try await success(context(store, desk)) == desk.clock.now())
        store.close()
        try FileManager.default.copyItem(atPath: path + "-sync", toPath: copy + "-sync")
        let restored = try Store(at: copy, models: [Person.self, Card.self, Pet.self])
        defer { restored.close() }
        #expect(known != nil)
        #expect(try await success(context(restored, desk)) == known)
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

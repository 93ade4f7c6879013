import DatasyncWire
import Foundation
import HTTPTypes
import Synchronization
import Tandem
import TandemServerCore
import TandemSync
import TandemTesting
import TestSupport
import Testing

/// Pulls from a server with production logic.
@Suite(.ownThreads) struct PullTests {
    @Test(arguments: [Dialect.datasync, .azureMobileApps])
    func `changes on the server are made here`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        let (store, sync) = try world.device()
        try await world.others.person("p", "Ада")
        try await world.others.card("a", points: .integer(7), owner: "p", nickname: "мой")
        try await world.others.card("b")
        var result = try await sync.pull(Card.self, queryID: "cards")
        #expect(result.inserted == 2 && result.refusedRows.isEmpty && result.entries.isEmpty)
        // A bare array may have been truncated: its end is a page without new items.
        #expect(result.pages == (dialect == .datasync ? 1 : 2))
        var card = try #require(try await store.objects(Card.self).where { $0.barcode == "ba" }.first())
        #expect(card.points == 7 && card.nickname == "мой" && card.isSynced && card.serverID == "a")
        #expect(card.version != nil && card.updatedAt == world.clock.now())
        // The person was not pulled yet, so the reference waits for it.
        #expect(card.owner == nil)
        try await sync.pull(Person.self, queryID: "people")
        card = try #require(try store.object(ofType: Card.self, forPrimaryKey: card.localID))
        #expect(card.owner?.localID == "p")

        world.clock.advance(by: 60)
        try await world.others.card("a", points: .integer(8), owner: "p")
        try await world.others.delete("Card", "b")
        try await world.others.delete("Person", "p")
        result = try await sync.pull(Card.self, queryID: "cards")
        #expect(result.inserted == 0 && result.updated == 1 && result.deleted == 1)
        #expect(try await store.objects(Card.self).all().map(\.points) == [8])
        // Deleted and never seen.
        try await world.others.card("c")
        try await world.others.delete("Card", "c")
        result = try await sync.pull(Card.self, queryID: "cards")
        #expect(result.changes == 0 && result.unchanged > 0)
        #expect(try store.operations.count() == 0 && store.checkIntegrity() == [])
    }

    @Test(arguments: [Dialect.datasync, .azureMobileApps])
    func `a quiet table is one request and no write`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        let (store, sync) = try world.device()
        for id in ["a", "b", "c"] as [ServerID] {
            try await world.others.card(id)
            world.clock.advance(by: 1)
        }
        world.clock.advance(by: 60)
        try await sync.pull(Card.self, queryID: "cards")
        world.forgetRequests()
        let writes = try store.totalChanges()
        let result = try await sync.pull(Card.self, queryID: "cards")
        #expect(result.changes == 0 && world.requests.count == 1)
        #expect(try store.totalChanges() == writes)
    }

    /// A push learns times of rows too, but older rows may not have been pulled. The device's clock is not reliable
    /// either.
    @Test(arguments: [Dialect.datasync, .azureMobileApps])
    func `only a pull moves the token`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        let deviceClock = ManualClock(world.clock.now().addingTimeInterval(24 * 3600))
        let (store, sync) = try world.device { $0.clock = JumpingClock(deviceClock) }
        func token() async throws -> SyncToken? {
            try await TandemStore(store).read { local in try local.syncToken(of: "cards", in: "Card") }
        }
        try await world.others.card("a")
        world.clock.advance(by: 60)
        try await sync.pull(Card.self, queryID: "cards")
        let before = try #require(try await token())
        #expect(try #require(before.time.flatMap { WireTimestamp($0) }).date < world.clock.now())
        try await world.others.card("b")
        world.clock.advance(by: 60)
        try await store.write { _ = try $0.insert(Card(shop: "x", barcode: "1")) }
        #expect(try await sync.push().isComplete)
        #expect(try await token() == before)
        let result = try await sync.pull(Card.self, queryID: "cards")
        #expect(result.inserted == 1)
    }

    @Test(arguments: [Dialect.datasync, .azureMobileApps])
    func `unknown members are kept`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        let (store, sync) = try world.device()
        try await world.others.card("a", extra: [("colour", .text("red"))])
        try await sync.pull(Card.self, queryID: "cards")
        let extras = try await store.read { (tx: ReadTransaction) in try tx.extras(of: "a", in: "Card") }
        #expect(String(decoding: extras ?? [], as: UTF8.self).contains("red"))
    }

    @Test(arguments: [Dialect.datasync, .azureMobileApps])
    func `IDs that differ in case are distinct`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        let (store, sync) = try world.device()
        try await world.others.card("a", barcode: "1")
        try await world.others.card("A", barcode: "2")
        try await sync.pull(Card.self, queryID: "cards")
        #expect(try await Set(store.objects(Card.self).all().map(\.localID)) == ["a", "A"])
    }

    // MARK: Errors before a request

    @Test func `a query ID has one filter`() async throws {
        let world = try SyncWorld()
        let (_, sync) = try world.device()
        try await sync.pull(Card.self, queryID: "rich") { $0.points > 100 }
        world.forgetRequests()
        await #expect {
            try await sync.pull(Card.self, queryID: "rich") { $0.points > 101 }
        } throws: {
            ($0 as? SyncError)?.code == .otherFilter
        }
        await #expect { try await sync.pull(Card.self, queryID: "rich") } throws: {
            ($0 as? SyncError)?.code == .otherFilter && ($0 as? SyncError)?.table == "Card"
        }
        #expect(world.requests.isEmpty)
        try await sync.pull(Card.self, queryID: "rich") { $0.points > 100 }
        try await sync.pull(Card.self, queryID: "richer") { $0.points > 101 }
    }

    @Test func `a filter that no server supports is reported with its part`() async throws {
        let world = try SyncWorld()
        let (store, sync) = try world.device()
        try await store.write { try $0.insert(Card(shop: "unsent", barcode: "1")) }
        await #expect {
            try await sync.pull(Card.self) { $0.shop.matches("лен") }
        } throws: {
            ($0 as? SyncError)?.code == .unsupportedFilter && "\($0)".contains("shop.matches")
        }
        await #expect {
            try await sync.pull(Card.self) { $0.owner.name == "Ада" && $0.points > 1 }
        } throws: {
            ($0 as? SyncError)?.code == .unsupportedFilter && ($0 as? SyncError)?.property == "owner.name"
        }
        let stranger = Person(name: "Ада")
        await #expect {
            try await sync.pull(Pet.self) { $0.keeper == stranger.reference }
        } throws: {
            ($0 as? SyncError)?.code == .unsupportedFilter && ($0 as? SyncError)?.advice == "Push first."
        }
        #expect(world.requests.isEmpty)
    }

    @Test func `a table without times has no incremental pull`() async throws {
        let world = try SyncWorld()
        let (store, sync) = try world.device()
        var features = TableFeatures()
        features.updatedAt = false
        try sync.table(Card.self).setFeatures(features)
        await #expect { try await sync.pull(Card.self, queryID: "cards") } throws: {
            ($0 as? SyncError)?.code == .noUpdatedAt
        }
        #expect(world.requests.isEmpty)
        try await world.others.card("a")
        #expect(try await sync.pull(Card.self).inserted == 1)
        #expect(try await store.objects(Card.self).count() == 1)
    }

    @Test func `an item without a time is the same error`() async throws {
        let server = PagedServer { _, _ throws(RemoteFailure) in
            throw .invalidResponse(
                InvalidResponse(
                    .noUpdatedAt, message: "An item has no updatedAt.", table: "animals", url: "https://x/a",
                    status: 200))
        }
        let device = try PagedDevice(server)
        await #expect { try await device.pull() } throws: { ($0 as? SyncError)?.code == .noUpdatedAt }
    }

    @Test func `a model that the store does not have is reported`() async throws {
        let world = try SyncWorld()
        let store = try Store(inMemoryModels: [Person.self, Pet.self])
        let sync = world.context(store)
        await #expect { try await sync.pull(Card.self, queryID: "cards") } throws: {
            ($0 as? SyncError)?.code == .unknownModel
        }
    }

    // MARK: No network, cancellation

    @Test func `a failure is reported by its kind`() async throws {
        let failures: [(RemoteFailure, SyncError.Code)] = [
            (.notSent(URLError(.cannotConnectToHost)), .unreachable), (.lost(URLError(.timedOut)), .unreachable),
            (.unauthenticated(status: 401, underlying: nil), .unauthenticated), (.notFound, .refused),
            (.refused(status: 400, message: "no"), .refused), (.later(status: 503, retryAfter: nil), .later),
        ]
        for (failure, code) in failures {
            let device = try PagedDevice(PagedServer { _, _ throws(RemoteFailure) in throw failure })
            await #expect { try await device.pull() } throws: {
                ($0 as? SyncError)?.code == code && ($0 as? SyncError)?.table == "animals"
            }
            await #expect { try await device.pull(nil) } throws: { ($0 as? SyncError)?.code == code }
            #expect(try await device.token() == nil)
        }
    }

    @Test func `a pull can be cancelled in a request and between pages`() async throws {
        let server = PagedServer()
        server.change { state in
            for index in 0..<20 {
                state.write("\(index)", "x")
                state.now += 1
            }
            state.now += 60_000
        }
        let device = try PagedDevice(server)
        let pages = Mutex(0)
        let task = Mutex<Task<SyncResult, any Error>?>(nil)
        server.on { _, _ throws(RemoteFailure) in
            if pages.withLock({
                $0 += 1
                return $0
            }) == 3 {
                task.withLock { $0?.cancel() }
            }
            return nil
        }
        task.withLock { $0 = Task { try await device.pull() } }
        await #expect(throws: CancellationError.self) { try await task.withLock { $0 }?.value }
        #expect(server.requests.count == 3)
        // The fetched items are stored, with their token.
        let here = try device.pets().count
        #expect(here > 0 && here < 20)
        server.on { _, _ throws(RemoteFailure) in throw .lost(CancellationError()) }
        await #expect(throws: CancellationError.self) { try await device.pull() }
        server.on { _, _ throws(RemoteFailure) in nil }
        try await device.pull()
        #expect(try device.pets() == server.live)
    }
}

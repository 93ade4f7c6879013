import DatasyncWire
import Foundation
import Tandem
import TandemServerCore
import TandemSync
import TandemTesting
import Testing

/// What a push sends, and what becomes of it here.
@Suite struct PushTests {
    @Test(arguments: Dialect.both)
    func aChangeOfEachKindReachesTheServer(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        let (store, sync) = try world.device()
        let card = try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1", points: 7)) }
        let inserted = try await sync.push()
        #expect(inserted.isComplete && inserted.entries.map(\.outcome.name) == ["done"])
        #expect(try world.texts("card", "shop") == ["Лента"])
        let stored = try #require(try store.object(ofType: Card.self, forPrimaryKey: card.localID))
        #expect(stored.isSynced && stored.serverID?.rawValue == card.localID.rawValue && stored.version != nil)

        try await store.write { try $0.update(Card.self, card.localID) { $0.shop = "Пятёрочка" } }
        #expect(try await sync.push().entries.map(\.outcome.name) == ["done"])
        #expect(try world.texts("card", "shop") == ["Пятёрочка"])

        try await store.write { try $0.delete(Card.self, card.localID) }
        #expect(try await sync.push().entries.map(\.outcome.name) == ["done"])
        #expect(try world.texts("card", "shop") == [])
        #expect(try store.operations.count() == 0)
        #expect(try store.sql("SELECT count(*) FROM Card")[0][0] == 0)
        #expect(try store.checkIntegrity() == [])
    }

    @Test func anEmptyQueueAsksNothing() async throws {
        let world = try SyncWorld()
        let (_, sync) = try world.device()
        let result = try await sync.push()
        #expect(result.isComplete && result.entries.isEmpty && world.requests.isEmpty)
    }

    /// FB 9: one bad record blocks all.
    @Test(arguments: [1, 8])
    func aRefusedObjectDoesNotHoldUpTheRest(inFlight: Int) async throws {
        let world = try SyncWorld { configuration in
            configuration.hooks.validate = { _, row in
                row["barcode"] == .text("2") ? ["The barcode is not valid."] : []
            }
        }
        let (store, sync) = try world.device { $0.inFlight = inFlight }
        try await store.write { tx in
            for code in 1...3 { try tx.insert(Card(shop: "Лента", barcode: "\(code)")) }
        }
        let result = try await sync.push()
        #expect(result.entries.map(\.outcome.name) == ["done", "refused", "done"])
        #expect(!result.isComplete && result.stoppedBy == nil && result.refused.count == 1)
        #expect(try world.texts("card", "barcode") == ["1", "3"])
        let failed = try #require(try store.operations.all().first)
        #expect(failed.state == .failed && failed.error?.status == 400)
        #expect(failed.error?.message.contains("not valid") == true)
    }

    /// FB 20: a refusal is unseen and retried for ever.
    @Test func aRefusalWaitsForTheUserOrANewChange() async throws {
        let world = try SyncWorld { configuration in
            configuration.hooks.validate = { _, row in row["points"] == .number("-1") ? ["Too few points."] : [] }
        }
        let (store, sync) = try world.device()
        let card = try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1", points: -1)) }
        for _ in 1...5 { try await sync.push() }
        #expect(world.requests.count == 1)
        try await store.write { try $0.update(Card.self, card.localID) { $0.points = 1 } }
        #expect(try await sync.push().isComplete)
        #expect(try world.texts("card", "barcode") == ["1"])
    }

    @Test func aHeldOperationIsNotSent() async throws {
        let world = try SyncWorld()
        let (store, sync) = try world.device()
        try await store.write { tx in
            let card = try tx.insert(Card(shop: "Лента", barcode: "1"))
            let operation = try #require(try tx.operations.all().first { $0.localID == card.localID })
            try tx.local.hold(operation.id)
        }
        #expect(try await sync.push().entries.isEmpty && world.requests.isEmpty)
    }

    /// DS T24: the server may change any value when it commits.
    @Test func theServersValuesAreStored() async throws {
        let world = try SyncWorld { configuration in
            configuration.hooks.beforeCommit = { $0.members["nickname"] = .text("theirs") }
        }
        let (store, sync) = try world.device()
        let card = try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1")) }
        try await sync.push()
        let stored = try #require(try store.object(ofType: Card.self, forPrimaryKey: card.localID))
        #expect(stored.nickname == "theirs" && stored.isSynced)
        #expect(try store.operations.count() == 0)
    }
}

import DatasyncWire
import Foundation
import Tandem
import TandemSync
import TestSupport
import Testing

/// A column that is newer than the server's rows. They have null in it, and the property is not optional.
@Suite(.ownThreads) struct YoungColumnTests {
    private let old: [(key: String, value: JSONNode)] = [
        ("shop", .text("Лента")), ("barcode", .text("1")), ("points", .null), ("nickname", .null), ("expires", .null),
        ("owner", .null),
    ]

    private func onServer(_ world: SyncWorld, _ id: String) async throws -> [String: JSONNode] {
        let item = try await world.remote().find("Card", key: .id(ServerID(id)))
        return Dictionary(item?.members.map { ($0.key, $0.value) } ?? [], uniquingKeysWith: { first, _ in first })
    }

    @Test(arguments: Dialect.both)
    func `rows with null are pulled, edited and pushed, and keep their null`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        try await world.others.put("Card", "a", old)
        let (store, sync) = try world.device()
        for queryID in ["cards", nil] {
            let result = try await sync.pull(Card.self, queryID: queryID)
            #expect(result.refusedRows.isEmpty && result.inserted + result.unchanged == 1)
        }
        let card = try #require(try await store.objects(Card.self).first())
        #expect(card.points == 0 && card.isSynced)

        try await store.write { tx in _ = try tx.update(card) { $0.shop = "Магнит" } }
        let push = try await sync.push()
        #expect(push.failedOperations.isEmpty)
        #expect(try store.operations.count() == 0)
        var there = try await onServer(world, "a")
        #expect(there["shop"] == .text("Магнит") && there["points"] == .null)

        // A change by the app is sent, and so is its reversal.
        for points in [5, 0] {
            try await store.write { tx in _ = try tx.update(Card.self, localID: card.localID) { $0.points = points } }
            _ = try await sync.push()
            there = try await onServer(world, "a")
            #expect(there["points"] == .integer(Int64(points)))
        }
        try await store.write { tx in _ = try tx.update(Card.self, localID: card.localID) { $0.shop = "Пятёрочка" } }
        _ = try await sync.push()
        there = try await onServer(world, "a")
        #expect(there["points"] == .integer(0) && there["shop"] == .text("Пятёрочка"))
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: Dialect.both)
    func `a value that the server sets to null becomes the default`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        try await world.others.card("a", barcode: "1", points: .integer(7))
        let (store, sync) = try world.device()
        _ = try await sync.pull(Card.self, queryID: "cards")
        #expect(try await store.objects(Card.self).first()?.points == 7)
        world.clock.advance(by: 60)
        try await world.others.put("Card", "a", old)
        let result = try await sync.pull(Card.self, queryID: "cards")
        #expect(result.updated == 1 && result.refusedRows.isEmpty)
        #expect(try await store.objects(Card.self).first()?.points == 0)
    }

    @Test(arguments: Dialect.both)
    func `a direct read of a row with null has the default`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        try await world.others.put("Card", "a", old)
        let (_, sync) = try world.device()
        let card = try await sync.remoteTable(Card.self).find("a")
        #expect(card?.points == 0)
    }
}

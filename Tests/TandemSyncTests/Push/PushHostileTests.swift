import DatasyncWire
import Foundation
import HTTPTypes
import Tandem
import TandemServerCore
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// Invalid responses to a push. Each is an error of its object, with its table, and is not stored. The server has
/// executed the request, which the next push finds out.
@Suite(.ownThreads) struct PushHostileTests {
    enum Change: CaseIterable { case insert, update, delete, undelete }

    @Test(arguments: Dialect.both, Nonsense.allCases)
    func `an invalid response is its object's error and is not stored`(
        dialect: Dialect, nonsense: Nonsense
    ) async throws {
        for change in Change.allCases {
            // The response to a delete is not read for values, nor is an undelete's without values. The other has no
            // body.
            if nonsense.isAboutAValue, change == .delete || change == .undelete && dialect.undeletesByPost { continue }
            try await push(change, dialect, nonsense)
        }
    }

    private func push(_ change: Change, _ dialect: Dialect, _ nonsense: Nonsense) async throws {
        let comment = Comment("\(change)")
        let world = try SyncWorld(dialect)
        let line = MangledLine(world)
        let (store, plain) = try world.device()
        let sync = line.context(store)
        let id = try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1", points: 1)) }.localID
        if change != .insert { try await plain.push() }
        if change == .undelete {
            try await store.write { _ = try $0.delete(Card.self, localID: id) }
            world.next(.delete, .lostResponse)
            try await plain.attemptPush()
        }
        try await store.write { tx in
            switch change {
            case .insert: break
            case .update: try tx.update(Card.self, localID: id) { $0.points = 2 }
            case .delete: try tx.delete(Card.self, localID: id)
            case .undelete: try tx.undelete(Card.self, localID: id)
            }
            try tx.insert(Card(shop: "Магнит", barcode: "2"))
        }
        let before = try store.object(ofType: Card.self, forPrimaryKey: id)
        line.nextChange(nonsense)
        let result = try await sync.push()
        #expect(line.isDone, comment)
        #expect(result.stoppedBy == nil && result.entries.map(\.outcome.name) == ["retryLater", "done"], comment)
        let error = try #require(result.entries.first?.outcome.error, comment)
        #expect(error.code == .invalidResponse && error.table == "Card", comment)
        if nonsense.isAboutAValue {
            #expect(error.property == nonsense.property, comment)
        } else {
            #expect(error.url?.hasPrefix("https://shop.example/tables/") == true && error.status == 200, comment)
        }
        // It may have been executed: nothing else is known.
        #expect(try store.operations.all().map(\.state) == [.attempted], comment)
        let after = try store.object(ofType: Card.self, forPrimaryKey: id)
        #expect(after?.points == before?.points && after?.shop == before?.shop, comment)
        #expect(after?.serverID == before?.serverID, comment)
        // An undelete has read the tombstone before.
        if change != .undelete { #expect(after?.version == before?.version, comment) }
        #expect(try store.checkIntegrity() == [], comment)

        #expect(try await plain.push().isComplete, comment)
        let (here, there) = (try await store.objects(Card.self).all(), try world.live("card"))
        #expect(here.count == (change == .delete ? 1 : 2) && here.allSatisfy(\.isSynced), comment)
        #expect(
            Set(here.map { "\($0.serverID ?? "") \($0.version ?? "")" }) == Set(there.map { "\($0.id) \($0.version)" }))
        let points = try store.object(ofType: Card.self, forPrimaryKey: id)?.points
        #expect(points == (change == .delete ? nil : change == .update ? 2 : 1), comment)
    }

    /// A response with another item.
    @Test(arguments: Dialect.both)
    func `another item is not a valid response`(dialect: Dialect) async throws {
        for change in [Change.update, .undelete] {
            let world = try SyncWorld(dialect)
            let line = MangledLine(world)
            let (store, plain) = try world.device()
            let id = try await store.write { try $0.insert(Card(shop: "Лента", barcode: "1", points: 1)) }.localID
            try await plain.push()
            try await world.others.card("other", barcode: "2")
            if change == .undelete {
                try await store.write { _ = try $0.delete(Card.self, localID: id) }
                world.next(.delete, .lostResponse)
                try await plain.attemptPush()
                try await store.write { _ = try $0.undelete(Card.self, localID: id) }
            } else {
                try await store.write { _ = try $0.update(Card.self, localID: id) { $0.points = 2 } }
            }
            line.nextChange(.anotherItem)
            let result = try await line.context(store).push()
            #expect(result.entries.map(\.outcome.name) == ["retryLater"] && line.isDone)
            #expect(result.entries.first?.outcome.error?.code == .invalidResponse)
            #expect(try await plain.push().isComplete)
            #expect(try await store.objects(Card.self).all().map(\.serverID?.rawValue) == [id.rawValue])
        }
    }

    @Test(arguments: Dialect.both)
    func `an edit of an unreadable row is sent as soon as the server has corrected the row`(
        dialect: Dialect
    ) async throws {
        let world = try SyncWorld(dialect)
        let (store, sync) = try world.device()
        try await world.others.card("a", barcode: "1", points: .integer(1))
        _ = try await sync.pull(Card.self, queryID: "cards")
        world.clock.advance(by: 60)
        try await world.others.card("a", barcode: "1", points: .text("many"))
        let pull = try await sync.pull(Card.self, queryID: "cards")
        #expect(pull.refusedRows.map(\.serverID) == ["a"])

        let card = try #require(try await store.objects(Card.self).first())
        try await store.write { _ = try $0.update(card) { $0.shop = "Магнит" } }
        let push = try await sync.push()
        #expect(push.entries.map(\.outcome.name) == ["retryLater"])
        #expect(try world.texts("card", "shop") == ["Лента"])

        // No pull has fetched the corrected row yet.
        world.clock.advance(by: 60)
        try await world.others.card("a", barcode: "1", points: .integer(5))
        #expect(try await sync.push().failedOperations.isEmpty)
        #expect(try store.operations.count() == 0)
        #expect(try world.texts("card", "shop") == ["Магнит"])
        let now = try #require(try await store.objects(Card.self).first())
        #expect(now.shop == "Магнит" && now.points == 5 && now.isSynced)
        #expect(try store.sql("SELECT count(*) FROM __server_items WHERE reason = 2")[0][0] == 0)
    }

    /// A repeated POST finds its own object, and the lookup's response is invalid. The insert stays recorded.
    @Test(arguments: Nonsense.allCases)
    func `a lookup with an invalid response decides nothing`(nonsense: Nonsense) async throws {
        let world = try SyncWorld(.azureMobileApps)
        let line = MangledLine(world)
        let (store, plain) = try world.device()
        try await store.write { _ = try $0.insert(Card(shop: "Лента", barcode: "1", points: 1)) }
        world.next(.post, .twice)
        line.next(nonsense) { $0.method == .get }
        let result = try await line.context(store).push()
        #expect(result.entries.map(\.outcome.name) == ["retryLater"] && line.isDone)
        let error = try #require(result.entries.first?.outcome.error)
        #expect(error.code == .invalidResponse && error.table == "Card")
        #expect(try store.operations.all().map(\.state) == [.attempted])
        #expect(try await plain.push().isComplete)
        #expect(try world.live("card").count == 1)
        #expect(try await store.objects(Card.self).all().map(\.isSynced) == [true])
    }
}

import DatasyncWire
import Foundation
import HTTPTypes
import Tandem
import TandemServerCore
import TestSupport
import Testing

@testable import TandemSync

/// A pull overwrites no unsent change, and may fetch a child before its parent.
@Suite(.ownThreads) struct PullPendingTests {
    private func pull(_ sync: SyncContext, queryID: String? = "cards") async throws -> SyncResult {
        try await sync.runPull(PullQuery(Card.self, queryID: queryID), pushesFirst: false)
    }

    @Test(arguments: Dialect.both)
    func `a pull keeps an edit and the fetched item`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        let (store, sync) = try world.device()
        try await world.others.card("a", points: .integer(1))
        try await sync.pull(Card.self, queryID: "cards")
        let version = try store.object(ofType: Card.self, forPrimaryKey: "a")?.version
        try await store.write { try $0.update(Card.self, localID: "a") { $0.shop = "mine" } }
        world.clock.advance(by: 1)
        try await world.others.card("a", points: .integer(2))
        for queryID in ["cards", "cards", nil] {
            let result = try await pull(sync, queryID: queryID)
            #expect(result.deferred == 1 && result.changes == 0)
            let card = try #require(try store.object(ofType: Card.self, forPrimaryKey: "a"))
            #expect(card.shop == "mine" && card.points == 1 && !card.isSynced && card.version == version)
        }
        let operation = try #require(try store.operations.all().first)
        let kept = try await store.read { (tx: ReadTransaction) in try tx.deferredItem(of: operation.id) }
        #expect(kept?.serverID == "a" && kept?.isDeleted == false)
        #expect(try store.checkIntegrity() == [])
    }

    @Test(arguments: Dialect.both)
    func `unsent changes are pushed first`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        let (store, sync) = try world.device()
        try await world.others.card("a", points: .integer(1))
        try await sync.pull(Card.self, queryID: "cards")
        try await store.write { tx in
            try tx.update(Card.self, localID: "a") { $0.shop = "mine" }
            try tx.insert(Person(name: "Ада"))
        }
        let result = try await sync.pull(Card.self, queryID: "cards")
        // The whole queue, not only the table's part.
        #expect(result.entries.count == 2 && result.isComplete && result.deferred == 0)
        #expect(try world.texts("Card", "shop") == ["mine"] && world.texts("Person", "name") == ["Ада"])
        #expect(try store.operations.count() == 0)
        // The table has no unsent changes, so nothing is pushed.
        try await store.write { _ = try $0.insert(Person(name: "Иван")) }
        #expect(try await sync.pull(Card.self, queryID: "cards").entries.isEmpty)
        #expect(try store.operations.count() == 1)
    }

    @Test func `a rejected operation does not block the pull`() async throws {
        let world = try SyncWorld { configuration in
            configuration.hooks.validate = { _, members in
                if case .text("bad")? = members["shop"] { ["This shop is none."] } else { [] }
            }
        }
        let (store, sync) = try world.device()
        try await store.write { _ = try $0.insert(Card(shop: "bad", barcode: "1")) }
        try await world.others.card("a")
        var result = try await sync.pull(Card.self, queryID: "cards")
        #expect(result.inserted == 1 && result.failedOperations.count == 1)
        world.forgetRequests()
        // A rejected operation waits for the user, and is not sent again.
        result = try await sync.pull(Card.self, queryID: "cards")
        #expect(world.requests.allSatisfy { $0.hasPrefix("GET") })
        #expect(try await store.objects(Card.self).count() == 2)
    }

    @Test func `a pull without a server reports it`() async throws {
        let world = try SyncWorld()
        let (store, sync) = try world.device()
        try await store.write { _ = try $0.insert(Card(shop: "x", barcode: "1")) }
        for _ in 0..<8 { world.next { _ in [.lostRequest] } }
        await #expect { try await sync.pull(Card.self, queryID: "cards") } throws: {
            ($0 as? SyncError)?.code == .unreachable
        }
        #expect(try store.operations.count() == 1)
    }

    @Test(arguments: Dialect.both)
    func `a child pulled before its parent is linked to it`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        let (store, sync) = try world.device()
        try await world.others.card("a", owner: "p")
        try await world.others.person("p", "Ада", friend: "q")
        try await world.others.person("q", "Иван", friend: "p")
        try await sync.pull(Card.self, queryID: "cards")
        #expect(try await store.objects(Card.self).all().map { $0.owner?.localID } == [nil])
        try await sync.pull(Person.self, queryID: "people")
        #expect(try await store.objects(Card.self).all().map { $0.owner?.localID } == ["p"])
        #expect(try await store.objects(Person.self).where { $0.friend.name == "Иван" }.all().map(\.name) == ["Ада"])
        #expect(try await store.objects(Card.self).all().allSatisfy(\.isSynced) && store.operations.count() == 0)
    }

    // MARK: Unique values

    @Test(arguments: Dialect.both)
    func `a clash of unique values refuses the row and not the page`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        let (store, sync) = try world.device()
        try await world.others.card("a", barcode: "1")
        try await world.others.card("b", barcode: "1")
        try await world.others.card("c", barcode: "2")
        var result = try await sync.pull(Card.self, queryID: "cards")
        #expect(result.inserted == 2 && result.refusedRows.map(\.serverID) == ["b"])
        #expect(result.refusedRows.first?.message.isEmpty == false)
        // The deferred item costs no write.
        world.clock.advance(by: 60)
        try await sync.pull(Card.self, queryID: "cards")
        let writes = try store.totalChanges()
        result = try await sync.pull(Card.self, queryID: "cards")
        #expect(result.refusedRows.map(\.serverID) == ["b"] && result.changes == 0)
        #expect(try store.totalChanges() == writes)
        // The value is free, and the server does not send the item again.
        try await store.write { try $0.update(Card.self, localID: "a") { $0.barcode = "3" } }
        world.forgetRequests()
        result = try await pull(sync)
        #expect(result.inserted == 1 && result.refusedRows.isEmpty)
        #expect(try await store.objects(Card.self).all().map(\.barcode).sorted() == ["1", "2", "3"])
    }

    @Test func `a chain of unique values is written in one pull`() async throws {
        let world = try SyncWorld()
        let (store, sync) = try world.device()
        try await world.others.card("a", barcode: "1")
        try await world.others.card("b", barcode: "2")
        try await sync.pull(Card.self, queryID: "cards")
        // "a" takes the value that "b" releases later.
        world.clock.advance(by: 1)
        try await world.others.card("a", barcode: "2")
        world.clock.advance(by: 1)
        try await world.others.card("b", barcode: "3")
        let result = try await sync.pull(Card.self, queryID: "cards")
        #expect(result.refusedRows.isEmpty && result.updated == 2)
        #expect(try await store.objects(Card.self).all().map(\.barcode).sorted() == ["2", "3"])
    }

    /// Each blocks the other: one by one they never arrive.
    @Test(arguments: [IdentityPolicy.client, .server(lookUp: nil), .server(lookUp: "localKey")])
    func `swapped unique values arrive in one pull`(identity: IdentityPolicy) async throws {
        let world = try SyncWorld()
        let (store, sync) = try world.device { $0.pageSize = 2 }
        try sync.table(Card.self).setIdentity(identity)
        let ids = (0..<250).map { ServerID("\(1000 + $0)") }
        func write(_ code: (Int) -> Int) async throws {
            for (index, id) in ids.enumerated() {
                try await world.others.card(
                    id, barcode: "\(code(index))", extra: [("localKey", .text("of \(id)"))])
            }
            world.clock.advance(by: 60)
        }
        try await write { $0 }
        try await sync.pull(Card.self, queryID: "cards")
        // A ring of all objects, so that no page contains a whole swap.
        try await write { ($0 + 120) % 250 }
        let result = try await sync.pull(Card.self, queryID: "cards")
        #expect(result.refusedRows.isEmpty && result.updated == 250)
        let codes = try await store.objects(Card.self).sorted(by: \.points).all().reduce(into: [:]) {
            $0[$1.serverID ?? "", default: ""] = $1.barcode
        }
        #expect(codes == Dictionary(uniqueKeysWithValues: ids.enumerated().map { ($1, "\(($0 + 120) % 250)") }))
        #expect(try store.operations.count() == 0 && store.checkIntegrity() == [])
        #expect(try await sync.pull(Card.self, queryID: "cards").changes == 0)
    }

    /// Each waits for the next, and the last one for an unsent local change.
    @Test func `a long chain that can't be written costs a few writes per row`() async throws {
        let world = try SyncWorld()
        let (store, sync) = try world.device()
        func write(_ code: (Int) -> Int) async throws {
            for index in 0..<200 { try await world.others.card(ServerID("\(1000 + index)"), barcode: "\(code(index))") }
            world.clock.advance(by: 60)
        }
        try await write { $0 }
        try await sync.pull(Card.self, queryID: "cards")
        try await store.write { _ = try $0.insert(Card(shop: "x", barcode: "200")) }
        // The first fifty form a ring without other blockers.
        try await write { $0 < 50 ? ($0 + 1) % 50 : $0 + 1 }
        let before = try store.totalChanges()
        let result = try await pull(sync)
        #expect(result.refusedRows.count == 150 && result.updated == 50)
        #expect(try store.totalChanges() - before < 20 * 200)
        // All values are free by then.
        try await store.write { tx in
            for card in try tx.objects(Card.self).where({ $0.shop == "x" }).all() { _ = try tx.delete(card) }
        }
        #expect(try await pull(sync).updated == 150)
        #expect(try store.checkIntegrity() == [])
    }

    @Test func `an unreadable deferred item does not stop a swap`() async throws {
        let world = try SyncWorld()
        let (store, sync) = try world.device()
        for id in ["a", "b"] as [ServerID] { try await world.others.card(id) }
        try await sync.pull(Card.self, queryID: "cards")
        // A deferred item by an earlier version of the app, which did not need a shop.
        let coder = sync.coder(of: try sync.settings(of: "Card"))
        let bare = try coder.decode(RemoteItem(id: "n", members: [("barcode", .text("ba"))]))
        try await store.write { (tx: WriteTransaction) in
            var clashing = bare
            clashing.values["shop"] = "x"
            clashing.values["points"] = 0
            _ = try tx.sync.applyServerItem(clashing, in: "Card")
        }
        world.clock.advance(by: 60)
        try await world.others.card("a", barcode: "bb")
        try await world.others.card("b", barcode: "ba")
        let result = try await sync.pull(Card.self, queryID: "cards")
        #expect(result.refusedRows.map(\.serverID) == ["n"] && result.updated == 2)
        #expect(try store.object(ofType: Card.self, forPrimaryKey: "a")?.barcode == "bb")
    }
}

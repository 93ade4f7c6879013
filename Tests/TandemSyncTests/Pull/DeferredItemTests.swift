import Foundation
import Tandem
import TandemTesting
import TestSupport
import Testing

@testable import TandemSync

/// Deferred items for a unique value, with an unreadable one among them. A pull tries all in one write, receives those
/// that fit, and counts each once.
@Suite(.ownThreads) struct DeferredItemTests {
    @Test(arguments: [3, 40])
    func `an unreadable deferred item does not block others`(count: Int) async throws {
        let bench = try await DeferredItemFixture()
        try await bench.keep(count, untakeable: ["n2"])
        try await bench.makeRoom()
        let before = bench.store.writes.value
        let result = try await bench.pull()
        #expect(result.inserted == count && result.unchanged == 0 && result.updated == 0 && result.deferred == 0)
        #expect(result.refusedRows.map(\.serverID) == ["n2"])
        let error = try #require(result.refusedRows.first?.underlying as? SyncError)
        #expect(error.code == .invalidResponse && error.table == "Card" && error.property == "shop")
        // A write before the pages, one with the token and one after, however many items there are.
        #expect(bench.store.writes.value - before == 3)
        #expect(try await bench.tandem.objects(Card.self).count() == count)
        #expect(try bench.tandem.checkIntegrity() == [])
    }

    @Test(arguments: [3, 40])
    func `an item that stays kept is counted once`(count: Int) async throws {
        let bench = try await DeferredItemFixture()
        try await bench.keep(count, untakeable: ["n2"])
        let (writes, changes) = (bench.store.writes.value, try bench.tandem.totalChanges())
        for _ in 1...2 {
            let result = try await bench.pull()
            #expect(result.changes == 0 && result.unchanged == 0 && result.deferred == 0)
            #expect(result.refusedRows.map(\.serverID) == bench.ids(count) + ["n2"])
        }
        #expect(bench.store.writes.value - writes == 4)
        #expect(try bench.tandem.totalChanges() == changes)
    }

    /// Two items have swapped their values, beside an unreadable one.
    @Test func `a swap beside an unreadable item is counted once`() async throws {
        let bench = try await DeferredItemFixture()
        for (id, code) in [("a", "1"), ("b", "2")] { try await bench.receive(bench.item(id, code)) }
        for (id, code) in [("a", "2"), ("b", "1")] { try await bench.receive(bench.item(id, code, version: "2")) }
        try await bench.keep(1, untakeable: ["n2"])
        let result = try await bench.pull()
        #expect(result.updated == 2 && result.inserted == 0 && result.unchanged == 0)
        #expect(result.refusedRows.map(\.serverID) == ["k100", "n2"])
        let cards = try await bench.tandem.objects(Card.self).all().map { "\($0.localID) \($0.barcode)" }
        #expect(cards.sorted() == ["a 2", "b 1", "x room"])
    }

    /// Two versions of an app. The server has null in `keeper`.
    enum Old {
        @Model struct Tag {
            @Named(wire: "petName") var name: String
            var keeper: String
        }
    }

    enum New {
        @Model struct Tag {
            @Named(wire: "petName") var name: String
            var keeper: String?
        }
    }

    @Test(arguments: [false, true])
    func `a refused row is stored by the first pull after a migration that accepts it`(migrates: Bool) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let path = folder.path(of: "store.tandem")
        let server = PagedServer()
        server.change { $0.write("1", "Мурка") }
        let options = try PagedDevice(server).options
        let query = PullQuery(table: "Tag", queryID: "tags")
        let old = try Store(at: path, models: Old.Tag.self)
        let refused = try await SyncContext(store: old, remote: server, options: options).pull(query)
        #expect(refused.refusedRows.map(\.serverID) == ["1"])
        old.close()
        // The server does not send the row again.
        server.change { $0.rows = [:] }
        let store = try migrates ? Store(at: path, models: New.Tag.self) : Store(at: path, models: Old.Tag.self)
        defer { store.close() }
        let result = try await SyncContext(store: store, remote: server, options: options).pull(query)
        #expect(result.inserted == (migrates ? 1 : 0))
        #expect(result.refusedRows.map(\.serverID) == (migrates ? [] : ["1"]))
        if migrates { #expect(try await store.objects(New.Tag.self).all().map(\.name) == ["Мурка"]) }
        #expect(try store.checkIntegrity() == [])
    }
}

/// A store with deferred items, and a server without further items.
private struct DeferredItemFixture {
    let tandem: Store
    let store: CountingStore
    let sync: SyncContext

    init() async throws {
        tandem = try Store(inMemoryModels: [Person.self, Card.self, Pet.self])
        store = CountingStore(base: TandemStore(tandem))
        sync = SyncContext(localStore: store, remote: ScriptedRemote())
        // The first pull of all records the store's owner.
        try await pull()
    }

    @discardableResult
    func pull() async throws -> SyncResult {
        try await sync.runPull(PullQuery(Card.self, queryID: "cards"), pushesFirst: false)
    }

    func ids(_ count: Int) -> [ServerID] { (0..<count).map { ServerID("k\(100 + $0)") } }

    func item(_ id: String, _ barcode: String, version: String = "1") -> RemoteItem {
        RemoteItem(
            id: ServerID(id), version: version,
            members: [("shop", .text("Лента")), ("barcode", .text(barcode)), ("points", .integer(1))])
    }

    func receive(_ item: RemoteItem) async throws {
        let stored = try sync.coder(of: try sync.settings(of: "Card")).decode(item)
        _ = try await tandem.write { (tx: WriteTransaction) in try tx.sync.applyServerItem(stored, in: "Card") }
    }

    /// Keeps a number of items that wait for a card's barcode, each for its own. An earlier version of the app kept the
    /// unreadable ones, for which it did not need a shop.
    func keep(_ count: Int, untakeable: [String]) async throws {
        for (index, id) in ids(count).enumerated() {
            let barcode = index == 0 ? "room" : "\(index)"
            try await receive(item(index == 0 ? "x" : "x\(index)", barcode))
            try await receive(item(id.rawValue, barcode))
        }
        let coder = sync.coder(of: try sync.settings(of: "Card"))
        for id in untakeable {
            var clashing = try coder.decode(RemoteItem(id: ServerID(id), members: [("barcode", .text("room"))]))
            (clashing.values["shop"], clashing.values["points"]) = ("Лента", 0)
            let item = clashing
            _ = try await tandem.write { (tx: WriteTransaction) in try tx.sync.applyServerItem(item, in: "Card") }
        }
    }

    /// Deletes the blocking objects on the server.
    func makeRoom() async throws {
        for card in try await tandem.objects(Card.self).all() {
            try await receive(RemoteItem(id: try #require(card.serverID), version: "2", isDeleted: true))
        }
    }
}

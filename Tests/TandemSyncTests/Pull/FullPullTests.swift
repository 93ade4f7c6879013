import DatasyncWire
import Foundation
import HTTPTypes
import Synchronization
import Tandem
import TandemServerCore
import TestSupport
import Testing

@testable import TandemSync

/// A pull without a query ID fetches all objects, and removes those that the server no longer has.
@Suite(.ownThreads) struct FullPullTests {
    @Test(arguments: [Dialect.datasync, .azureMobileApps])
    func `an object deleted without a tombstone is removed`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect) { $0.otherTables = ServerTable(deletesSoftly: false) }
        let (store, sync) = try world.device { $0.pageSize = 2 }
        try await world.others.person("p", "Ада")
        for id in ["a", "b", "c", "d", "e"] as [ServerID] { try await world.others.card(id, owner: "p") }
        try await sync.pull(Person.self, queryID: "people")
        try await sync.pull(Card.self, queryID: "cards")
        world.clock.advance(by: 60)
        try await world.others.delete("Card", "b")
        try await world.others.delete("Person", "p")
        try await world.others.card("f")
        #expect(try await sync.pull(Card.self, queryID: "cards").deleted == 0)
        #expect(try await store.objects(Card.self).count() == 6)
        let result = try await sync.pull(Card.self)
        #expect(result.deleted == 1 && result.inserted == 0)
        #expect(
            try await store.objects(Card.self).sorted(by: \.barcode).all().map(\.barcode) == [
                "ba", "bc", "bd", "be", "bf",
            ])
        #expect(try await sync.pull(Person.self).deleted == 1)
        // The cards keep the server's values: a reference to an object that may return.
        #expect(try await store.objects(Card.self).where { $0.owner == nil }.count() == 5)
        try await world.others.person("p", "Ада")
        try await sync.pull(Person.self)
        #expect(try await store.objects(Card.self).where { $0.owner == nil }.count() == 1)
        #expect(try store.operations.count() == 0 && store.checkIntegrity() == [])
    }

    @Test func `the removal is limited to the filter`() async throws {
        let world = try SyncWorld { $0.otherTables = ServerTable(deletesSoftly: false) }
        let (store, sync) = try world.device()
        for (id, points) in [("a", 1), ("b", 20), ("c", 30)] as [(ServerID, Int64)] {
            try await world.others.card(id, points: .integer(points))
        }
        try await sync.pull(Card.self)
        try await world.others.delete("Card", "a")
        try await world.others.delete("Card", "b")
        let result = try await sync.pull(Card.self) { $0.points > 10 }
        #expect(result.deleted == 1)
        #expect(try await Set(store.objects(Card.self).all().map(\.localID)) == ["a", "c"])
    }

    /// The newest version of an object may not match the filter. Its absence then does not mean that it was deleted.
    @Test func `the removal of a filtered pull keeps deferred items`() async throws {
        let world = try SyncWorld()
        let (store, sync) = try world.device()
        for id in ["a", "b"] as [ServerID] { try await world.others.card(id, points: .integer(20)) }
        try await sync.pull(Card.self, queryID: "cards")
        world.clock.advance(by: 60)
        try await world.others.card("a", barcode: "bb", points: .integer(1))
        #expect(try await sync.pull(Card.self, queryID: "cards").refusedRows.map(\.serverID) == ["a"])
        world.clock.advance(by: 60)
        // The token passes it.
        try await world.others.card("c")
        world.clock.advance(by: 60)
        try await sync.pull(Card.self, queryID: "cards")
        #expect(try await sync.pull(Card.self) { $0.points > 10 }.deleted == 1)
        #expect(try await Set(store.objects(Card.self).all().map(\.localID)) == ["b", "c"])
        world.clock.advance(by: 60)
        // Its unique value is free now, and the server does not send it again.
        try await world.others.card("b", barcode: "new", points: .integer(20))
        let result = try await sync.pull(Card.self, queryID: "cards")
        #expect(result.inserted == 1 && result.updated == 1 && result.refusedRows.isEmpty)
        #expect(try store.object(ofType: Card.self, forPrimaryKey: "a")?.points == 1)
        #expect(try store.checkIntegrity() == [])
    }

    @Test func `an unsent object is not removed`() async throws {
        let world = try SyncWorld { $0.otherTables = ServerTable(deletesSoftly: false) }
        let (store, sync) = try world.device()
        for id in ["a", "b", "c"] as [ServerID] { try await world.others.card(id) }
        try await sync.pull(Card.self)
        for id in ["a", "b", "c"] as [ServerID] { try await world.others.delete("Card", id) }
        try await store.write { tx in
            try tx.update(Card.self, localID: "a") { $0.points = 5 }
            try tx.delete(Card.self, localID: "b")
            try tx.insert(Card(shop: "new", barcode: "new"))
        }
        _ = try await sync.runPull(PullQuery(Card.self), pushesFirst: false)
        #expect(try await store.objects(Card.self).all().map(\.barcode).sorted() == ["ba", "new"])
        #expect(try await store.objects(Card.self).onlyDeleted().count() == 1)
        #expect(try store.operations.count() == 3 && store.checkIntegrity() == [])
    }

    @Test func `an empty server empties the table`() async throws {
        let server = PagedServer()
        server.change { state in
            for index in 0..<3000 { state.write("\(index)", "x") }
        }
        let device = try PagedDevice(server, pageSize: 1000)
        #expect(try await device.pull(nil).inserted == 3000)
        server.change { $0.rows = [:] }
        let result = try await device.pull(nil)
        #expect(result.deleted == 3000 && result.pages == 1)
        #expect(try device.pets().isEmpty && device.store.checkIntegrity() == [])
    }

    @Test func `inserts and deletes during the pages remove nothing else`() async throws {
        let server = PagedServer()
        server.change { state in
            for index in 100..<160 { state.write("\(index)", "x") }
        }
        let device = try PagedDevice(server, pageSize: 7)
        try await device.pull(nil)
        server.on { state, request throws(RemoteFailure) in
            // Rows before the cursor are deleted, which would shift the rest of a pull with offsets.
            if case .id(let last?) = request.order, let before = state.rows.keys.filter({ $0 <= last.rawValue }).max() {
                state.rows[before] = nil
            }
            return nil
        }
        try await device.pull(nil)
        server.on { _, _ throws(RemoteFailure) in nil }
        #expect(server.live.allSatisfy { (try? device.pets()[$0.key]) == $0.value })
        try await device.pull(nil)
        #expect(try device.pets() == server.live)
    }

    @Test func `a refused item is removed if the server no longer has it`() async throws {
        let world = try SyncWorld { $0.otherTables = ServerTable(deletesSoftly: false) }
        let (store, sync) = try world.device()
        try await world.others.card("a", barcode: "1")
        try await sync.pull(Card.self)
        try await world.others.card("b", barcode: "1")
        var result = try await sync.pull(Card.self)
        #expect(result.refusedRows.map(\.serverID) == ["b"])
        try await world.others.delete("Card", "b")
        try await world.others.delete("Card", "a")
        // Its rival is deleted, which frees the value. The item was deleted before.
        result = try await sync.pull(Card.self)
        result = try await sync.pull(Card.self)
        #expect(result.refusedRows.isEmpty)
        #expect(try await store.objects(Card.self).count() == 0)
    }
}

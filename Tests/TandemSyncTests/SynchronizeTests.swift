import DatasyncWire
import Foundation
import HTTPTypes
import Tandem
import TandemServerCore
import TandemSync
import TestSupport
import Testing

/// A sync pulls first, drops orphaned edits, and sends the rest.
@Suite(.ownThreads) struct SynchronizeTests {
    @Test(arguments: Dialect.both)
    func `changes of both sides are exchanged`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        let (store, sync) = try world.device()
        let (otherStore, otherSync) = try world.device()
        try await otherStore.write { tx in
            let person = try tx.insert(Person(name: "Ада"))
            try tx.insert(Card(shop: "theirs", barcode: "1", owner: person.reference))
        }
        try await otherSync.synchronize()
        world.clock.advance(by: 1)
        try await store.write { _ = try $0.insert(Card(shop: "mine", barcode: "2")) }
        world.forgetRequests()
        let result = try await sync.synchronize()
        #expect(result.isComplete && result.pulls.count == 3 && result.lostEdits.isEmpty)
        #expect(result.entries.count == 1)
        // The reads come before the write.
        #expect(world.requests.last?.hasPrefix("POST") == true)
        #expect(world.requests.dropLast().allSatisfy { $0.hasPrefix("GET") })
        #expect(try await store.objects(Card.self).where { $0.owner.name == "Ада" }.count() == 1)
        try await otherSync.synchronize()
        #expect(try await otherStore.objects(Card.self).all().map(\.shop).sorted() == ["mine", "theirs"])
        // Without changes, one request per table.
        world.clock.advance(by: 60)
        try await sync.synchronize()
        world.forgetRequests()
        let writes = try store.totalChanges()
        let quiet = try await sync.synchronize()
        #expect(world.requests.count == 3 && quiet.entries.isEmpty)
        #expect(try store.totalChanges() == writes)
    }

    @Test(arguments: Dialect.both)
    func `an edit of an object deleted on the server is dropped and reported`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        let (store, sync) = try world.device()
        try await world.others.card("a")
        try await world.others.card("b")
        try await sync.synchronize()
        try await store.write { tx in
            try tx.update(Card.self, localID: "a") { $0.points = 9 }
            try tx.update(Card.self, localID: "b") { $0.points = 8 }
        }
        world.clock.advance(by: 1)
        try await world.others.delete("Card", "a")
        world.forgetRequests()
        let result = try await sync.synchronize()
        let edit = try #require(result.lostEdits.first)
        #expect(result.lostEdits.count == 1 && edit.model == "Card" && edit.serverID == "a" && edit.localID == "a")
        #expect(edit.values == ["points": .integer(9)])
        #expect(result.entries.count == 1 && result.isComplete)
        #expect(try await store.objects(Card.self).all().map(\.points) == [8])
        #expect(try store.operations.count() == 0 && store.checkIntegrity() == [])
        // It was not sent.
        #expect(!world.requests.contains { $0.lowercased().contains("card/a") })
    }

    @Test func `a failed operation keeps waiting for the user`() async throws {
        let world = try SyncWorld()
        let (store, sync) = try world.device()
        try await world.others.card("a")
        try await sync.synchronize()
        try await store.write { tx in
            let card = try tx.update(Card.self, localID: "a") { $0.points = 9 }
            let operation = try #require(try tx.operations.operation(of: card))
            try tx.sync.hold(operation.id)
        }
        try await world.others.delete("Card", "a")
        let result = try await sync.synchronize()
        #expect(result.lostEdits.isEmpty)
        #expect(try await store.objects(Card.self).all().map(\.points) == [9])
        #expect(try store.operations.all().map(\.state) == [.held])
    }

    @Test func `a table that can't be pulled does not stop the others`() async throws {
        let world = try SyncWorld {
            $0.otherTables = nil
            $0.tables = ["card": ServerTable(), "person": ServerTable()]
        }
        let (store, sync) = try world.device()
        try await world.others.card("a")
        try await store.write { _ = try $0.insert(Card(shop: "mine", barcode: "2")) }
        let result = try await sync.synchronize()
        let failed = result.pulls.compactMap { if case .failure(let error) = $0.outcome { error } else { nil } }
        #expect(failed.map(\.table) == ["animals"] && !result.isComplete)
        #expect(try await store.objects(Card.self).count() == 2)
        #expect(try world.texts("Card", "shop").count == 2)
    }

    @Test func `a sync without a server changes nothing`() async throws {
        let world = try SyncWorld()
        let (store, sync) = try world.device()
        try await store.write { _ = try $0.insert(Card(shop: "mine", barcode: "2")) }
        world.next { _ in [.lostRequest] }
        await #expect { try await sync.synchronize() } throws: { ($0 as? SyncError)?.code == .unreachable }
        #expect(world.requests.count == 1)
        #expect(try store.operations.count() == 1)
    }
}

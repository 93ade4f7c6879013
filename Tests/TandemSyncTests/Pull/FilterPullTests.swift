import DatasyncWire
import Foundation
import HTTPTypes
import Tandem
import TandemServerCore
import TandemSync
import TestSupport
import Testing

@Model struct ToDo {
    var text: String
    var isDone = false
    var list: Reference<Person>?
}

/// Pulls of a part of a table.
@Suite(.ownThreads) struct FilterPullTests {
    private func device(_ world: SyncWorld) throws -> (Store, SyncContext) {
        let store = try Store(inMemoryModels: [Person.self, Pet.self, ToDo.self])
        return (store, world.context(store))
    }

    private func write(_ world: SyncWorld, _ id: ServerID, _ text: String, done: Bool, list: String? = nil) async throws
    {
        try await world.others.put(
            "ToDo", id,
            [("text", .text(text)), ("isDone", .bool(done)), ("list", list.map { .text($0) } ?? .null)])
    }

    /// As in the old tutorial, and as documented: a pull does not report an object that no longer matches the filter.
    @Test(arguments: Dialect.both)
    func `a pull with a filter keeps objects that no longer match until a full pull`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        let (store, sync) = try device(world)
        try await write(world, "milk", "Buy milk", done: false)
        try await write(world, "bread", "Buy bread", done: true)
        try await sync.pull(ToDo.self, queryID: "unfinished") { !$0.isDone }
        #expect(try await store.objects(ToDo.self).all().map(\.text) == ["Buy milk"])
        // Another device finishes it.
        world.clock.advance(by: 60)
        try await write(world, "milk", "Buy milk", done: true)
        let result = try await sync.pull(ToDo.self, queryID: "unfinished") { !$0.isDone }
        #expect(result.changes == 0)
        #expect(try await store.objects(ToDo.self).all().map(\.isDone) == [false])
        // A full pull with the filter removes it.
        #expect(try await sync.pull(ToDo.self) { !$0.isDone }.deleted == 1)
        #expect(try await store.objects(ToDo.self).count() == 0)
        // It is fetched again when it matches again.
        try await write(world, "milk", "Buy milk", done: false)
        #expect(try await sync.pull(ToDo.self, queryID: "unfinished") { !$0.isDone }.inserted == 1)
    }

    @Test(arguments: Dialect.both)
    func `a purge of the query removes it too`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        let (store, sync) = try device(world)
        try await write(world, "milk", "Buy milk", done: false)
        try await write(world, "tea", "Buy tea", done: false)
        try await sync.pull(ToDo.self, queryID: "unfinished") { !$0.isDone }
        try await write(world, "milk", "Buy milk", done: true)
        #expect(try await sync.purge(ToDo.self, queryID: "unfinished") { !$0.isDone } == 2)
        let result = try await sync.pull(ToDo.self, queryID: "unfinished") { !$0.isDone }
        #expect(result.inserted == 1)
        #expect(try await store.objects(ToDo.self).all().map(\.text) == ["Buy tea"])
    }

    @Test(arguments: Dialect.both)
    func `an object deleted within the filter is removed`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        let (store, sync) = try device(world)
        try await write(world, "milk", "Buy milk", done: false)
        try await sync.pull(ToDo.self, queryID: "unfinished") { !$0.isDone }
        try await world.others.delete("ToDo", "milk")
        #expect(try await sync.pull(ToDo.self, queryID: "unfinished") { !$0.isDone }.deleted == 1)
        #expect(try await store.objects(ToDo.self).count() == 0)
    }

    @Test(arguments: Dialect.both)
    func `a filter may name an object`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        let (store, sync) = try device(world)
        try sync.table(Person.self).setIdentity(.server(lookUp: nil))
        let list = try await store.write { try $0.insert(Person(name: "Home")) }
        // A change of the same table is pushed first, which gives the object its server ID.
        try await store.write { _ = try $0.insert(ToDo(text: "mine", list: list.reference)) }
        let query = PullQuery(ToDo.self, queryID: "home") { $0.list == list.reference }
        try await sync.pull(query)
        let serverID = try #require(try await store.objects(Person.self).first()?.serverID)
        try await write(world, "x", "theirs", done: false, list: serverID.rawValue)
        try await write(world, "y", "elsewhere", done: false, list: "other")
        #expect(try await sync.pull(query).inserted == 1)
        #expect(try await store.objects(ToDo.self).where { $0.list.name == "Home" }.count() == 2)
        #expect(world.requests.contains { $0.contains(serverID.rawValue) })
    }
}

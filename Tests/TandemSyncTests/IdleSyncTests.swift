import DatasyncWire
import Foundation
import GRDBSQLite
import Tandem
import TandemServerCore
import TandemSync
import TandemTesting
import TestSupport
import Testing

/// A sync without changes sends one request per table, and makes no commit.
@Suite(.ownThreads) struct IdleSyncTests {
    /// A connection of another program that sees each commit.
    private final class Witness {
        private let database: OpaquePointer
        private let path: String

        init(_ path: String) throws {
            self.path = path
            var database: OpaquePointer?
            try #require(sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
            self.database = try #require(database)
        }

        deinit { sqlite3_close_v2(database) }

        /// Returns values that change with each commit and each written byte.
        func state() throws -> [String] {
            var statement: OpaquePointer?
            try #require(sqlite3_prepare_v2(database, "PRAGMA data_version", -1, &statement, nil) == SQLITE_OK)
            defer { sqlite3_finalize(statement) }
            try #require(sqlite3_step(statement) == SQLITE_ROW)
            return ["data_version \(sqlite3_column_int64(statement, 0))"]
                + ["", "-wal", "-journal"].map { suffix in
                    var info = stat()
                    // Read the status without opening the file: closing it would release the store's locks.
                    guard stat(path + suffix, &info) == 0 else { return "no \(suffix)" }
                    return "\(suffix) \(info.st_size) \(info.st_mtim.tv_sec).\(info.st_mtim.tv_nsec)"
                }
        }
    }

    @Test(arguments: Dialect.both)
    func `an idle sync sends one request per table and writes nothing`(dialect: Dialect) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let world = try SyncWorld(dialect) { configuration in
            configuration.hooks.validate = { _, card in
                if case .text("refused")? = card["barcode"] { ["No."] } else { [] }
            }
        }
        let path = folder.path(of: "store.tandem")
        var configuration = Store.Configuration()
        configuration.now = world.clock.now
        let store = try Store(at: path, models: [Person.self, Card.self, Pet.self], configuration: configuration)
        defer { store.close() }
        let sync = world.context(store)
        try sync.table(Card.self).setConflicts(.report)
        let witness = try Witness(path)

        // All kinds of objects without pending work: synced, rejected, held, refused for a unique value, and in
        // conflict.
        for number in 0..<5 { try await world.others.card(ServerID("c\(number)"), barcode: "\(number)") }
        try await world.others.person("p", "Ада")
        try await sync.synchronize()
        try await store.write { tx in
            try tx.insert(Card(shop: "a", barcode: "refused"))
            try tx.insert(Card(shop: "a", barcode: "held"))
            try tx.insert(Card(shop: "a", barcode: "taken"))
            try tx.update(Card.self, localID: "c1") { $0.points = 1 }
        }
        for operation in try store.operations.all() where operation.kind == .insert {
            let card = try store.object(ofType: Card.self, forPrimaryKey: operation.localID)
            if card?.barcode != "refused" { try await sync.hold(operation.id) }
        }
        world.clock.advance(by: 1)
        try await world.others.card("c1", points: .integer(2))
        try await world.others.card("x", barcode: "taken")
        let busy = try await sync.synchronize()
        #expect(busy.failedOperations.count == 2)
        #expect(try await sync.status().held == 2)
        // The first sync after the time for late commits records that it is over.
        world.clock.advance(by: 60)
        try await sync.synchronize()

        for _ in 0..<2 {
            world.clock.advance(by: 60)
            world.forgetRequests()
            let (changes, before) = (try store.totalChanges(), try witness.state())
            let result = try await sync.synchronize()
            #expect(world.requests.count == 3, "\(world.requests)")
            #expect(world.requests.allSatisfy { $0.hasPrefix("GET") })
            #expect(try store.totalChanges() == changes)
            #expect(try witness.state() == before)
            let pulls = result.pulls.compactMap { try? $0.outcome.get() }
            #expect(
                pulls.count == 3 && pulls.allSatisfy { $0.changes == 0 } && pulls.contains { !$0.refusedRows.isEmpty })
        }
        // A write is visible to the witness.
        let before = try witness.state()
        try await store.write { _ = try $0.insert(Person(name: "Иван")) }
        #expect(try witness.state() != before)
    }

    /// A bare array may be truncated by its host, even within an instant. Only a page without new items is the end, and
    /// the items after the instant are such a page.
    @Test(arguments: Dialect.both)
    func `items that share the last instant cost no extra request`(dialect: Dialect) async throws {
        let world = try SyncWorld(dialect)
        let (store, sync) = try world.device()
        for number in 0..<3 { try await world.others.card(ServerID("c\(number)")) }
        try await sync.synchronize()
        world.clock.advance(by: 60)
        try await sync.synchronize()
        world.forgetRequests()
        let changes = try store.totalChanges()
        try await sync.synchronize()
        #expect(world.requests.count == 3, "\(world.requests)")
        #expect(try store.totalChanges() == changes)
    }
}

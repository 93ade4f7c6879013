import DatasyncWire
import Foundation
import GRDBSQLite
import Tandem
import TandemServerCore
import TandemSync
import TandemTesting
import TestSupport
import Testing

/// A sync with nothing to do asks once a table, and makes no commit.
@Suite(.ownThreads) struct IdleSyncTests {
    /// A connection of another program's, which sees each commit.
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

        /// What changes with each commit, and with each byte that is written.
        func state() throws -> [String] {
            var statement: OpaquePointer?
            try #require(sqlite3_prepare_v2(database, "PRAGMA data_version", -1, &statement, nil) == SQLITE_OK)
            defer { sqlite3_finalize(statement) }
            try #require(sqlite3_step(statement) == SQLITE_ROW)
            return ["data_version \(sqlite3_column_int64(statement, 0))"]
                + ["", "-wal", "-journal"].map { suffix in
                    var info = stat()
                    // Asked for without opening it: to close it would take the locks of the store.
                    guard stat(path + suffix, &info) == 0 else { return "no \(suffix)" }
                    return "\(suffix) \(info.st_size) \(info.st_mtim.tv_sec).\(info.st_mtim.tv_nsec)"
                }
        }
    }

    @Test(arguments: Dialect.both)
    func itAsksOnceATableAndWritesNothing(dialect: Dialect) async throws {
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

        // What needs nobody now: synced objects, one that the server refuses, one that is held, one whose unique value
        // another object has, and a conflict that waits for the user.
        for number in 0..<5 { try await world.others.card(ServerID("c\(number)"), barcode: "\(number)") }
        try await world.others.person("p", "Ада")
        try await sync.synchronize()
        try await store.write { tx in
            try tx.insert(Card(shop: "a", barcode: "refused"))
            try tx.insert(Card(shop: "a", barcode: "held"))
            try tx.insert(Card(shop: "a", barcode: "taken"))
            try tx.update(Card.self, "c1") { $0.points = 1 }
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
        // The first one after the time in which a server may commit late notes that this is over.
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
        // It would be seen.
        let before = try witness.state()
        try await store.write { _ = try $0.insert(Person(name: "Иван")) }
        #expect(try witness.state() != before)
    }

    /// A bare array may be cut short by its host, in the midst of an instant too: only a page without news is the end,
    /// and what lies behind the instant is such a page.
    @Test(arguments: Dialect.both)
    func whatSharesTheLastInstantCostsNoRequestMore(dialect: Dialect) async throws {
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

import Foundation
import GRDBSQLite
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Stores of format 1 are opened and upgraded with their queues.
@Suite(.ownThreads) struct FormatTwoTests {
    let folder: TestFolder
    init() throws { folder = try TestFolder() }

    private func open(_ change: (inout Store.Configuration) -> Void = { _ in }) throws -> Store {
        var configuration = Store.Configuration()
        change(&configuration)
        return try Store(at: folder.file(), models: [Node.self, Memo.self], configuration: configuration)
    }

    private func writeFormatOne() throws {
        try FormatOne.file.write(to: URL(fileURLWithPath: folder.file()))
    }

    @Test func `a file of format 1 is upgraded with its queue`() throws {
        try writeFormatOne()
        let store = try open()
        defer { store.close() }
        #expect(try store.checkIntegrity() == [])
        try store.expectSound()
        #expect(try store.sql("SELECT value FROM __settings WHERE key = 'formatVersion'")[0][0] == .integer(4))
        #expect(
            try store.queue() == [
                "insert new", "insert sent attempted", "insert waits", "update updated [count]",
                "update flying [count] attempted", "update lost [count]", "update refused [count] failed",
                "delete deleted [count]", "delete gone attempted",
                "update back [anchors code code1 code2 count friends keeper name next owners parent] attempted",
            ])
        let kinds = try store.sql("SELECT localID, attemptedKinds FROM __operations ORDER BY id").map {
            "\($0[0].string ?? "") \($0[1].int ?? -1)"
        }
        #expect(
            kinds == [
                // An operation in flight counts as sent before, as far as can be known.
                "new 0", "sent 9", "waits 0", "updated 0", "flying 18", "lost 2", "refused 2", "deleted 0", "gone 36",
                "back 36",
            ])
        let refused = try #require(try store.operations.all(in: .failed).first)
        #expect(refused.error?.status == 400 && refused.error?.serverItem == Data("{}".utf8))
        #expect(try store.stored(Node.self, "waits")?.friends.map(\.localID) == ["still"])
    }

    @Test func `an operation sent in format 1 gets its response in format 2`() throws {
        try writeFormatOne()
        let store = try open()
        defer { store.close() }
        // A sent insert may have arrived. A delete no longer forgets it.
        try store.write { tx in
            try tx.delete(Node.self, localID: "sent")
            try tx.delete(Node.self, localID: "new")
        }
        #expect(try store.operations.all().map(\.localID).contains("sent"))
        #expect(try !store.operations.all().map(\.localID).contains("new"))
        // The responses to the operations in flight.
        try store.write { tx in
            for operation in try tx.operations.all(in: .attempted) {
                try tx.acknowledge(operation.id, serverID: ServerID(operation.localID.rawValue), version: "v2")
            }
        }
        #expect(
            try store.queue() == [
                "delete sent", "insert waits", "update updated [count]", "update flying [count]",
                "update lost [count]", "update refused [count] failed", "delete deleted [count]", "insert back",
            ])
        try store.sendAll()
        #expect(try store.operations.count() == 0)
        #expect(try store.checkIntegrity() == [])
    }

    @Test func `a read-only store does not write a file of format 1`() throws {
        try writeFormatOne()
        let before = try folder.storeBytes()
        let error = expectError(.schemaMismatch) { try open { $0.isReadOnly = true } }
        #expect(error?.message.contains("older") == true)
        #expect(try folder.storeBytes()[("store.tandem")] == before["store.tandem"])
    }

    @Test func `a store that is open in format 1 gets an error`() throws {
        try writeFormatOne()
        let stamp = { (store: Store) in try store.sql("SELECT value FROM __settings WHERE key = 'schemaStamp'")[0][0] }
        let first = try open()
        let lifted = try stamp(first)
        first.close()
        let database = String(decoding: FormatOne.file, as: UTF8.self)
        #expect(lifted.string.map { !database.contains($0) } == true)
        // An upgraded file is opened unchanged.
        let second = try open()
        #expect(try stamp(second) == lifted)
        second.close()
    }

    /// Makes a store of format 1 of each kind by removing the additions of format 2 from a new store.
    @Test(arguments: StoreKind.files) func `a downgraded store of any kind is upgraded`(kind: StoreKind) throws {
        let folder = try TestFolder()
        var store = try kind.open(at: folder.file(), [Node.self, Memo.self])
        try store.write { tx in
            try tx.insert(Node("a", localID: "a"))
            try tx.insert(Node("b", localID: "b"))
            try tx.beginAttempt(try #require(try tx.operations.all().first).id)
        }
        try store.lowerToFormatOne()
        store.close()
        store = try kind.open(at: folder.file(), [Node.self, Memo.self])
        defer { store.close() }
        #expect(try store.queue() == ["insert a attempted", "insert b"])
        #expect(try store.sql("SELECT attemptedKinds FROM __operations ORDER BY id").map { $0[0] } == [9, 0])
        #expect(try store.checkIntegrity() == [])
        try store.expectSound()
    }

    @Test func `a downgraded store equals one of format 1`() throws {
        try writeFormatOne()
        let store = try Store.ofNodes()
        try store.lowerToFormatOne()
        let tables = "SELECT name FROM sqlite_master WHERE name GLOB '__*' ORDER BY name"
        let columns = "SELECT name FROM pragma_table_info('__operations')"
        let lowered = try (store.sql(tables).map { $0[0] }, store.sql(columns).map { $0[0] })
        #expect(firstColumn(tables) == lowered.0)
        #expect(firstColumn(columns) == lowered.1)
    }

    /// Reads the file without Tandem, which would upgrade it.
    private func firstColumn(_ query: String) -> [StorageValue] {
        var database: OpaquePointer?
        var statement: OpaquePointer?
        defer {
            sqlite3_finalize(statement)
            sqlite3_close(database)
        }
        guard sqlite3_open(folder.file(), &database) == SQLITE_OK,
            sqlite3_prepare_v2(database, query, -1, &statement, nil) == SQLITE_OK
        else { return [] }
        var values: [StorageValue] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            values.append(.text(sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? ""))
        }
        return values
    }

    /// A damaged store may lose its table of operations, which is then created in the current format.
    @Test func `a store with parts of format 2 is upgraded`() throws {
        let store = try open()
        try store.write { try $0.insert(Node("a")) }
        try store.writer.queue.unsafeReentrantWrite { _ in
            try store.writer.connection.execute(
                "DROP TABLE __sync_tokens; UPDATE __settings SET value = 1 WHERE key = 'formatVersion'")
        }
        store.close()
        let lifted = try open()
        defer { lifted.close() }
        #expect(try lifted.checkIntegrity() == [] && lifted.operations.count() == 1)
    }
}

extension Store {
    fileprivate func lowerToFormatOne() throws {
        try writer.queue.unsafeReentrantWrite { _ in
            let connection = writer.connection
            connection.finalizeStatements()
            try connection.execute(
                """
                DROP TABLE __files; DROP TABLE __file_uses; DROP TABLE __file_garbage; DROP TABLE __file_deletions;
                DROP TABLE __file_leftovers; DROP TABLE __file_uploads;
                DROP INDEX __operations_state; DROP TABLE __server_items; DROP TABLE __server_extras;
                DROP TABLE __sync_tokens; ALTER TABLE __operations DROP COLUMN attempted;
                ALTER TABLE __operations DROP COLUMN attemptedKinds; ALTER TABLE __operations DROP COLUMN retryAt;
                UPDATE __settings SET value = 1 WHERE key = 'formatVersion';
                UPDATE __settings SET value = replace(value, ',"stateIndexes":1', '') WHERE key = 'schema'
                """)
            let select = try connection.uncachedStatement(
                """
                SELECT name FROM sqlite_master WHERE type = 'index' AND (name GLOB '__unsynced_*' \
                OR name GLOB '__deleted_*' OR name GLOB '__unsent_*' OR name GLOB '__updated_*')
                """)
            var names: [String] = []
            while try select.step() { names.append(try select.text(0)) }
            select.reset()
            for name in names { try connection.execute("DROP INDEX \(name.quotedSQL)") }
        }
    }
}

import Foundation
import GRDB
import SQLiteCipher

/// Makes a database into which a store's rows were salvaged a store again.
///
/// What can be made from the objects' rows is made from them when the store is opened with its models, as in a
/// migration: twins, search indexes, link tables, indexes. The references to objects that are lost wait for them then.
struct SalvagedStore {
    let db: Database

    func mend() throws {
        try db.execute(sql: "PRAGMA application_id = \(StoreOpener.applicationID)")
        try dropSearchTables()
        try db.inTransaction {
            let tables = try Set(String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'"))
            // Without its settings it is no store: opening it says which is missing.
            guard tables.contains("__settings") else { return .commit }
            try db.execute(sql: MetaTables.creatingIfMissing)
            try mark(tables: tables)
            return .commit
        }
    }

    /// Removes the tables of search indexes. They are ordinary ones by now: salvage makes no virtual table.
    private func dropSearchTables() throws {
        let names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB '__search_*'"
        for name in try String.fetchAll(db, sql: names) {
            try db.execute(sql: "DROP TABLE \(name.quotedSQL)")
        }
    }

    /// Has the models' tables made anew at the next opening. A model whose table is lost begins with an empty one.
    private func mark(tables: Set<String>) throws {
        guard
            let json = try String.fetchOne(db, sql: #"SELECT "value" FROM "__settings" WHERE "key" = 'schema'"#),
            var record = try? SchemaRecord(json: json)
        else { return }
        for model in record.models where !tables.contains(model.table) {
            // Nothing is left that could be sent, or that waits; all is fetched again.
            for table in ["__operations", "__unresolved", "__server_items", "__server_extras", "__sync_tokens"] {
                try db.execute(sql: "DELETE FROM \(table.quotedSQL) WHERE \"table\" = ?", arguments: [model.table])
            }
            // They may stand on another page of the schema, and would be in the new table's way.
            for name in model.linkTables { try db.execute(sql: "DROP TABLE IF EXISTS \(name.quotedSQL)") }
        }
        try db.execute(
            sql: #"DELETE FROM "__operation_errors" WHERE "operation" NOT IN (SELECT "id" FROM "__operations")"#)
        record.models.removeAll { !tables.contains($0.table) }
        for index in record.models.indices { record.models[index].isSalvaged = true }
        try db.execute(
            sql: #"UPDATE "__settings" SET "value" = ? WHERE "key" = 'schema'"#, arguments: [try record.json])
    }
}

extension SalvagedStore {
    /// Copies the files that the salvaged rows name and that can be read. If the damaged store's key for files is lost,
    /// encrypted files can't be read.
    ///
    /// - Returns: What was copied; `nil` if there is nothing.
    static func copyFiles(
        from path: String, to salvaged: EncryptedDatabase, _ queue: DatabaseQueue
    ) throws -> CopiedFiles? {
        // Without its settings it is no store.
        guard try queue.read({ try $0.tableExists("__settings") }) else { return nil }
        let folder = FileFolder(path: StoreFiles.path(of: path), keys: try queue.read { try FileKeys($0) })
        defer { folder.close() }
        let copying = FileCopying(copy: queue, source: folder, target: salvaged.path, missing: .leftOut)
        guard FileCopying.isNeeded(for: path) else { return try copying.run(isEncrypted: true) }
        return try folder.whileCopying { try copying.run(isEncrypted: true) }
    }
}

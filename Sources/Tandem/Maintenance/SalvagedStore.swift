import Foundation
import GRDB
import SQLiteCipher

/// Turns a database with a store's salvaged rows into a store.
///
/// Some data can be derived from the objects' rows: folded keys, search indexes, link tables and indexes. This data is
/// rebuilt when the store is opened with its models, as in a migration. References to lost objects then become
/// unresolved.
struct SalvagedStore {
    let db: Database

    func mend() throws {
        try db.execute(sql: "PRAGMA application_id = \(DatabaseHead.applicationID)")
        try dropSearchTables()
        try db.inTransaction {
            let tables = try Set(String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'"))
            // Without its settings it is not a store. Opening it reports the missing setting.
            guard tables.contains("__settings") else { return .commit }
            try db.execute(sql: MetaTables.creatingIfMissing)
            try mark(tables: tables)
            return .commit
        }
    }

    /// Removes the tables of search indexes. They are ordinary tables here, because salvage creates no virtual tables.
    private func dropSearchTables() throws {
        let names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB '__search_*'"
        for name in try String.fetchAll(db, sql: names) {
            try db.execute(sql: "DROP TABLE \(name.quotedSQL)")
        }
    }

    /// Marks the models' tables for a rebuild at the next opening. A model whose table is lost starts with an empty
    /// table.
    private func mark(tables: Set<String>) throws {
        guard
            let json = try String.fetchOne(db, sql: #"SELECT "value" FROM "__settings" WHERE "key" = 'schema'"#),
            var record = try? SchemaRecord(json: json)
        else { return }
        for model in record.models where !tables.contains(model.table) {
            // Nothing is left to send or to resolve. All objects are fetched again.
            for table in ["__operations", "__unresolved", "__server_items", "__server_extras", "__sync_tokens"] {
                try db.execute(sql: "DELETE FROM \(table.quotedSQL) WHERE \"table\" = ?", arguments: [model.table])
            }
            // The link tables may be on another page of the schema, and would conflict with the new ones.
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
    /// Copies the readable files that the salvaged rows name. Encrypted files can't be read if the damaged store's file
    /// key is lost. The salvaged store gets a file key of its own, at the latest with its first file.
    ///
    /// - Returns: The copied files, or `nil` if there are none.
    static func copyFiles(
        from path: String, to salvaged: EncryptedDatabase, queue: DatabaseQueue
    ) throws -> CopiedFiles? {
        // Without its settings it is not a store.
        guard try queue.read({ try $0.tableExists("__settings") }) else { return nil }
        let folder = FileFolder(path: AttachmentFiles.path(of: path), keys: try queue.read { try FileKeys($0) })
        defer { folder.close() }
        let copying = BlobCopier(copy: queue, source: folder, target: salvaged.path, missing: .leftOut)
        func copy() throws -> CopiedFiles? { try copying.run(isEncrypted: true) }
        let files = try BlobCopier.isNeeded(for: path) ? folder.whileCopying(copy) : copy()
        if files == nil { try queue.writeWithoutTransaction { try FileKeys.remove(from: $0) } }
        return files
    }
}

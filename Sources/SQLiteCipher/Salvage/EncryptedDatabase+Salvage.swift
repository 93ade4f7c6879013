import Foundation
import GRDB

extension EncryptedDatabase {
    /// Copies what can still be read of a damaged database to a new one.
    ///
    /// ```swift
    /// let rescued = try EncryptedDatabase(path: "rescued.db", key: key)
    /// let report = try damaged.salvage(to: rescued)
    /// print(report.damagedPages, report.lostRows)
    /// ```
    ///
    /// Every page is tried by itself; a page that is not authentic is left out, and never guessed at. Rows whose table
    /// is not known any more are kept in `lost_and_found`. A log is read as far as it was committed, and of a transaction
    /// that was interrupted the rows as they were before. The database itself is not changed; close its connections
    /// before, so that its log is at rest.
    ///
    /// Without the first 16 bytes of the file, its salt, nothing can be read, except with a raw key that brings it.
    ///
    /// - Throws: ``CipherError/Code/wrongKey`` if not one page can be read.
    /// - Complexity: O(n) in the size of the database; holds one row at a time, and the numbers of the pages.
    public func salvage(to target: EncryptedDatabase) throws -> SalvageReport {
        guard !FileManager.default.fileExists(atPath: target.path) else {
            throw CipherError(
                .alreadyExists, "There is a file already.", advice: "Remove it, or give another path.",
                path: target.path)
        }
        let reader = try PageReader(self)
        let salvager = try Salvager(reader, profile: profile)
        try salvager.readEverything()
        guard !reader.readable.isEmpty else {
            throw CipherError(
                .wrongKey, "Not one page of the file can be read with the key.",
                advice: "Check the key, the profile and its options.", path: path)
        }
        var report = SalvageReport()
        do {
            try Self.copy(salvager, to: target, &report)
        } catch {
            try? Rewriting.removeDatabase(target.path)
            throw target.explain(error)
        }
        report.lostRows += salvager.lostRows
        report.isRollbackPartial = reader.journal?.isCut ?? false
        report.damagedPages = salvager.damagedPages
        return report
    }

    private static func copy(
        _ salvager: Salvager, to target: EncryptedDatabase, _ report: inout SalvageReport
    ) throws {
        let queue = try target.openQueue()
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON")
            try db.inTransaction {
                try Self.copy(salvager, to: db, &report)
                return .commit
            }
        }
        try queue.close()
    }

    private static func copy(_ salvager: Salvager, to db: Database, _ report: inout SalvageReport) throws {
        let schema = try salvager.schema()
        let isVirtual = { (entry: Salvager.SchemaEntry) in
            entry.root == 0 && entry.sql.uppercased().hasPrefix("CREATE VIRTUAL")
        }
        let tables = schema.filter { $0.type == "table" && !isVirtual($0) }
        for entry in tables where !entry.name.hasPrefix("sqlite_") { execute(entry.sql, db, &report) }
        for entry in tables where entry.name == "sqlite_sequence" || !entry.name.hasPrefix("sqlite_") {
            guard try db.tableExists(entry.name) else { continue }
            try copyTable(entry, salvager, db, &report)
        }
        try keepOrphans(salvager, db, &report)
        for entry in schema where entry.type != "table" && !entry.sql.isEmpty { execute(entry.sql, db, &report) }
        // The tables that a virtual one stands on were copied as they were; it must not make them anew.
        try db.execute(sql: "PRAGMA writable_schema = ON")
        for entry in schema where isVirtual(entry) {
            try db.execute(
                sql: "INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES ('table', ?, ?, 0, ?)",
                arguments: [entry.name, entry.name, entry.sql])
        }
        try db.execute(sql: "PRAGMA writable_schema = OFF")
    }

    private static func execute(_ sql: String, _ db: Database, _ report: inout SalvageReport) {
        do {
            try db.execute(sql: sql)
        } catch {
            report.failedStatements.append(sql)
        }
    }

    private static func copyTable(
        _ entry: Salvager.SchemaEntry, _ salvager: Salvager, _ db: Database, _ report: inout SalvageReport
    ) throws {
        if entry.name == "sqlite_sequence" { try db.execute(sql: "DELETE FROM sqlite_sequence") }
        let table = try SalvageTable(db, name: entry.name)
        var (copied, lost) = (0, 0)
        try salvager.walk(entry.root) { rowid, values in
            if try table.insert(db, rowid: rowid, values) { copied += 1 } else { lost += 1 }
        }
        report.rows[entry.name] = copied
        report.lostRows += lost
    }

    /// SQLite's own name for such a table, in its shell's `.recover`.
    private static func keepOrphans(_ salvager: Salvager, _ db: Database, _ report: inout SalvageReport) throws {
        guard salvager.isDamaged else { return }
        var width = -1
        var found = 0
        try salvager.orphans { page, rowid, values in
            if width < 0 {
                try db.execute(sql: "CREATE TABLE lost_and_found (page INTEGER, id INTEGER, count INTEGER)")
                width = 0
            }
            // SQLite allows 2,000 columns.
            let values = values.prefix(1_900)
            while width < values.count {
                try db.execute(sql: "ALTER TABLE lost_and_found ADD COLUMN c\(width)")
                width += 1
            }
            let columns = ["page", "id", "count"] + (0..<values.count).map { "c\($0)" }
            let marks = databaseQuestionMarks(count: columns.count)
            let leading = [page.databaseValue, rowid.databaseValue, values.count.databaseValue]
            try db.execute(
                sql: "INSERT INTO lost_and_found (\(columns.joined(separator: ", "))) VALUES (\(marks))",
                arguments: StatementArguments(leading + values))
            found += 1
        }
        report.rowsWithoutTable = found
    }
}

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
    /// The stored schema is read, and never run, since the file's writer chose it. Tables are created again with their
    /// columns, affinities, keys, `NOT NULL` and literal defaults. Indexes, views, triggers, virtual tables, `CHECK`,
    /// foreign keys and computed columns are left out: ``SalvageReport/skippedStatements`` has their text. The tables in
    /// which a virtual one keeps its rows are copied as any others.
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
        try queue.write { try Self.copy(salvager, to: $0, &report) }
        try queue.close()
    }

    private static func copy(_ salvager: Salvager, to db: Database, _ report: inout SalvageReport) throws {
        let schema = try salvager.schema()
        for entry in schema where entry.type != "table" || entry.root == 0 {
            if !entry.sql.isEmpty { report.skippedStatements.append(entry.sql) }
        }
        let tables = schema.filter { $0.type == "table" && $0.root > 0 }
        let made = tables.filter { !$0.name.hasPrefix("sqlite_") && makeTable($0, db, &report) }
        for entry in made { try copyTable(entry, salvager, db, &report) }
        if let entry = tables.first(where: { $0.name == "sqlite_sequence" }), try db.tableExists(entry.name) {
            try copyTable(entry, salvager, db, &report)
        }
        try keepOrphans(salvager, db, &report)
    }

    /// Makes a table by SQL of our own. The stored statement may be anybody's: its expressions are not run.
    private static func makeTable(
        _ entry: Salvager.SchemaEntry, _ db: Database, _ report: inout SalvageReport
    ) -> Bool {
        do {
            guard let definition = TableDefinition(entry.sql) else {
                report.failedStatements.append(entry.sql)
                return false
            }
            try db.execute(sql: definition.statement(name: entry.name))
            if definition.isReduced { report.skippedStatements.append(entry.sql) }
            return true
        } catch {
            report.failedStatements.append(entry.sql)
            return false
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
        guard salvager.isDamaged || !report.failedStatements.isEmpty else { return }
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

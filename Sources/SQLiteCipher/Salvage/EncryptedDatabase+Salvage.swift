import Foundation
import GRDB

extension EncryptedDatabase {
    /// Copies the readable content of a damaged database to a new database.
    ///
    /// ```swift
    /// let rescued = try EncryptedDatabase(path: "rescued.db", key: key)
    /// let report = try damaged.salvage(to: rescued)
    /// print(report.damagedPages, report.lostRows)
    /// ```
    ///
    /// Each page is read independently. A page that is not authentic is skipped, and its content is never guessed. Rows
    /// whose table is unknown go to the table `lost_and_found`. A log is read up to its last commit. If a transaction
    /// was interrupted, its rows are read as they were before it. The database itself is not modified. Close its
    /// connections first, so that its log does not change.
    ///
    /// The stored schema is parsed but never executed, because the file's writer may be hostile. Tables are created
    /// with their columns, affinities, keys, `NOT NULL` and literal defaults. Indexes, views, triggers, virtual tables,
    /// `CHECK`, foreign keys and computed columns are omitted: ``SalvageReport/skippedStatements`` has their text. The
    /// shadow tables of a virtual table are copied like any other table.
    ///
    /// Without the file's first 16 bytes, its salt, no page can be read. The exception is a raw key that includes the
    /// salt.
    ///
    /// - Parameter target: The path, key and profile of the new database.
    /// - Throws: ``CipherError/Code/wrongKey`` if no page can be read.
    /// - Complexity: O(n) in the size of the database. Holds a single row at a time, and the numbers of the pages.
    public func salvage(to target: EncryptedDatabase) throws -> SalvageReport {
        guard !FileManager.default.fileExists(atPath: target.path) else {
            throw CipherError(
                .alreadyExists, message: "The target file already exists.", advice: "Remove it, or give another path.",
                path: target.path)
        }
        let reader = try PageReader(self)
        let salvager = try Salvager(reader, profile: profile)
        try salvager.readEverything()
        guard !reader.readable.isEmpty else {
            throw CipherError(
                .wrongKey, message: "No page of the file can be read with the key.",
                advice: "Check the key, the profile and its options.", path: path)
        }
        var report = SalvageReport()
        do {
            try Self.copy(salvager, to: target, report: &report)
        } catch {
            try? DatabaseCopier.removeDatabase(target.path)
            throw target.explain(error)
        }
        report.lostRows += salvager.lostRows
        report.isRollbackPartial = reader.journal?.isCut ?? false
        report.damagedPages = salvager.damagedPages
        return report
    }

    private static func copy(
        _ salvager: Salvager, to target: EncryptedDatabase, report: inout SalvageReport
    ) throws {
        let queue = try target.openQueue()
        try queue.write { try Self.copy(salvager, to: $0, report: &report) }
        try queue.close()
    }

    private static func copy(_ salvager: Salvager, to db: Database, report: inout SalvageReport) throws {
        let schema = try salvager.schema()
        for entry in schema where entry.type != "table" || entry.root == 0 {
            if !entry.sql.isEmpty { report.skippedStatements.append(entry.sql) }
        }
        let tables = schema.filter { $0.type == "table" && $0.root > 0 }
        let made = tables.filter { !$0.name.hasPrefix("sqlite_") && makeTable($0, in: db, report: &report) }
        for entry in made { try copyTable(entry, salvager: salvager, in: db, report: &report) }
        if let entry = tables.first(where: { $0.name == "sqlite_sequence" }), try db.tableExists(entry.name) {
            try copyTable(entry, salvager: salvager, in: db, report: &report)
        }
        try keepOrphans(salvager, in: db, report: &report)
    }

    /// Creates a table with SQL of our own. The stored statement is untrusted, so its expressions are not executed.
    private static func makeTable(
        _ entry: Salvager.SchemaEntry, in db: Database, report: inout SalvageReport
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
        _ entry: Salvager.SchemaEntry, salvager: Salvager, in db: Database, report: inout SalvageReport
    ) throws {
        if entry.name == "sqlite_sequence" { try db.execute(sql: "DELETE FROM sqlite_sequence") }
        let table = try SalvageTable(db, name: entry.name)
        var (copied, lost) = (0, 0)
        try salvager.walk(entry.root) { rowid, values in
            if try table.insert(db, rowid: rowid, values: values) { copied += 1 } else { lost += 1 }
        }
        report.rows[entry.name] = copied
        report.lostRows += lost
    }

    /// Copies rows without a table. SQLite's shell uses the same table name in `.recover`.
    private static func keepOrphans(_ salvager: Salvager, in db: Database, report: inout SalvageReport) throws {
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

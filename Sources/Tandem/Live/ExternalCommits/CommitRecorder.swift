import GRDB

/// A recorder of a transaction's changes for other processes, in the table `__recent_commits`.
///
/// A transaction uses it only if another store observes commits (``ObserverLock``). Its entry is written in the same
/// transaction. The entry names the position in the log on which the transaction was based. See ``CommitLog``.
///
/// Only the writing thread uses it.
final class CommitRecorder {
    /// The changes of a table.
    private final class Table {
        let name: String
        /// The number of the table's columns.
        let width: Int32
        let defaulted: Set<Int32>
        var rows: Set<Int64> = []
        var bytes: [UInt8] = []
        var isKnown: Bool

        /// - Parameter columns: The table's columns, or `nil` if the transaction's store does not know the table.
        init(_ name: String, columns: (width: Int, defaulted: Set<Int32>)?) {
            self.name = name
            width = Int32(columns?.width ?? 0)
            defaulted = columns?.defaulted ?? []
            isKnown = columns != nil
        }

        func forgetRows() {
            isKnown = false
            rows = []
            bytes = []
        }
    }

    private let connection: Connection
    private let schema: Schema
    private let tuning: LiveTuning
    private var tables: [Table] = []
    private var byteCount = 0
    private var reported = ReportedTables<Table>()

    init(_ schema: Schema, on connection: Connection, tuning: LiveTuning) {
        self.schema = schema
        self.connection = connection
        self.tuning = tuning
        // A hook must not run statements.
        for table in schema.tables { connection.findColumns(of: table) }
    }

    /// Records a change that SQLite reports before it happens. Only the first state of each row counts.
    func willChange(_ change: RowChange, in name: UnsafePointer<CChar>) {
        guard let table = reported.table(name, find: recorded), table.isKnown else { return }
        switch change {
        case .insert(let row): record(row, of: table, exists: false)
        case .delete(let row): record(row, of: table, exists: true)
        case .update(let old, let new):
            record(old, of: table, exists: true)
            if new != old { record(new, of: table, exists: false) }
        }
    }

    /// Returns the record of a table, or `nil` if the table is one of the store's own.
    private func recorded(_ name: String) -> Table? {
        if let known = tables.first(where: { $0.name == name }) { return known }
        // The store's own tables have no live queries.
        guard !name.hasPrefix("__") else { return nil }
        let columns = schema.table(named: name).flatMap { connection.captureCache.columns(of: $0) }
        let table = Table(name, columns: columns)
        tables.append(table)
        return table
    }

    private func record(_ row: Int64, of table: Table, exists: Bool) {
        guard table.isKnown, table.rows.insert(row).inserted else { return }
        byteCount -= table.bytes.count
        if table.rows.count > tuning.recordedRows || !append(row, to: table, exists: exists)
            || byteCount + table.bytes.count > tuning.recordedBytes
        {
            table.forgetRows()
        }
        byteCount += table.bytes.count
    }

    private func append(_ row: Int64, to table: Table, exists: Bool) -> Bool {
        table.bytes.append(number: row)
        guard exists else {
            table.bytes.append(number: RecordedChanges.newRow)
            return true
        }
        table.bytes.append(number: UInt16(table.width))
        return appendOldValues(to: table)
    }

    private func appendOldValues(to table: Table) -> Bool {
        for column in 0..<table.width {
            guard let value = connection.oldValue(column) else { return false }
            if case .null = value, table.defaulted.contains(column) { return false }
            table.bytes.append(value: value)
        }
        return true
    }

    /// Writes the entry of the transaction.
    ///
    /// - Parameter position: The end of the last commit before the transaction.
    func write(basedOn position: LogPosition) throws {
        var bytes = [RecordedChanges.version]
        for table in tables {
            bytes.append(block: table.name.utf8)
            bytes.append(table.isKnown ? 1 : 0)
            guard table.isKnown else { continue }
            bytes.append(number: UInt32(table.rows.count))
            bytes.append(contentsOf: table.bytes)
        }
        try connection.statement(CommitStatement.create).run()
        let insert = try connection.statement(CommitStatement.insert)
        insert.bind(1, blob: position.bytes)
        insert.bind(2, blob: bytes)
        try insert.run()
        let trim = try connection.statement(CommitStatement.trim)
        trim.bind(1, to: Int64(tuning.recordedCommits))
        try trim.run()
    }

    /// Removes all entries, because no other store observes commits any more.
    static func clear(_ connection: Connection) throws {
        try connection.statement(CommitStatement.create).run()
        try connection.statement(CommitStatement.clear).run()
    }

    /// Removes the table from a copy of a store. The copy has another log, and its reader may not see former values.
    static func removeTable(from copy: Database) throws {
        guard try copy.tableExists("__recent_commits") else { return }
        try copy.execute(sql: "PRAGMA secure_delete = ON; DROP TABLE \"__recent_commits\"")
    }
}

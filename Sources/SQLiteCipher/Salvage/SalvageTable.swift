import GRDB

/// An insert statement that writes the values of a table's records into a new table with the same definition.
struct SalvageTable {
    private let name: String
    /// The column for each value of a record.
    private let slots: [String]
    private let rowidSlot: Int?
    private let rowidName: String?

    init(_ db: Database, name: String) throws {
        self.name = name
        let info = try Row.fetchAll(
            db, sql: "SELECT name, type, pk FROM pragma_table_xinfo(?)", arguments: [name])
        let list = try Row.fetchOne(
            db, sql: "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?", arguments: [name])
        let hasRowid = (list?["wr"] as Int? ?? 0) == 0
        var stored = info
        if !hasRowid {
            // A table without rowid stores the key columns first.
            let key = stored.filter { $0["pk"] as Int > 0 }.sorted { ($0["pk"] as Int) < ($1["pk"] as Int) }
            stored = key + stored.filter { $0["pk"] as Int == 0 }
        }
        slots = stored.map { $0["name"] }
        let keys = stored.indices.filter { stored[$0]["pk"] as Int > 0 }
        let alias = keys.first {
            hasRowid && keys.count == 1 && (stored[$0]["type"] as String).uppercased() == "INTEGER"
        }
        rowidSlot = alias
        let taken = Set(info.map { ($0["name"] as String).lowercased() })
        rowidName = hasRowid && alias == nil ? ["rowid", "_rowid_", "oid"].first { !taken.contains($0) } : nil
    }

    /// Inserts a row. Returns `false` if the table rejects it.
    func insert(_ db: Database, rowid: Int64, values: [DatabaseValue]) throws -> Bool {
        var columns: [String] = []
        var arguments: [DatabaseValue] = []
        if let rowidName {
            columns.append(rowidName)
            arguments.append(rowid.databaseValue)
        }
        // A record from before ALTER TABLE ADD COLUMN is shorter. The new columns get their defaults.
        for (index, value) in values.enumerated() where index < slots.count {
            columns.append(slots[index].quotedName)
            arguments.append(index == rowidSlot && value.isNull ? rowid.databaseValue : value)
        }
        guard !columns.isEmpty else { return false }
        let marks = databaseQuestionMarks(count: columns.count)
        let table = name.quotedName
        let sql = "INSERT OR IGNORE INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(marks))"
        do {
            let statement = try db.cachedStatement(sql: sql)
            try statement.execute(arguments: StatementArguments(arguments))
            return db.changesCount == 1
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            return false
        }
    }
}

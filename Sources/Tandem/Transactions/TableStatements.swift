/// A connection's statements for writing a table, each prepared at its first use.
final class TableStatements {
    let table: TableLayout
    private unowned let connection: Connection

    private var insertStatement: Statement?
    private var selectByID: Statement?
    private var selectByRow: Statement?
    private var selectByServerID: Statement?
    private var batchInserts: [Int: Statement] = [:]
    private var selectUsedIDs: Statement?
    private var addToSearchStatement: Statement?
    private var insertIntoSearchStatement: Statement?
    private var removeFromSearchStatement: Statement?
    private var updates: [UpdateKey: Statement] = [:]

    /// The number of calls of ``find(_:rowID:)``. If it has not changed, the statement that it returned is still at the
    /// same row.
    private(set) var finds = 0

    /// The columns that an update writes.
    struct UpdateKey: Hashable {
        let properties: [Int]
        let clearsSynced: Bool
        /// The columns of the server's state, or `nil` for none.
        var server: ServerColumns?
    }

    /// The columns of a server's state that an update writes.
    enum ServerColumns {
        /// The version and the dates.
        case version
        /// The version, the dates, and the flag that the row is synced.
        case versionAndSynced

        /// The columns with a parameter, in the order of the parameters.
        static let names = ["version", "createdAt", "updatedAt"]
    }

    init(_ table: TableLayout, on connection: Connection) {
        self.table = table
        self.connection = connection
    }

    func insert() throws -> Statement {
        if let statement = insertStatement { return statement }
        let statement = try Statement(table.insertSQL, on: connection)
        insertStatement = statement
        return statement
    }

    /// Returns the insert of several rows, whose parameters are those of ``insert()``, row by row.
    ///
    /// - Parameter rows: One of few numbers: each has a statement of its own.
    func insert(rows: Int) throws -> Statement {
        if let statement = batchInserts[rows] { return statement }
        let statement = try Statement(table.insertSQL(rows: rows), on: connection)
        batchInserts[rows] = statement
        return statement
    }

    /// The number of IDs that ``usedIDs()`` looks up.
    static let usedIDCount = 32

    /// Returns the look-up of IDs that are the server ID or the local ID of an object. Its parameters are
    /// ``usedIDCount`` IDs, some of which may be NULL.
    func usedIDs() throws -> Statement {
        if let statement = selectUsedIDs { return statement }
        let list = (1...Self.usedIDCount).map { "?\($0)" }.joined(separator: ", ")
        let statement = try Statement(
            """
            SELECT "serverID" FROM \(table.quotedTable) WHERE "serverID" IN (\(list)) \
            UNION ALL SELECT "localID" FROM \(table.quotedTable) WHERE "localID" IN (\(list))
            """, on: connection)
        selectUsedIDs = statement
        return statement
    }

    /// Finds a row to change, and returns the statement at the row. The caller resets the statement. The next call ends
    /// its execution if it is still running.
    ///
    /// - Parameter rowID: The last known rowid of the object, or 0 if it is unknown. It saves a look-up in the ID's
    ///   index.
    func find(_ localID: LocalID, rowID: Int64 = 0) throws -> Statement? {
        finds += 1
        if rowID != 0 {
            let statement = try selectByRow ?? Statement(table.selectForUpdateByRowSQL, on: connection)
            selectByRow = statement
            statement.reset()
            statement.bind(1, to: localID.rawValue)
            statement.bind(2, to: rowID)
            if try statement.step() { return statement }
            statement.reset()
        }
        let statement = try selectByID ?? Statement(table.selectForUpdateByIDSQL, on: connection)
        selectByID = statement
        statement.reset()
        statement.bind(1, to: localID.rawValue)
        if try statement.step() { return statement }
        statement.reset()
        return nil
    }

    /// Finds the row with a server ID to change. Like ``find(_:rowID:)``, but with a statement of its own.
    func find(_ serverID: ServerID) throws -> Statement? {
        let statement = try selectByServerID ?? Statement(table.selectForUpdateByServerIDSQL, on: connection)
        selectByServerID = statement
        statement.reset()
        statement.bind(1, to: serverID.rawValue)
        if try statement.step() { return statement }
        statement.reset()
        return nil
    }

    /// Returns the update of some properties with their folded keys.
    ///
    /// Its parameters are the properties' values in order, then the keys of each folded property. The server's columns
    /// follow, and then the row.
    func update(_ key: UpdateKey) throws -> Statement {
        if let statement = updates[key] { return statement }
        var assignments = key.properties.map { table.definition.properties[$0].column.quotedSQL + " = ?" }
        for fold in table.folds where key.properties.contains(fold.property) {
            assignments += fold.columns.map { $0.quotedSQL + " = ?" }
        }
        if key.server != nil { assignments += ServerColumns.names.map { $0.quotedSQL + " = ?" } }
        if key.clearsSynced {
            assignments.append("\"synced\" = 0")
        } else if key.server == .versionAndSynced {
            assignments.append("\"synced\" = 1")
        }
        let statement = try Statement(
            "UPDATE \(table.quotedTable) SET \(assignments.joined(separator: ", ")) WHERE \"__rid\" = ?", on: connection
        )
        // A model with many properties, which change in many combinations, must not accumulate statements without
        // limit.
        if updates.count >= 256 { updates.removeAll() }
        updates[key] = statement
        return statement
    }

    // MARK: The search index

    private var searchColumns: String {
        table.searched.map { $0.searchColumn!.quotedSQL }.joined(separator: ", ")
    }

    private var searchTable: String { table.definition.searchTable!.quotedSQL }

    /// Returns the statement that adds a new row's texts, in the order of the search columns. The caller binds the row
    /// at 1, and the texts from 2 on.
    func insertIntoSearch() throws -> Statement {
        if let statement = insertIntoSearchStatement { return statement }
        let values = table.searched.map { _ in ", ?" }.joined()
        let statement = try Statement(
            "INSERT INTO \(searchTable) (rowid, \(searchColumns)) VALUES (?\(values))", on: connection)
        insertIntoSearchStatement = statement
        return statement
    }

    /// Adds a row in its current state. Does nothing if it was removed.
    func addToSearch(row: Int64) throws {
        let statement =
            try addToSearchStatement
            ?? Statement(
                """
                INSERT INTO \(searchTable) (rowid, \(searchColumns)) \
                SELECT "__rid", \(searchColumns) FROM \(table.quotedTable) WHERE "__rid" = ?
                """, on: connection)
        addToSearchStatement = statement
        statement.bind(1, to: row)
        try statement.run()
    }

    /// Removes a row's texts from the index. They must be exactly the indexed texts.
    func removeFromSearch(row: Int64, texts: [String?]) throws {
        let values = table.searched.map { _ in ", ?" }.joined()
        let statement =
            try removeFromSearchStatement
            ?? Statement(
                "INSERT INTO \(searchTable) (\(searchTable), rowid, \(searchColumns)) VALUES ('delete', ?\(values))",
                on: connection)
        removeFromSearchStatement = statement
        statement.bind(1, to: row)
        for (offset, text) in texts.enumerated() { statement.bind(Int32(offset + 2), to: text) }
        try statement.run()
    }

    /// Returns the indexed texts of the row at which a statement of ``find(_:rowID:)`` is positioned.
    func searchTexts(_ statement: Statement) throws -> [String?] {
        try table.searched.indices.map { try statement.optionalText(table.searchTwinColumn($0)) }
    }
}

import GRDBSQLite

/// A row of an SQL query.
public struct SQLRow: Hashable, Sendable {
    /// The columns' names.
    public let columns: [String]
    public let values: [StorageValue]

    /// The value at a column's index.
    public subscript(index: Int) -> StorageValue { values[index] }

    /// The value of the first column of a name, `nil` if there is none.
    public subscript(column: String) -> StorageValue? {
        columns.firstIndex { ScalarText.isEqual($0, column) }.map { values[$0] }
    }

    static func fetch(_ statement: Statement, _ values: [StorageValue], on connection: Connection) throws -> [SQLRow] {
        try statement.checkParameters(values.count, path: connection.path)
        statement.bind(values)
        let columns = (0..<sqlite3_column_count(statement.handle)).map {
            sqlite3_column_name(statement.handle, $0).map { String(cString: $0) } ?? ""
        }
        var rows: [SQLRow] = []
        while try statement.step() {
            rows.append(SQLRow(columns: columns, values: columns.indices.map { statement.value(Int32($0)) }))
        }
        return rows
    }
}

extension Statement {
    /// Whether it changes nothing and returns rows.
    var isQuery: Bool { sqlite3_stmt_readonly(handle) != 0 && sqlite3_column_count(handle) > 0 }

    /// Whether it changes nothing.
    var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 }

    /// Whether it begins or ends a transaction, attaches a file, or sets what the connection does: such statements
    /// return nothing and "change nothing".
    var isControl: Bool { sqlite3_stmt_readonly(handle) != 0 && sqlite3_column_count(handle) == 0 }

    func checkParameters(_ count: Int, path: String) throws {
        let expected = Int(sqlite3_bind_parameter_count(handle))
        guard expected == count else {
            throw TandemError(
                .invalidQuery, "The statement has \(expected) parameters, and \(count) values were given.",
                advice: "Give one value for each ?.", store: path)
        }
    }
}

extension Store {
    /// Reads by SQL: the way down for what queries can't say. How values are stored is in <doc:StorageFormat>.
    ///
    /// For example:
    ///
    /// ```swift
    /// let rows = try store.sql("SELECT count(*) FROM Card WHERE shop = ? AND deleted = 0", ["Лента"])
    /// ```
    ///
    /// - Parameters:
    ///   - sql: One statement that changes nothing.
    ///   - values: The values for its parameters (`?`), in order.
    /// - Throws: ``TandemError/Code/sql``, ``TandemError/Code/invalidQuery`` if it would change something.
    public func sql(_ sql: String, _ values: [StorageValue] = []) throws -> [SQLRow] {
        func refuse(_ message: String, _ advice: String) -> TandemError {
            TandemError(.invalidQuery, message, advice: advice, store: path)
        }
        let text = SQLText(sql)
        // Before SQLite sees them: some pragmas take effect when they are prepared.
        if text.isSetting {
            throw refuse("The pragma would change how the store works.", "Read with a pragma that only tells.")
        }
        guard text.isOneStatement else { throw refuse("It is not one statement.", "Run each by itself.") }
        return try reading(searching: true) { connection in
            let statement = try connection.uncachedStatement(sql)
            guard statement.isQuery else {
                throw refuse(
                    "The statement would change the store.",
                    "Write through a write block, so that each change has its operation.")
            }
            return try SQLRow.fetch(statement, values, on: connection)
        }
    }
}

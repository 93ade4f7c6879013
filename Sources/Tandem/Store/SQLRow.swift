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

    static func fetch(_ sql: String, _ values: [StorageValue], on connection: Connection) throws -> [SQLRow] {
        let statement = try connection.uncachedStatement(sql)
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
    /// Whether it changes nothing and returns rows (a COMMIT "changes nothing" too).
    var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 && sqlite3_column_count(handle) > 0 }

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
        try reading(searching: true) { connection in
            guard try connection.uncachedStatement(sql).isReadOnly else {
                throw TandemError(
                    .invalidQuery, "The statement would change the store.",
                    advice: "Write through a write block, so that each change has its operation.", store: path)
            }
            return try SQLRow.fetch(sql, values, on: connection)
        }
    }
}

/// A row of an SQL query.
public struct SQLRow: Hashable, Sendable {
    /// The columns' names.
    public let columns: [String]
    /// The values, in the order of the columns.
    public let values: [StorageValue]

    /// The value at a column's index.
    public subscript(index: Int) -> StorageValue { values[index] }

    /// The value of the first column with a name, or `nil` if there is none.
    public subscript(column: String) -> StorageValue? {
        columns.firstIndex { ScalarText.isEqual($0, column) }.map { values[$0] }
    }

    static func fetch(
        _ statement: Statement, binding values: [StorageValue], on connection: Connection
    ) throws -> [SQLRow] {
        try statement.checkParameters(values.count, path: connection.path)
        statement.bind(values)
        let columns = statement.columnNames
        var rows: [SQLRow] = []
        while try statement.step() {
            rows.append(SQLRow(columns: columns, values: columns.indices.map { statement.value(Int32($0)) }))
        }
        return rows
    }
}

extension Statement {
    /// Whether it returns rows without changing anything.
    var isQuery: Bool { isReadOnly && columnCount > 0 }

    /// Whether it begins or ends a transaction, attaches a file, or changes the connection's settings. SQLite reports
    /// such statements as read-only, and they return no rows.
    var isControl: Bool { isReadOnly && columnCount == 0 }

    func checkParameters(_ count: Int, path: String) throws {
        let expected = parameterCount
        guard expected == count else {
            throw TandemError(
                .invalidQuery, message: "The statement has \(expected) parameters, but \(count) values were given.",
                advice: "Give one value for each ?.", store: path)
        }
    }
}

extension Store {
    /// Reads with SQL, for queries that the query language can't express. <doc:StorageFormat> describes how values are
    /// stored.
    ///
    /// For example:
    ///
    /// ```swift
    /// let rows = try store.sql("SELECT count(*) FROM Card WHERE shop = ? AND deleted = 0", ["Лента"])
    /// ```
    ///
    /// - Parameters:
    ///   - sql: A single statement that changes nothing.
    ///   - values: The values for its parameters (`?`), in order.
    /// - Throws: ``TandemError/Code/sql``, or ``TandemError/Code/invalidQuery`` if the statement could change
    ///   something.
    public func sql(_ sql: String, binding values: [StorageValue] = []) throws -> [SQLRow] {
        func refuse(_ message: String, advice: String) -> TandemError {
            TandemError(.invalidQuery, message: message, advice: advice, store: path)
        }
        let text = SQLText(sql)
        // Check the text before SQLite prepares it, because some pragmas take effect at that time.
        if text.isSetting {
            throw refuse("The pragma would change the store's settings.", advice: "Use a pragma that only reads.")
        }
        guard text.isOneStatement else {
            throw refuse("The SQL is not a single statement.", advice: "Run each statement separately.")
        }
        return try reading(searching: true) { connection in
            let statement = try connection.uncachedStatement(sql)
            guard statement.isQuery else {
                throw refuse(
                    "The statement would change the store.",
                    advice: "Write in a write block, so that each change has its operation.")
            }
            return try SQLRow.fetch(statement, binding: values, on: connection)
        }
    }
}

extension Store {
    /// Compiles a statement, and runs a block with it in one consistent read.
    ///
    /// - Parameter shared: Whether to use the connection's cached statement. Pass `false` if the block calls the user's
    ///   code, which may run the same query.
    func query<T>(
        shared: Bool = true, compile: (inout SQLCompiler) -> SQL, body: (Statement, Connection) throws -> T
    ) throws -> T {
        let (sql, searches) = try compiledQuery(compile)
        func run(_ connection: Connection) throws -> T {
            let statement = shared ? try connection.statement(sql.text) : try connection.uncachedStatement(sql.text)
            defer {
                statement.reset()
                statement.clearBindings()
            }
            statement.bind(sql.values)
            return try body(statement, connection)
        }
        // The user's code may read again. In a read block it uses the same connection for that. So threads that each
        // hold a connection never wait for a second one.
        return shared
            ? try reading(searching: searches, run)
            : try read { try run($0.connectionForReading(searching: searches)) }
    }

    /// Returns the SQL of a statement. Throws if the store lacks one of its models.
    func compiled(_ compile: (inout SQLCompiler) -> SQL) throws -> SQL {
        try compiledQuery(compile).sql
    }

    private func compiledQuery(_ compile: (inout SQLCompiler) -> SQL) throws -> (sql: SQL, searches: Bool) {
        var compiler = SQLCompiler()
        let sql = compile(&compiler)
        for model in compiler.models { try requireModel(model) }
        return (sql, compiler.searches)
    }
}

extension Model {
    /// Reads an object. An error names the property that can't be read.
    @inline(__always)
    static func read(_ row: RowDecoder, path: String) throws -> Self {
        do {
            return try Self(__row: row)
        } catch let error as InvalidStoredValue {
            throw TandemError(unreadable: error, in: __definition, base: row.base, store: path)
        }
    }
}

extension TandemError {
    /// Creates an error for a column of an object that can't be read.
    init(unreadable error: InvalidStoredValue, in model: ModelDefinition, base: Int32, store: String) {
        let column = Int(error.column - base)
        let property = column - RowDecoder.stateColumns.count
        let name =
            if property >= 0, property < model.properties.count {
                model.properties[property].name
            } else if column >= 0, column < RowDecoder.stateColumns.count {
                RowDecoder.propertyName(ofStateColumn: RowDecoder.stateColumns[column])
            } else {
                nil as String?
            }
        self.init(
            .invalidValue, message: "A stored value can't be read: \(error.reason).",
            advice: "Another program may have written it. Store.checkIntegrity finds all such values.", store: store,
            model: model.name, property: name)
    }
}

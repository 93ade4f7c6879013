extension Results {
    /// Returns all objects, in the query's order.
    ///
    /// - Complexity: O(*n*), some 1 µs for each object.
    /// - Throws: ``TandemError``, with the code `invalidValue` if a stored value can't be read.
    public func all() throws -> [M] {
        try store.query(compile: query.compileObjects) { statement, connection in
            var objects: [M] = []
            while try statement.step() {
                objects.append(try M.read(statement.row(), path: connection.path))
            }
            return objects
        }
    }

    /// Returns the first object in the order, or nil if there is none.
    ///
    /// - Throws: ``TandemError`` if the query is not valid, or the store can't be read.
    public func first() throws -> M? {
        try store.query(compile: limit(1).query.compileObjects) { statement, connection in
            try statement.step() ? try M.read(statement.row(), path: connection.path) : nil
        }
    }

    /// Calls a function with each object, in the query's order.
    ///
    /// Objects are read one at a time, in constant memory, if the local IDs or an index provide the order. Otherwise
    /// SQLite sorts them first. All objects come from the same state of the store: later commits are not visible. In a
    /// write block, it is undefined whether changes that the function makes to these objects are visible.
    ///
    /// - Parameter body: Receives each object. An error that it throws ends the iteration.
    /// - Throws: The function's error, which ends the iteration, or ``TandemError``.
    public func forEach(_ body: (M) throws -> Void) throws {
        try store.query(shared: false, compile: query.compileObjects) { statement, connection in
            while try statement.step() {
                try body(try M.read(statement.row(), path: connection.path))
            }
        }
    }

    /// Returns the number of objects.
    ///
    /// - Throws: ``TandemError`` if the query is not valid, or the store can't be read.
    public func count() throws -> Int {
        try query.count(on: store)
    }

    /// Returns whether there are no objects.
    ///
    /// - Throws: ``TandemError`` if the query is not valid, or the store can't be read.
    /// - Complexity: The search ends at the first object found.
    public func isEmpty() throws -> Bool {
        let query = query.limited(1)
        return try store.query { compiler in
            compiler.select(query, ordered: false) { _, _ in "1" }
        } body: { statement, _ in
            try !statement.step()
        }
    }

    /// Returns whether the object with a local ID is among these objects.
    ///
    /// - Parameter localID: The local ID to find.
    /// - Throws: ``TandemError`` if the query is not valid, or the store can't be read.
    public func contains(_ localID: LocalID) throws -> Bool {
        let isObject = PredicateNode.comparison(
            M.Columns().localID.__column, by: .equal, to: .value(.text(localID.rawValue)))
        return try !Results(store: store, query: query.filtered(isObject)).isEmpty()
    }

    /// Returns the local IDs of the objects, in the query's order.
    ///
    /// - Throws: ``TandemError`` if the query is not valid, or the store can't be read.
    public func localIDs() throws -> [LocalID] {
        try values(of: \.localID)
    }

    /// Returns a property's value in each object, in the query's order: `values(of: \.shop)`, `values(of:
    /// \.owner.name)`.
    ///
    /// - Parameter property: A property of the model, or of an object that it refers to.
    /// - Throws: ``TandemError`` if the query is not valid, or the store can't be read.
    public func values<P: PropertyExpression>(of property: KeyPath<M.Columns, P>) throws -> [P.Value]
    where P.Root == M {
        let property = M.Columns()[keyPath: property]
        return try store.query { compiler in
            compiler.select(query) { compiler, scope in compiler.column(property.__column, in: scope) }
        } body: { statement, connection in
            var values: [P.Value] = []
            while try statement.step() {
                values.append(try property.value(statement.row(), column: 0, store: connection.path))
            }
            return values
        }
    }

    /// Returns the objects' local IDs and rows, in the query's order, for a change.
    func keys() throws -> [(localID: LocalID, rowID: Int64)] {
        try store.query { compiler in
            compiler.select(query) { _, scope in "\(alias: scope.alias).\"localID\", \(alias: scope.alias).\"__rid\"" }
        } body: { statement, _ in
            var keys: [(localID: LocalID, rowID: Int64)] = []
            while try statement.step() { keys.append((LocalID(try statement.text(0)), statement.integer(1))) }
            return keys
        }
    }
}

extension PropertyExpression {
    /// Reads a value. An error names the property that can't be read.
    func value(_ row: RowDecoder, column: Int32, store: String) throws -> Value {
        do {
            return try __read(row, column)
        } catch let error as InvalidStoredValue {
            throw TandemError(
                .invalidValue, message: "A stored value can't be read: \(error.reason).", store: store,
                model: __column.model.name, property: __column.propertyName)
        }
    }
}

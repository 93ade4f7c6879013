extension Results {
    /// All objects, in the order.
    ///
    /// - Complexity: O(*n*), some 1 µs for each object.
    /// - Throws: ``TandemError``, with the code `invalidValue` if a stored value can't be read.
    public func all() throws -> [M] {
        try store.query(compileObjects) { statement, connection in
            var objects: [M] = []
            while try statement.step() {
                objects.append(try M.read(statement.row(), path: connection.path))
            }
            return objects
        }
    }

    /// The first object in the order, nil if there is none.
    public func first() throws -> M? {
        try store.query(limit(1).compileObjects) { statement, connection in
            try statement.step() ? try M.read(statement.row(), path: connection.path) : nil
        }
    }

    /// Calls a function with each object, in the order.
    ///
    /// The objects are read one by one, so that a million take no more memory than one, as long as the order is that of
    /// the local IDs or of an index; otherwise SQLite sorts them first. All are of one moment: commits made meanwhile
    /// are not seen. In a write block, changes that the function makes to these objects may or may not be.
    ///
    /// - Throws: What the function throws, which ends the walk, or ``TandemError``.
    public func forEach(_ body: (M) throws -> Void) throws {
        try store.query(shared: false, compileObjects) { statement, connection in
            while try statement.step() {
                try body(try M.read(statement.row(), path: connection.path))
            }
        }
    }

    /// The number of objects.
    public func count() throws -> Int {
        let query = query.nestedIfCut
        return try store.query { compiler in
            compiler.select(query, ordered: false) { compiler, scope in compiler.aggregate(.count, in: scope) }
        } _: { statement, _ in
            try statement.step() ? Int(statement.integer(0)) : 0
        }
    }

    /// Whether there are no objects.
    ///
    /// - Complexity: The search ends at the first object found.
    public func isEmpty() throws -> Bool {
        let query = query.limited(1)
        return try store.query { compiler in
            compiler.select(query, ordered: false) { _, _ in "1" }
        } _: { statement, _ in
            try !statement.step()
        }
    }

    /// Whether the object with a local ID is among these.
    public func contains(_ localID: LocalID) throws -> Bool {
        let isObject = PredicateNode.comparison(M.Columns().localID.__column, .equal, .value(.text(localID.rawValue)))
        return try !Results(store: store, query: query.filtered(isObject)).isEmpty()
    }

    /// The local IDs of the objects, in the order.
    public func localIDs() throws -> [LocalID] {
        try values(of: \.localID)
    }

    /// A property's value in each object, in the order: `values(of: \.shop)`, `values(of: \.owner.name)`.
    public func values<P: PropertyExpression>(of property: KeyPath<M.Columns, P>) throws -> [P.Value]
    where P.Root == M {
        let property = M.Columns()[keyPath: property]
        return try store.query { compiler in
            compiler.select(query) { compiler, scope in compiler.column(property.__column, in: scope) }
        } _: { statement, connection in
            var values: [P.Value] = []
            while try statement.step() {
                values.append(try property.value(statement.row(), 0, store: connection.path))
            }
            return values
        }
    }

    /// The objects' local IDs and rows, in the order: what is to be changed.
    func keys() throws -> [(localID: LocalID, rowID: Int64)] {
        try store.query { compiler in
            compiler.select(query) { _, scope in "\(alias: scope.alias).\"localID\", \(alias: scope.alias).\"__rid\"" }
        } _: { statement, _ in
            var keys: [(localID: LocalID, rowID: Int64)] = []
            while try statement.step() { keys.append((LocalID(try statement.text(0)), statement.integer(1))) }
            return keys
        }
    }

    /// The statement that reads the objects.
    func compileObjects(_ compiler: inout SQLCompiler) -> SQL {
        compiler.select(query) { compiler, scope in compiler.objectColumns(query.model, scope.alias) }
    }
}

extension PropertyExpression {
    /// Reads a value, naming the property if it can't be read.
    func value(_ row: RowReader, _ column: Int32, store: String) throws -> Value {
        do {
            return try __read(row, column)
        } catch let error as InvalidStoredValue {
            throw TandemError(
                .invalidValue, "A stored value can't be read: \(error.reason).", store: store,
                model: __column.model.name, property: __column.propertyName)
        }
    }
}

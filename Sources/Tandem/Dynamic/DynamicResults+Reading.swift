extension DynamicResults {
    /// Returns all objects, in the query's order.
    ///
    /// - Throws: ``TandemError`` if the query is not valid, or the store can't be read.
    public func all() throws -> [DynamicObject] {
        try store.query(compile: query.compileObjects) { statement, connection in
            var objects: [DynamicObject] = []
            while try statement.step() {
                objects.append(try DynamicObject.read(model, row: statement.row(), path: connection.path))
            }
            return objects
        }
    }

    /// Returns the first object in the order, or nil if there is none.
    ///
    /// - Throws: ``TandemError`` if the query is not valid, or the store can't be read.
    public func first() throws -> DynamicObject? {
        try limit(1).all().first
    }

    /// Calls a function with each object, in the query's order. All objects come from the same state of the store.
    ///
    /// Objects are read one at a time, in constant memory, if the local IDs or an index provide the order.
    ///
    /// - Parameter body: Receives each object. An error that it throws ends the iteration.
    /// - Throws: The function's error, or ``TandemError``.
    public func forEach(_ body: (DynamicObject) throws -> Void) throws {
        try store.query(shared: false, compile: query.compileObjects) { statement, connection in
            while try statement.step() {
                try body(try DynamicObject.read(model, row: statement.row(), path: connection.path))
            }
        }
    }

    /// Returns the number of objects.
    ///
    /// - Throws: ``TandemError`` if the query is not valid, or the store can't be read.
    public func count() throws -> Int {
        try query.count(on: store)
    }

    /// Returns the local IDs of the objects, in the query's order.
    ///
    /// - Throws: ``TandemError`` if the query is not valid, or the store can't be read.
    public func localIDs() throws -> [LocalID] {
        try store.query { compiler in
            compiler.select(query) { _, scope in "\(alias: scope.alias).\"localID\"" }
        } body: { statement, _ in
            var ids: [LocalID] = []
            while try statement.step() { ids.append(LocalID(try statement.text(0))) }
            return ids
        }
    }

    /// Returns the SQL of this query, SQLite's plan, the way in which a live result follows changes, and suggested
    /// indexes. See ``Results/explain()``.
    ///
    /// - Throws: ``TandemError`` if the query is not valid, or the store can't be read.
    public func explain() throws -> QueryExplanation { try query.explanation(on: store) }
}

// MARK: Pages

extension DynamicResults {
    /// Returns the objects that follow an object in the order: the next page of a list. See
    /// ``Results/after(_:)``.
    ///
    /// - Parameter object: The last object of the page before.
    /// - Throws: ``TandemError`` with the code `invalidQuery` if the order follows a reference, or if the object is of
    ///   another model.
    /// - Complexity: If an index provides the order, O(log *n*) for the first object.
    public func after(_ object: DynamicObject) throws -> DynamicResults {
        guard object.model.name == model.name, object.storedValues.count == model.properties.count else {
            throw TandemError(
                .invalidQuery, message: "The object is a \(object.model.name), and not a \(model.name) of this store.",
                advice: "Give an object of the query.", store: store.path, model: model.name)
        }
        let row = RowEncoder()
        for value in object.storedValues { row.append(value) }
        let follows = try PageTerm.follows(query.order, values: row, state: object.state, model: model, store: store)
        return DynamicResults(store: store, query: query.filtered(follows))
    }

    /// Returns up to `limit` objects that follow an object in the order, or the first page if `object` is nil.
    ///
    /// - Precondition: The limit is not negative.
    /// - Parameters:
    ///   - object: The last object of the page before, or nil.
    ///   - limit: The maximum number of objects.
    /// - Throws: The errors of ``after(_:)``, and ``TandemError`` if the store can't be read.
    public func page(after object: DynamicObject?, limit: Int) throws -> [DynamicObject] {
        try (object.map(after) ?? self).limit(limit).all()
    }
}

// MARK: Outside the caller's thread

extension DynamicResults {
    /// Returns all objects, in the query's order, read outside the caller's thread.
    ///
    /// - Throws: The errors of the synchronous `all()`, and `CancellationError`.
    public func all() async throws -> [DynamicObject] {
        try await store.read { _ in try all() }
    }

    /// Returns the first object, or nil if there is none, read outside the caller's thread.
    ///
    /// - Throws: The errors of the synchronous `first()`, and `CancellationError`.
    public func first() async throws -> DynamicObject? {
        try await store.read { _ in try first() }
    }

    /// Returns the number of objects, counted outside the caller's thread.
    ///
    /// - Throws: The errors of the synchronous `count()`, and `CancellationError`.
    public func count() async throws -> Int {
        try await store.read { _ in try count() }
    }
}

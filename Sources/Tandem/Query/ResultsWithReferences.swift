extension Results {
    /// Returns the objects together with linked objects: through references, lists of references and inverse links.
    ///
    /// ```swift
    /// for (card, owner) in try store.objects(Card.self).sorted(by: \.shop).with(\.owner).all() {
    ///     print(card.shop, owner?.name ?? "-")
    /// }
    /// for (card, owner, tags) in try store.objects(Card.self).with(\.owner, \.tags).all() {
    ///     print(card.shop, owner?.name ?? "-", tags.map(\.name))
    /// }
    /// for (person, cards) in try store.objects(Person.self).with(\.cards).all() { print(person.name, cards.count) }
    /// ```
    ///
    /// If a reference is nil, or its target is not in the store, the value is nil. A list has its own order, without
    /// objects that are not in the store. Inverse links are in the order of local IDs.
    ///
    /// - Parameter links: The references, lists of references and inverse links to follow.
    public func with<each Link: LoadedLink>(
        _ links: repeat KeyPath<M.Columns, each Link>
    ) -> ResultsWithReferences<M, repeat each Link> {
        let columns = M.Columns()
        return ResultsWithReferences(results: self, links: (repeat columns[keyPath: each links]))
    }
}

/// The objects of a query, each together with its linked objects. See ``Results/with(_:)``.
public struct ResultsWithReferences<M: Model, each Link: LoadedLink>: Sendable {
    private(set) var results: Results<M>
    let links: (repeat each Link)

    /// Returns all objects, in the query's order, with their linked objects.
    ///
    /// - Throws: ``TandemError`` if the query is not valid, or the store can't be read.
    /// - Complexity: O(*n*), with an index look-up for each reference, and for each object in a list. Inverse links of
    ///   references need one more query. Inverse links of lists need one more query for each object.
    public func all() throws -> [(M, repeat (each Link).Loaded)] {
        try results.store.read { transaction in
            let batch = makeBatch(transaction)
            try read(into: batch, shared: true) {}
            return try batch.finish()
        }
    }

    /// Returns the first object in the order with its linked objects, or nil if there is none.
    ///
    /// - Throws: ``TandemError`` if the query is not valid, or the store can't be read.
    public func first() throws -> (M, repeat (each Link).Loaded)? {
        var one = self
        one.results = results.limit(1)
        return try one.all().first
    }

    /// Calls a function with each object and its linked objects, in the query's order, as ``Results/forEach(_:)`` does.
    ///
    /// - Parameter body: Receives each object with its linked objects. An error that it throws ends the iteration.
    /// - Throws: The error of the closure, or ``TandemError``.
    public func forEach(_ body: (M, repeat (each Link).Loaded) throws -> Void) throws {
        try results.store.read { transaction in
            let batch = makeBatch(transaction)
            try read(into: batch, shared: false) { if batch.count >= 256 { try batch.finish(body) } }
            try batch.finish(body)
        }
    }

    private func makeBatch(_ transaction: ReadTransaction) -> LinkedBatch<M, repeat (each Link).Loaded> {
        LinkedBatch(transaction, columns: repeat LinkColumn((each links).__loading))
    }

    /// Reads all rows from the same state of the store, and calls a function after each row.
    private func read(
        into batch: LinkedBatch<M, repeat (each Link).Loaded>, shared: Bool, _ next: () throws -> Void
    ) throws {
        try results.store.query(shared: shared, compile: compile) { statement, connection in
            while try statement.step() {
                try batch.read(JoinedRow(statement, path: connection.path))
                try next()
            }
        }
    }

    private func compile(_ compiler: inout SQLCompiler) -> SQL {
        compiler.select(results.query) { compiler, scope in
            var columns = compiler.objectColumns(results.query.model, alias: scope.alias)
            for link in repeat each links { columns += ", \(link.__loading.columns(&compiler, scope))" }
            return columns
        }
    }
}

/// Objects with their loaded links.
private final class LinkedBatch<M: Model, each Loaded> {
    private let transaction: ReadTransaction
    private let columns: (repeat LinkColumn<each Loaded>)
    private var objects: [M] = []

    init(_ transaction: ReadTransaction, columns: repeat LinkColumn<each Loaded>) {
        self.transaction = transaction
        self.columns = (repeat each columns)
    }

    var count: Int { objects.count }

    func read(_ row: consuming JoinedRow) throws {
        objects.append(try row.next(M.self))
        for column in repeat each columns { try column.read(&row) }
    }

    /// Ends a batch and returns its objects with their loaded links.
    func finish() throws -> [(M, repeat each Loaded)] {
        for column in repeat each columns { try column.finish(transaction) }
        var rows: [(M, repeat each Loaded)] = []
        for (index, object) in objects.enumerated() { rows.append((object, repeat (each columns).value(at: index))) }
        objects.removeAll(keepingCapacity: true)
        return rows
    }

    /// Ends a batch, and calls a function with each of its objects.
    func finish(_ body: (M, repeat each Loaded) throws -> Void) throws {
        for column in repeat each columns { try column.finish(transaction) }
        for (index, object) in objects.enumerated() { try body(object, repeat (each columns).value(at: index)) }
        objects.removeAll(keepingCapacity: true)
    }
}

/// A row with the columns of several objects and values, in sequence.
struct JoinedRow {
    private let statement: Statement
    private let path: String
    private var base: Int32 = 0

    init(_ statement: Statement, path: String) {
        self.statement = statement
        self.path = path
    }

    mutating func next<M: Model>(_ model: M.Type) throws -> M {
        defer { base += Int32(RowDecoder.stateColumns.count + M.__definition.properties.count) }
        return try M.read(statement.row(base: base), path: path)
    }

    /// Reads the next object, or nil if the reference has no target.
    mutating func nextIfAny<M: Model>(_ model: M.Type) throws -> M? {
        defer { base += Int32(RowDecoder.stateColumns.count + M.__definition.properties.count) }
        return statement.isNull(base) ? nil : try M.read(statement.row(base: base), path: path)
    }

    /// Reads the next column.
    mutating func nextValue<T>(_ read: (RowDecoder, Int32) throws -> T) throws -> T {
        defer { base += 1 }
        do {
            return try read(statement.row(), base)
        } catch let error as InvalidStoredValue {
            throw TandemError(.invalidValue, message: "A stored link can't be read: \(error.reason).", store: path)
        }
    }
}

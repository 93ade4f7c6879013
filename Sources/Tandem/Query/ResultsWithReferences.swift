extension Results {
    /// The objects together with those they refer to, read by one statement.
    ///
    /// ```swift
    /// for (card, owner) in try store.objects(Card.self).sorted(by: \.shop).with(\.owner).all() {
    ///     print(card.shop, owner?.name ?? "-")
    /// }
    /// for (card, owner, brand) in try store.objects(Card.self).with(\.owner, \.brand).all() { … }
    /// ```
    ///
    /// Where a reference is nil, or names an object that is not in the store, there is nil.
    public func with<each Target: Model>(
        _ references: repeat KeyPath<M.Columns, ReferenceProperty<M, each Target>>
    ) -> ResultsWithReferences<M, repeat each Target> {
        var paths: [[ReferenceStep]] = []
        for reference in repeat each references {
            paths.append(Self.path(reference))
        }
        return ResultsWithReferences(results: self, paths: paths)
    }

    private static func path<Target: Model>(
        _ reference: KeyPath<M.Columns, ReferenceProperty<M, Target>>
    ) -> [ReferenceStep] {
        M.Columns()[keyPath: reference].__column.steps(to: Target.__definition.table)
    }
}

/// The objects of a query, each together with those it refers to. See ``Results/with(_:)``.
public struct ResultsWithReferences<M: Model, each Target: Model>: Sendable {
    let results: Results<M>
    let paths: [[ReferenceStep]]

    /// All objects, in the order, each with those it refers to.
    ///
    /// - Complexity: O(*n*), with one look-up in an index for each reference.
    public func all() throws -> [(M, repeat (each Target)?)] {
        try results.store.query(compile) { statement, connection in
            var rows: [(M, repeat (each Target)?)] = []
            while try statement.step() {
                var row = JoinedRow(statement, path: connection.path)
                rows.append((try row.next(M.self), repeat try row.nextIfAny((each Target).self)))
            }
            return rows
        }
    }

    /// The first object in the order with those it refers to, nil if there is none.
    public func first() throws -> (M, repeat (each Target)?)? {
        try ResultsWithReferences(results: results.limit(1), paths: paths).all().first
    }

    /// Calls a function with each object and those it refers to, in the order, as ``Results/forEach(_:)`` does.
    public func forEach(_ body: (M, repeat (each Target)?) throws -> Void) throws {
        try results.store.query(shared: false, compile) { statement, connection in
            while try statement.step() {
                var row = JoinedRow(statement, path: connection.path)
                try body(try row.next(M.self), repeat try row.nextIfAny((each Target).self))
            }
        }
    }

    private func compile(_ compiler: inout SQLCompiler) -> SQL {
        compiler.select(results.query) { compiler, scope in
            var columns = compiler.objectColumns(results.query.model, scope.alias)
            var index = 0
            for target in repeat (each Target).self {
                let alias = compiler.alias(paths[index], in: scope)
                columns += ", \(compiler.objectColumns(target.__definition, alias))"
                index += 1
            }
            return columns
        }
    }
}

/// A row with the columns of several objects, one after the other.
private struct JoinedRow {
    private let statement: Statement
    private let path: String
    private var base: Int32 = 0

    init(_ statement: Statement, path: String) {
        self.statement = statement
        self.path = path
    }

    mutating func next<M: Model>(_ model: M.Type) throws -> M {
        defer { base += Int32(RowReader.stateColumns.count + M.__definition.properties.count) }
        return try M.read(statement.row(base: base), path: path)
    }

    /// The next object, nil if there is none to the reference.
    mutating func nextIfAny<M: Model>(_ model: M.Type) throws -> M? {
        defer { base += Int32(RowReader.stateColumns.count + M.__definition.properties.count) }
        return statement.isNull(base) ? nil : try M.read(statement.row(base: base), path: path)
    }
}

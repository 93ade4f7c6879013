/// The readings of a query, which the typed queries and those by names share.
extension QueryDescription {
    /// Compiles the statement that reads the objects.
    func compileObjects(_ compiler: inout SQLCompiler) -> SQL {
        compiler.select(self) { compiler, scope in compiler.objectColumns(model, alias: scope.alias) }
    }

    /// Returns the number of the query's objects.
    func count(on store: Store) throws -> Int {
        let query = nestedIfCut
        return try store.query { compiler in
            compiler.select(query, ordered: false) { compiler, scope in compiler.aggregate(.count, in: scope) }
        } body: { statement, _ in
            try statement.step() ? Int(statement.integer(0)) : 0
        }
    }
}

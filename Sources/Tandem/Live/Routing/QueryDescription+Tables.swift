extension QueryDescription {
    /// The objects that the query's result depends on, besides those of its own model. Those of its base query are not
    /// included.
    var dependencies: [QueryDependencies.Dependency] { QueryDependencies(self).all }

    /// The names of all tables that the query's result depends on.
    var tables: Set<String> {
        var tables = Set(dependencies.map(\.table))
        tables.insert(model.table)
        if let base { tables.formUnion(base.query.tables) }
        return tables
    }
}

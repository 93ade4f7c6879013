extension QueryDescription {
    /// Returns the SQL of the query, SQLite's plan, the way in which a live result follows changes, and suggested
    /// indexes.
    func explanation(on store: Store) throws -> QueryExplanation {
        let sql = try store.compiled(compileObjects)
        return try store.reading { connection in
            let plan = try connection.plan(of: sql)
            return QueryExplanation(
                sql: sql.text, values: sql.values, plan: plan, live: liveExplanation(in: store.schema),
                suggestions: IndexAdvisor(self).suggestions(for: plan))
        }
    }
}

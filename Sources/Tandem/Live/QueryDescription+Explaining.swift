extension QueryDescription {
    /// Returns the SQL of the query, SQLite's plan, the way in which a live result follows changes, and suggested
    /// indexes.
    func explanation(on store: Store) throws -> QueryExplanation {
        let sql = try store.compiled(compileObjects)
        return try store.reading { connection in
            let statement = try connection.uncachedStatement("EXPLAIN QUERY PLAN " + sql.text)
            defer { statement.reset() }
            statement.bind(sql.values)
            var plan: [String] = []
            var depths: [Int64: Int] = [:]
            while try statement.step() {
                let depth = (depths[statement.integer(1)] ?? -1) + 1
                depths[statement.integer(0)] = depth
                plan.append(String(repeating: "  ", count: depth) + (try statement.text(3)))
            }
            return QueryExplanation(
                sql: sql.text, values: sql.values, plan: plan, live: liveExplanation(in: store.schema),
                suggestions: IndexAdvisor(self).suggestions(for: plan))
        }
    }
}

extension Results {
    /// Returns the SQL of this query, SQLite's plan, the way in which a live result follows changes, and suggested
    /// indexes.
    ///
    /// ```swift
    /// print(try store.objects(Card.self).where { $0.barcode == "4601234567893" }.explain())
    /// // SELECT … FROM "Card" AS t0 WHERE t0."deleted" = 0 AND t0."barcode" = ? ORDER BY t0."localID"
    /// // values: '4601234567893'
    /// // plan:
    /// //   SCAN t0 USING INDEX sqlite_autoindex_Card_1
    /// // live: each changed row is evaluated by itself
    /// // suggestion: All objects of Card are read. Mark its property barcode with @Indexed.
    /// ```
    ///
    /// The text is for people, and may change from version to version.
    public func explain() throws -> QueryExplanation {
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
                sql: sql.text, values: sql.values, plan: plan, live: query.liveExplanation(in: store.schema),
                suggestions: IndexAdvisor(query).suggestions(for: plan))
        }
    }
}

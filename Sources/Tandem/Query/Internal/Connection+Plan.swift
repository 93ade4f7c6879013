extension Connection {
    /// Returns SQLite's plan for a query, one line per step. Substeps are indented.
    ///
    /// Source: https://www.sqlite.org/eqp.html
    func plan(of sql: SQL) throws -> [String] {
        let statement = try uncachedStatement("EXPLAIN QUERY PLAN " + sql.text)
        defer { statement.finalize() }
        statement.bind(sql.values)
        var plan: [String] = []
        var depths: [Int64: Int] = [:]
        while try statement.step() {
            let depth = (depths[statement.integer(1)] ?? -1) + 1
            depths[statement.integer(0)] = depth
            plan.append(String(repeating: "  ", count: depth) + (try statement.text(3)))
        }
        return plan
    }
}

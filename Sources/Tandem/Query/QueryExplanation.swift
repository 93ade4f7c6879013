/// The way in which the store evaluates a query: see ``Results/explain()``.
public struct QueryExplanation: Sendable {
    /// The SQL.
    public let sql: String
    /// The bound values, in the order of the question marks.
    public let values: [StorageValue]
    /// SQLite's plan, a step per line. Steps that belong to another step are indented.
    public let plan: [String]
    /// The way in which ``Results/changesetPublisher`` follows changes, and its cost per commit.
    public let live: String
    /// Suggestions for a faster query, in sentences.
    public let suggestions: [String]
}

extension QueryExplanation: CustomStringConvertible {
    /// The SQL, the values, the plan and the suggestions as text.
    public var description: String {
        var lines = [sql]
        if !values.isEmpty { lines.append("values: " + values.map(\.literal).joined(separator: ", ")) }
        lines.append("plan:")
        lines += plan.map { "  " + $0 }
        lines.append("live: " + live)
        lines += suggestions.map { "suggestion: " + $0 }
        return lines.joined(separator: "\n")
    }
}

extension StorageValue {
    /// The value as a literal in SQL.
    var literal: String {
        switch self {
        case .null: "NULL"
        case .integer(let value): String(value)
        case .real(let value): String(value)
        case .text(let value): "'\(value.replacing("'", with: "''"))'"
        case .blob(let bytes):
            "X'" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined() + "'"
        }
    }
}

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
    ///
    /// - Throws: ``TandemError`` if the query is not valid, or the store can't be read.
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

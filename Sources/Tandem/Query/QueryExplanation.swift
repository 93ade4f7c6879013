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

/// A fragment of SQL and its bound values, in the order of the question marks.
struct SQL: Sendable, ExpressibleByStringInterpolation {
    var text: String
    var values: [StorageValue]

    init(_ text: String, values: [StorageValue] = []) {
        self.text = text
        self.values = values
    }

    init(stringLiteral text: String) {
        self.init(text)
    }

    init(stringInterpolation: StringInterpolation) {
        self = stringInterpolation.sql
    }

    /// An interpolation that inserts fragments with their values. Names must be quoted.
    struct StringInterpolation: StringInterpolationProtocol {
        var sql = SQL("")

        init(literalCapacity: Int, interpolationCount: Int) {
            sql.text.reserveCapacity(literalCapacity + 32 * interpolationCount)
        }

        mutating func appendLiteral(_ literal: String) { sql.text += literal }
        mutating func appendInterpolation(_ piece: SQL) { sql += piece }

        /// Inserts a bound value.
        mutating func appendInterpolation(bind value: StorageValue) {
            sql.text += "?"
            sql.values.append(value)
        }

        /// Inserts the quoted name of a table or a column.
        mutating func appendInterpolation(name: String) { sql.text += name.quotedSQL }
        mutating func appendInterpolation(alias: String) { sql.text += alias }

        /// Inserts a keyword or an operator.
        mutating func appendInterpolation(raw: String) { sql.text += raw }
    }

    static func += (lhs: inout SQL, rhs: SQL) {
        lhs.text += rhs.text
        lhs.values += rhs.values
    }
}

extension [SQL] {
    func joined(_ separator: String) -> SQL {
        var result = SQL("")
        for (index, piece) in enumerated() {
            if index > 0 { result.text += separator }
            result += piece
        }
        return result
    }

    /// Joins the fragments by AND or OR as a balanced tree, with parentheses where needed.
    ///
    /// SQLite rejects trees of more than a thousand levels. A chain of that many terms would be such a tree.
    func balanced(_ operation: String) -> SQL {
        if count <= 64 { return joined(" \(operation) ") }
        let half = count / 2
        let left = Array(self[..<half]).balanced(operation)
        let right = Array(self[half...]).balanced(operation)
        return "(\(left)) \(raw: operation) (\(right))"
    }
}

/// A piece of SQL and the values bound in it, in the order of its question marks.
struct SQL: Sendable, ExpressibleByStringInterpolation {
    var text: String
    var values: [StorageValue]

    init(_ text: String, _ values: [StorageValue] = []) {
        self.text = text
        self.values = values
    }

    init(stringLiteral text: String) {
        self.init(text)
    }

    init(stringInterpolation: StringInterpolation) {
        self = stringInterpolation.sql
    }

    /// Pieces of SQL are put in with their values; names must come quoted.
    struct StringInterpolation: StringInterpolationProtocol {
        var sql = SQL("")

        init(literalCapacity: Int, interpolationCount: Int) {
            sql.text.reserveCapacity(literalCapacity + 32 * interpolationCount)
        }

        mutating func appendLiteral(_ literal: String) { sql.text += literal }
        mutating func appendInterpolation(_ piece: SQL) { sql += piece }

        /// A value, bound.
        mutating func appendInterpolation(bind value: StorageValue) {
            sql.text += "?"
            sql.values.append(value)
        }

        /// A table's or a column's name, or an alias.
        mutating func appendInterpolation(name: String) { sql.text += name.quotedSQL }
        mutating func appendInterpolation(alias: String) { sql.text += alias }

        /// A keyword or an operator.
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

    /// The pieces joined by AND or OR, each in parentheses where needed, as a tree of little depth: SQLite refuses one
    /// of more than a thousand levels, which a chain of as many terms would be.
    func balanced(_ operation: String) -> SQL {
        if count <= 64 { return joined(" \(operation) ") }
        let half = count / 2
        let left = Array(self[..<half]).balanced(operation)
        let right = Array(self[half...]).balanced(operation)
        return "(\(left)) \(raw: operation) (\(right))"
    }
}

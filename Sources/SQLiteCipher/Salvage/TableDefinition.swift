import Foundation

/// A table's columns and keys, parsed from its stored `CREATE TABLE`. SQLite never executes the stored text.
///
/// The parser keeps names, affinities, `PRIMARY KEY`, `UNIQUE`, `NOT NULL`, SQLite's own collations and literal
/// defaults. A stored generated column becomes an ordinary column, because the file holds its values. Everything else
/// is omitted.
struct TableDefinition {
    struct Column {
        let name: String
        var affinity = ""
        var isNotNull = false
        var collation: String?
        /// The rewritten literal.
        var defaultValue: String?
        /// Whether its default was omitted. Rows from before the column was added hold no value for it.
        var lacksDefault = false
        /// Whether its values are computed on read, and so are not in the file.
        var isVirtual = false
    }

    private(set) var columns: [Column] = []
    private(set) var primaryKey: [String] = []
    private(set) var isAutoincrement = false
    private(set) var isWithoutRowid = false
    private(set) var uniqueKeys: [[String]] = []
    private var isStrict = false
    /// Whether a part of the stored definition was omitted.
    private(set) var isReduced = false

    /// Parses a definition. Returns `nil` if the parser does not understand it.
    init?(_ sql: String) {
        guard let tokens = SQLToken.tokens(of: sql), tokens.first?.keyword == "CREATE",
            let start = tokens.firstIndex(of: .open), let end = Self.end(tokens[...], from: start)
        else { return nil }
        isStrict = tokens[end...].contains { $0.keyword == "STRICT" }
        for part in Self.parts(tokens[(start + 1)..<end]) {
            let isKey = ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"].contains(part.first?.keyword)
            if isKey { readKeys(part) } else if !readColumn(part) { return nil }
        }
        isWithoutRowid = tokens[end...].contains { $0.keyword == "WITHOUT" }
        if isStrict { isReduced = true }
        guard columns.contains(where: { !$0.isVirtual }) else { return nil }
    }

    /// Returns the statement that creates the table. It contains only quoted names, keywords and literals.
    func statement(name: String) -> String {
        var parts = columns.filter { !$0.isVirtual }.map { column in
            var text = column.name.quotedName
            if !column.affinity.isEmpty { text += " " + column.affinity }
            if isAutoincrement, primaryKey.map({ $0.lowercased() }) == [column.name.lowercased()] {
                text += " PRIMARY KEY AUTOINCREMENT"
            }
            if column.isNotNull, !column.lacksDefault { text += " NOT NULL" }
            if let collation = column.collation { text += " COLLATE " + collation }
            if let value = column.defaultValue { text += " DEFAULT " + value }
            return text
        }
        func list(_ names: [String]) -> String { names.map(\.quotedName).joined(separator: ", ") }
        if !primaryKey.isEmpty, !isAutoincrement { parts.append("PRIMARY KEY (\(list(primaryKey)))") }
        // A computed value that is not in the file can't be part of a key.
        let kept = Set(columns.filter { !$0.isVirtual }.map { $0.name.lowercased() })
        parts += uniqueKeys.filter { $0.allSatisfy { kept.contains($0.lowercased()) } }.map { "UNIQUE (\(list($0)))" }
        return "CREATE TABLE \(name.quotedName) (\(parts.joined(separator: ", ")))"
            + (isWithoutRowid ? " WITHOUT ROWID" : "")
    }

    // MARK: - Reading

    /// Returns the index of the parenthesis that closes the parenthesis at `start`.
    private static func end(_ tokens: ArraySlice<SQLToken>, from start: Int) -> Int? {
        var depth = 0
        for index in tokens[start...].indices {
            if tokens[index] == .open { depth += 1 }
            if tokens[index] == .close { depth -= 1 }
            if depth == 0 { return index }
        }
        return nil
    }

    /// Splits at the commas outside parentheses.
    private static func parts(_ tokens: ArraySlice<SQLToken>) -> [ArraySlice<SQLToken>] {
        var depth = 0
        return tokens.split(omittingEmptySubsequences: false) { token in
            if token == .open { depth += 1 }
            if token == .close { depth -= 1 }
            return depth == 0 && token == .comma
        }
    }

    private func affinity(_ type: [String]) -> String {
        // In a STRICT table, values of an ANY column are not converted.
        if isStrict, type == ["ANY"] { return "" }
        // Only a column of exactly this type is the rowid.
        if type == ["INTEGER"] { return "INTEGER" }
        let type = type.joined(separator: " ")
        if type.contains("INT") { return "INT" }
        if ["CHAR", "CLOB", "TEXT"].contains(where: type.contains) { return "TEXT" }
        if type.isEmpty || type.contains("BLOB") { return "" }
        return ["REAL", "FLOA", "DOUB"].contains(where: type.contains) ? "REAL" : "NUMERIC"
    }

    private mutating func readColumn(_ part: ArraySlice<SQLToken>) -> Bool {
        guard let name = part.first?.identifier else { return false }
        var column = Column(name: name)
        let starts: Set<String> = [
            "CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE", "REFERENCES", "GENERATED",
            "AS",
        ]
        let rest = part.dropFirst()
        let end = rest.firstIndex { $0.keyword.map(starts.contains) ?? false } ?? rest.endIndex
        column.affinity = affinity(rest[..<end].prefix { $0 != .open }.compactMap { $0.identifier?.uppercased() })
        guard readConstraints(rest[end...], of: &column) else { return false }
        columns.append(column)
        return true
    }

    private mutating func readConstraints(_ tokens: ArraySlice<SQLToken>, of column: inout Column) -> Bool {
        var index = tokens.startIndex
        func next(_ distance: Int = 1) -> SQLToken? {
            index + distance < tokens.endIndex ? tokens[index + distance] : nil
        }
        while index < tokens.endIndex {
            switch tokens[index].keyword {
            case "PRIMARY": primaryKey = [column.name]
            case "AUTOINCREMENT": isAutoincrement = true
            case "UNIQUE": uniqueKeys.append([column.name])
            case "NOT" where next()?.keyword == "NULL": column.isNotNull = true
            case "COLLATE":
                let collation = next()?.identifier?.uppercased()
                column.collation = ["BINARY", "NOCASE", "RTRIM"].first { $0 == collation }
                if column.collation == nil { isReduced = true }
                index += 1
            case "DEFAULT":
                // The keyword may also end ON DELETE SET DEFAULT.
                if let value = Self.literal(tokens[(index + 1)...]) {
                    column.defaultValue = value
                } else {
                    column.lacksDefault = true
                    isReduced = true
                }
            case "AS":
                isReduced = true
                guard next() == .open, let end = Self.end(tokens, from: index + 1) else { return false }
                column.isVirtual = end + 1 == tokens.endIndex || tokens[end + 1].keyword != "STORED"
                index = end
            case "CHECK", "REFERENCES": isReduced = true
            default: break
            }
            index += 1
            // The parentheses hold an expression, or the columns of another table.
            if index < tokens.endIndex, tokens[index] == .open {
                guard let end = Self.end(tokens, from: index) else { return false }
                index = end + 1
            }
        }
        return true
    }

    /// Rewrites a default if it is a string, a blob, a number or NULL.
    private static func literal(_ tokens: ArraySlice<SQLToken>) -> String? {
        var tokens = tokens
        var sign = ""
        if let symbol = tokens.first, symbol == .symbol(UInt8(ascii: "-")) || symbol == .symbol(UInt8(ascii: "+")) {
            sign = symbol == .symbol(UInt8(ascii: "-")) ? "-" : ""
            tokens = tokens.dropFirst()
        }
        switch tokens.first {
        case .string(let text) where sign.isEmpty && tokens.dropFirst().first != .open:
            return "'" + text.replacingOccurrences(of: "'", with: "''") + "'"
        case .name(let text) where sign.isEmpty && tokens.dropFirst().first != .open:
            // SQLite reads text in double quotes as a string where a name is not possible.
            return "'" + text.replacingOccurrences(of: "'", with: "''") + "'"
        case .word(let text) where text.uppercased() == "X":
            guard sign.isEmpty, case .string(let digits)? = tokens.dropFirst().first,
                digits.utf8.count.isMultiple(of: 2),
                digits.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit })
            else { return nil }
            return "x'\(digits)'"
        case .word(var text):
            if ["NULL", "TRUE", "FALSE"].contains(text.uppercased()) { return sign.isEmpty ? text.uppercased() : nil }
            if let number = Int64(text) { return "\(sign)\(number)" }
            // The tokenizer ends a word at an exponent's sign.
            let rest = Array(tokens.dropFirst().prefix(2))
            if text.last?.lowercased() == "e", rest.count == 2, case .symbol(let symbol) = rest[0],
                case .word(let digits) = rest[1]
            {
                text += String(decoding: [symbol], as: UTF8.self) + digits
            }
            guard text.utf8.first.map({ $0 < UInt8(ascii: ":") }) == true, let number = Double(text), number.isFinite
            else { return nil }
            return "\(sign)\(number)"
        default: return nil
        }
    }

    private mutating func readKeys(_ part: ArraySlice<SQLToken>) {
        var index = part.startIndex
        while index < part.endIndex {
            // After the last list, only conflict clauses and foreign key actions can follow.
            guard let start = part[index...].firstIndex(of: .open), let end = Self.end(part, from: start) else { break }
            let names = Self.parts(part[(start + 1)..<end]).compactMap { $0.first?.identifier }
            // A name may precede the list: CONSTRAINT name PRIMARY KEY (…).
            let kind = part[index..<start].compactMap(\.keyword).last { ["KEY", "UNIQUE"].contains($0) }
            let isForeign = part[index..<start].contains { $0.keyword == "FOREIGN" || $0.keyword == "REFERENCES" }
            if isForeign {
                isReduced = true
            } else if kind == "KEY" {
                primaryKey = names
                if part[start..<end].contains(where: { $0.keyword == "AUTOINCREMENT" }) { isAutoincrement = true }
            } else if kind == "UNIQUE" {
                uniqueKeys.append(names)
            } else {
                isReduced = true
            }
            index = end + 1
        }
    }
}

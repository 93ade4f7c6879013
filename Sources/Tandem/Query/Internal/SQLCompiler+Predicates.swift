// Predicates as SQL conditions. A condition may be NULL where the predicate is false: AND, OR and WHERE treat both
// alike, and NOT is compiled so that it does too.

extension SQLCompiler {
    /// Returns a predicate, in parentheses if an adjacent operator could bind tighter.
    mutating func operand(_ node: PredicateNode, in scope: Scope) -> SQL {
        let sql = predicate(node, in: scope)
        return switch node {
        case .any(let nodes) where nodes.count > 1: "(\(sql))"
        case .all(let nodes) where nodes.count > 1: "(\(sql))"
        default: sql
        }
    }

    mutating func predicate(_ node: PredicateNode, in scope: Scope) -> SQL {
        switch node {
        case .constant(let value): return value ? "1" : "0"
        case .not(.isTrue(let path)) where path.isStateFlag: return "\(column(path, in: scope)) = 0"
        case .not(let node): return "(\(predicate(node, in: scope))) IS NOT TRUE"
        case .all(let nodes):
            return nodes.isEmpty ? "1" : nodes.map { operand($0, in: scope) }.balanced("AND")
        case .any(let nodes):
            return nodes.isEmpty ? "0" : nodes.map { alternative($0, in: scope) }.balanced("OR")
        case .isTrue(let path): return "\(column(path, in: scope)) = 1"
        case .comparison(let path, let comparison, .value(let value)):
            return compare(path, by: comparison, to: value, in: scope)
        case .comparison(let path, let comparison, .column(let other)):
            return compare(path, by: comparison, to: other, in: scope)
        case .among(let path, let values): return among(path, values: values, in: scope)
        case .identical(let path, let value): return "\(column(path, in: scope)) IS \(bind: value)"
        case .ordered(let path, let comparison, let value):
            return "\(column(path, in: scope)) \(raw: comparison.sql) \(bind: value)"
        case .text(let path, let test, let text): return passes(path, test: test, text: text, in: scope)
        case .inKeyRanges(let path, let ranges): return isInRanges(path, ranges: ranges, in: scope)
        case .isFolded(let path, let test):
            return "\(raw: SQLFunctions.folded)(\(bind: .blob(test.argument)), \(column(path, in: scope)))"
        case .hasFirstLetter(let path, let collation, let letter):
            return """
                \(raw: SQLFunctions.firstLetter)(\(bind: .text(collation.argument)), \(column(path, in: scope))) \
                = \(bind: .text(letter))
                """
        case .matches(let path, let needle): return matches(path, needle: needle, in: scope)
        case .quantified(let link, let quantifier, let node):
            return quantified(link, quantifier: quantifier, node: node, in: scope)
        case .linkCount(let link, let comparison, let count):
            return linkCount(link, comparison: comparison, count: count, in: scope)
        case .linkContains(let link, let localID): return linkContains(link, localID: localID, in: scope)
        case .elementCount(let path, let comparison, let count):
            return """
                json_array_length(\(column(path, in: scope))) \(raw: comparison.sql) \(bind: .integer(Int64(count)))
                """
        case .elementsContain(let path, let json):
            return "\(raw: SQLFunctions.elementsContain)(\(bind: .text(json)), \(column(path, in: scope)))"
        }
    }

    /// Returns an operand of `||`.
    ///
    /// The index of a unique property contains only objects that are not deleted. SQLite uses it for an operand of OR
    /// only if that operand itself contains this condition.
    private mutating func alternative(_ node: PredicateNode, in scope: Scope) -> SQL {
        let sql = operand(node, in: scope)
        guard scope.alias == liveAlias, node.comparesUniqueProperty else { return sql }
        return "(\(sql) AND \(alias: scope.alias).\"deleted\" = 0)"
    }

    // MARK: Comparisons

    private mutating func compare(
        _ path: ColumnPath, by comparison: Comparison, to value: StorageValue, in scope: Scope
    ) -> SQL {
        let column = self.column(path, in: scope)
        if case .null = value {
            return switch comparison {
            case .equal: "\(column) IS NULL"
            case .notEqual: "\(column) IS NOT NULL"
            default: "0"
            }
        }
        let isNaN = path.isNaN(value)
        switch comparison {
        case .equal:
            // With a bound value, SQLite can't know that a partial index covers the rows.
            if path.isStateFlag, case .integer(let flag) = value { return "\(column) = \(raw: String(flag))" }
            return isNaN && path.isFloating ? "0" : "\(column) = \(bind: value)"
        case .notEqual:
            if isNaN && path.isFloating { return "1" }
            return path.isNullable ? "\(column) IS NOT \(bind: value)" : "\(column) <> \(bind: value)"
        case .less, .lessOrEqual:
            return isNaN ? "0" : "\(column) \(raw: comparison.sql) \(bind: value)"
        case .greater, .greaterOrEqual:
            if isNaN { return "0" }
            let condition: SQL = "\(column) \(raw: comparison.sql) \(bind: value)"
            guard let nan = path.firstNaNLiteral else { return condition }
            return "(\(condition) AND \(column) < \(raw: nan))"
        }
    }

    private mutating func compare(
        _ path: ColumnPath, by comparison: Comparison, to other: ColumnPath, in scope: Scope
    ) -> SQL {
        let left = column(path, in: scope)
        let right = column(other, in: scope)
        let isNullable = path.isNullable || other.isNullable
        switch comparison {
        case .equal:
            let condition: SQL = isNullable ? "\(left) IS \(right)" : "\(left) = \(right)"
            return path.isFloating ? "(\(condition) AND typeof(\(left)) <> 'blob')" : condition
        case .notEqual:
            let condition: SQL = isNullable ? "\(left) IS NOT \(right)" : "\(left) <> \(right)"
            return path.isFloating ? "(\(condition) OR typeof(\(left)) = 'blob')" : condition
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            let condition: SQL = "\(left) \(raw: comparison.sql) \(right)"
            guard let nan = path.firstNaNLiteral else { return condition }
            let greater = comparison == .less || comparison == .lessOrEqual ? right : left
            return "(\(condition) AND \(greater) < \(raw: nan))"
        }
    }

    /// Longer lists are bound as a single value: SQLite binds at most 32,766 values.
    private static let longList = 100

    private mutating func among(_ path: ColumnPath, values: [StorageValue], in scope: Scope) -> SQL {
        let column = self.column(path, in: scope)
        var hasNull = false
        let values = values.filter { value in
            if case .null = value {
                hasNull = true
                return false
            }
            return !(path.isFloating && path.isNaN(value))
        }
        let condition: SQL
        switch values.count {
        case 0: return hasNull ? "\(column) IS NULL" : "0"
        case ...Self.longList:
            let list = values.map { SQL("?", values: [$0]) }.joined(", ")
            condition = "\(column) IN (\(list))"
        default: condition = "\(column) IN (\(Self.elements(of: values)))"
        }
        return hasNull ? "(\(condition) OR \(column) IS NULL)" : condition
    }

    /// Returns a query for the values of a list, in a column `value`. The list is bound as a single value.
    private static func elements(of values: [StorageValue]) -> SQL {
        if let list = json(of: values) { return "SELECT \"value\" FROM json_each(\(bind: .text(list)))" }
        return """
            WITH RECURSIVE "list"("i") AS (SELECT 0 UNION ALL SELECT "i" + 1 FROM "list" \
            WHERE "i" < \(bind: .integer(Int64(values.count - 1)))) \
            SELECT \(raw: SQLFunctions.listElement)(\(bind: .blob(PackedList.pack(values))), "i") AS "value" FROM "list"
            """
    }

    /// Returns a list of texts as a JSON array. Returns `nil` if a value is not a text, or contains U+0000, at which
    /// SQLite ends a text of JSON. SQLite reads such an array in half the time of a ``PackedList``. Most long lists
    /// contain IDs.
    private static func json(of values: [StorageValue]) -> String? {
        var texts: [String] = []
        for value in values {
            guard case .text(let text) = value, !text.utf8.contains(0) else { return nil }
            texts.append(text)
        }
        return ExactJSON.array(of: texts)
    }

    // MARK: Texts

    private mutating func passes(_ path: ColumnPath, test: TextTest, text: String, in scope: Scope) -> SQL {
        let column = self.column(path, in: scope)
        switch test {
        case .prefix: return text.isEmpty ? "\(column) IS NOT NULL" : prefix(column, prefix: text)
        case .suffix:
            if text.isEmpty { return "\(column) IS NOT NULL" }
            let bytes = Array(text.utf8)
            return "substr(CAST(\(column) AS BLOB), \(raw: "-\(bytes.count)")) = \(bind: .blob(bytes))"
        case .contains: return "instr(\(column), \(bind: .text(text))) > 0"
        case .like:
            let like: SQL = "\(raw: SQLFunctions.like)(\(bind: .text(text)), \(column))"
            let literal = WildcardPattern(text).literalPrefix
            return literal.isEmpty ? like : "(\(prefix(column, prefix: literal)) AND \(like))"
        }
    }

    /// Returns a range of texts, which can use an index. Its end is bound as bytes, because it need not be valid UTF-8.
    private func prefix(_ column: SQL, prefix: String) -> SQL {
        let lower: SQL = "\(column) >= \(bind: .text(prefix))"
        guard let end = ScalarText.prefixUpperBound(prefix) else { return lower }
        return "(\(lower) AND \(column) < CAST(\(bind: .blob(end)) AS TEXT))"
    }

    // MARK: Sort keys

    /// Returns a condition that a sort key is in one of some ranges, which an index finds.
    private mutating func isInRanges(_ path: ColumnPath, ranges: [KeyRange], in scope: Scope) -> SQL {
        guard ranges.count <= Self.longList else { return isInList(path, ranges: ranges, in: scope) }
        let column = self.column(path, in: scope)
        let conditions = ranges.map { range -> SQL in
            let lower: SQL = "\(column) >= \(bind: .blob(range.lower))"
            guard let upper = range.upper else { return lower }
            return "(\(lower) AND \(column) < \(bind: .blob(upper)))"
        }
        switch conditions.count {
        case 0: return "0"
        case 1: return conditions[0]
        default: return "(\(conditions.balanced("OR")))"
        }
    }

    /// Finds the rows of each range of a long list by the index.
    ///
    /// Then finds the objects that refer to these rows.
    private mutating func isInList(_ path: ColumnPath, ranges: [KeyRange], in scope: Scope) -> SQL {
        let lowers = PackedList.pack(ranges.map { .blob($0.lower) })
        let uppers = PackedList.pack(ranges.map { .blob($0.upper ?? [0xFF, 0xFF]) })
        let elements: SQL = """
            WITH RECURSIVE "list"("i") AS (SELECT 0 UNION ALL SELECT "i" + 1 FROM "list" \
            WHERE "i" < \(bind: .integer(Int64(ranges.count - 1)))) \
            SELECT \(raw: SQLFunctions.listElement)(\(bind: .blob(lowers)), "i") AS "lower", \
            \(raw: SQLFunctions.listElement)(\(bind: .blob(uppers)), "i") AS "upper" FROM "list"
            """
        let rows: SQL = """
            SELECT "keyed"."__rid" FROM (\(elements)) AS "range" \
            CROSS JOIN \(name: path.model.table) AS "keyed" \
            ON "keyed".\(name: path.name) >= "range"."lower" AND "keyed".\(name: path.name) < "range"."upper"
            """
        return among(rows: rows, steps: path.steps, in: scope)
    }

    // MARK: Search

    /// The minimum number of scalars for the trigram index.
    private static let trigram = 3
    /// The maximum number of a needle's words that the trigram index looks up. The other words are searched in its
    /// results.
    private static let indexedWords = 16

    /// Returns whether the trigram index can find a word. GLOB ends its pattern at U+0000.
    private static func isIndexed(_ word: String) -> Bool {
        word.unicodeScalars.count >= trigram && !word.utf8.contains(0)
    }

    /// Returns whether the trigram index can find a word of a needle.
    static func usesIndex(_ needle: SearchNeedle) -> Bool {
        needle.words.contains(where: isIndexed)
    }

    private mutating func matches(_ path: ColumnPath, needle: SearchNeedle, in scope: Scope) -> SQL {
        guard !needle.words.isEmpty, let twin = path.definition?.searchColumn, let index = path.model.searchTable
        else { return "0" }
        var conditions: [SQL] = []
        let long = usesSearchIndexes ? needle.words.filter(Self.isIndexed).prefix(Self.indexedWords) : []
        if !long.isEmpty {
            searches = true
            let globs = long.map { word in "\(name: twin) GLOB \(bind: .text(Self.glob(word)))" as SQL }
            let rows: SQL = "SELECT \"rowid\" FROM \(name: index) WHERE \(globs.joined(" AND "))"
            conditions.append(among(rows: rows, steps: path.steps, in: scope))
        }
        var seen = Set(long)
        let others = needle.words.filter { seen.insert($0).inserted }
        let text: SQL = others.isEmpty ? "" : "\(alias: alias(path.steps, in: scope)).\(name: twin)"
        if others.count > Self.longList {
            let words = Self.elements(of: others.map { .text($0) })
            conditions.append(
                """
                (\(text) IS NOT NULL AND NOT EXISTS \
                (SELECT 1 FROM (\(words)) AS "word" WHERE instr(\(text), "word"."value") = 0))
                """)
        } else {
            conditions += others.map { "instr(\(text), \(bind: .text($0))) > 0" }
        }
        return conditions.count == 1 ? conditions[0] : "(\(conditions.balanced("AND")))"
    }

    /// Returns a condition that references lead to some rows.
    ///
    /// It is nested from the rows outwards, so that SQLite can evaluate it in that direction. An index then finds the
    /// few objects that refer to the rows. A join would begin with all objects that refer to any row.
    private func among(rows: SQL, steps: [ReferenceStep], in scope: Scope) -> SQL {
        var condition: SQL = "\"__rid\" IN (\(rows))"
        for step in steps.reversed() {
            condition = """
                \(name: step.column) IN (SELECT "localID" FROM \(name: step.target) \
                WHERE \(condition) AND "deleted" = 0)
                """
        }
        return "\(alias: scope.alias).\(condition)"
    }

    /// Returns a GLOB pattern that matches a word anywhere. Folding leaves no special characters of GLOB; any that
    /// remain are escaped.
    private static func glob(_ word: String) -> String {
        var pattern = "*"
        for scalar in word.unicodeScalars {
            switch scalar {
            case "*", "?", "[": pattern += "[\(scalar)]"
            default: pattern.unicodeScalars.append(scalar)
            }
        }
        return pattern + "*"
    }
}

extension ColumnPath {
    /// Whether it is a column of the object's own state that is 0 or 1.
    fileprivate var isStateFlag: Bool {
        guard steps.isEmpty, case .state(let name, _, _) = column else { return false }
        return name == "synced" || name == "deleted"
    }

    /// Returns whether a value for this column is the encoding of a NaN.
    fileprivate func isNaN(_ value: StorageValue) -> Bool {
        guard let firstNaN, case .blob(let bytes) = value else { return false }
        return isFloating || .blob(bytes) == firstNaN
    }

    /// ``firstNaN`` as a literal, so that a plan does not depend on a bound value.
    fileprivate var firstNaNLiteral: String? {
        guard let firstNaN, case .blob(let bytes) = firstNaN else { return nil }
        return bytes.isEmpty ? "X''" : "X'FF'"
    }
}

extension ModelDefinition {
    var hasUniqueIndex: Bool { properties.contains(where: \.hasUniqueColumn) || indexes.contains(where: \.isUnique) }
}

extension ColumnPath {
    /// Whether it is a property of the query's own model that begins a unique index.
    fileprivate var beginsUniqueIndex: Bool {
        guard steps.isEmpty, let property = definition else { return false }
        return property.hasUniqueColumn
            || model.indexes.contains { $0.isUnique && $0.properties.first == property.name }
    }
}

extension SortTerm {
    /// Whether the index of a unique property provides the order. The sort must use the property's own column.
    var isOfUniqueProperty: Bool {
        guard case .column(let path, _, _) = self, path.definition?.folding == PropertyDefinition.Folding.none else {
            return false
        }
        return path.beginsUniqueIndex
    }
}

extension PredicateNode {
    /// Whether it compares a property of the query's own model that begins a unique index.
    var comparesUniqueProperty: Bool {
        switch self {
        case .comparison(let path, _, .value), .among(let path, _), .identical(let path, _), .isTrue(let path),
            .ordered(let path, _, _), .text(let path, .prefix, _), .text(let path, .like, _):
            return path.beginsUniqueIndex
        case .all(let nodes), .any(let nodes): return nodes.contains(where: \.comparesUniqueProperty)
        default: return false
        }
    }
}

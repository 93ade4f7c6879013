/// A compiler that writes the SQL of a query. It quotes names and binds values, and never pastes them.
///
/// Each table has an alias, `t0`, `t1` and so on. Each reference from a table is joined once, however many columns the
/// query uses through it.
struct SQLCompiler {
    /// A table whose columns are named, and the tables joined to it.
    final class Scope {
        let alias: String
        let table: String
        fileprivate var joins: [(path: [ReferenceStep], alias: String)] = []

        init(alias: String, table: String) {
            self.alias = alias
            self.table = table
        }
    }

    /// The alias of a query's own table.
    static let firstAlias = "t0"

    private var aliasCount = 0
    /// The models that the query reads.
    private(set) var models: [ModelDefinition] = []
    /// Whether the query uses a search index, which must then be consistent with its rows.
    var searches = false
    /// Whether to use search indexes. For a single row, a search in its text is cheaper.
    var usesSearchIndexes = true
    /// The alias whose rows the current conditions restrict to objects that are not deleted.
    private(set) var liveAlias: String?

    mutating func makeAlias() -> String {
        defer { aliasCount += 1 }
        return "t\(aliasCount)"
    }

    mutating func makeScope(_ model: ModelDefinition) -> Scope {
        models.append(model)
        return Scope(alias: makeAlias(), table: model.table)
    }

    // MARK: Tables and columns

    /// Returns the alias of the table that references lead to.
    mutating func alias(_ steps: [ReferenceStep], in scope: Scope) -> String {
        guard !steps.isEmpty else { return scope.alias }
        if let join = scope.joins.first(where: { $0.path == steps }) { return join.alias }
        _ = alias(Array(steps.dropLast()), in: scope)
        let alias = makeAlias()
        scope.joins.append((steps, alias))
        return alias
    }

    mutating func column(_ path: ColumnPath, in scope: Scope) -> SQL {
        let column = storedColumn(path, in: scope)
        guard let collation = path.letters else { return column }
        return "\(raw: SQLFunctions.firstLetter)(\(bind: .text(collation.argument)), \(column))"
    }

    /// Returns the column in the table. For a first letter, it is that of the text.
    mutating func storedColumn(_ path: ColumnPath, in scope: Scope) -> SQL {
        "\(alias: alias(path.steps, in: scope)).\(name: path.name)"
    }

    /// Returns the tables of a scope. Call it after all columns of the scope were compiled.
    func tables(_ scope: Scope) -> SQL {
        var sql: SQL = "\(name: scope.table) AS \(alias: scope.alias)"
        for (path, alias) in scope.joins {
            let step = path[path.count - 1]
            let holder =
                path.count == 1
                ? scope.alias : scope.joins.first { $0.path == Array(path.dropLast()) }?.alias ?? scope.alias
            sql += """
                 LEFT JOIN \(name: step.target) AS \(alias: alias) ON \(alias: alias)."localID" \
                = \(alias: holder).\(name: step.column) AND \(alias: alias)."deleted" = 0
                """
        }
        return sql
    }

    /// Returns all columns of a model, in the order of ``RowDecoder``.
    func objectColumns(_ model: ModelDefinition, alias: String) -> SQL {
        SQL(
            (RowDecoder.stateColumns + model.properties.map(\.column))
                .map { "\(alias).\($0.quotedSQL)" }.joined(separator: ", "))
    }

    // MARK: Statements

    /// Returns a SELECT of a query.
    ///
    /// - Parameters:
    ///   - ordered: Whether the order matters. If a limit selects objects, the order is always compiled.
    ///   - grouping: Compiles GROUP BY and ORDER BY, which replace the query's own order.
    ///   - also: Compiles another condition, which comes last.
    ///   - columns: Compiles the selected columns.
    mutating func select(
        _ query: QueryDescription, ordered: Bool = true, grouping: ((inout SQLCompiler, Scope) -> SQL)? = nil,
        also: ((Scope) -> SQL)? = nil, columns: (inout SQLCompiler, Scope) -> SQL
    ) -> SQL {
        let scope = makeScope(query.model)
        let selected = columns(&self, scope)
        var conditions = self.conditions(query, in: scope)
        if let also { conditions.append(also(scope)) }
        var tail = SQL("")
        if let grouping {
            tail += grouping(&self, scope)
        } else if ordered || query.limit != nil || query.offset > 0 {
            tail += " ORDER BY \(order(query.order, in: scope))"
        }
        if query.limit != nil || query.offset > 0 {
            tail += " LIMIT \(bind: .integer(Int64(query.limit ?? -1)))"
            if query.offset > 0 { tail += " OFFSET \(bind: .integer(Int64(query.offset)))" }
        }
        var sql: SQL = "SELECT \(selected) FROM \(tables(scope))"
        if !conditions.isEmpty { sql += " WHERE \(conditions.balanced("AND"))" }
        return "\(sql)\(tail)"
    }

    private mutating func conditions(_ query: QueryDescription, in scope: Scope) -> [SQL] {
        guard !query.distinct.isEmpty else { return filters(query, in: scope) }
        // The first row of each value, by the query's order. The outer query finds the selected objects by their rows.
        let inner = makeScope(query.model)
        let columns = query.distinct.map { column($0, in: inner) }.joined(", ")
        let order = self.order(query.order, in: inner)
        let filters = self.filters(query, in: inner)
        var rows: SQL = """
            SELECT \(alias: inner.alias)."__rid" AS "row", \
            ROW_NUMBER() OVER (PARTITION BY \(columns) ORDER BY \(order)) AS "number" FROM \(tables(inner))
            """
        if !filters.isEmpty { rows += " WHERE \(filters.balanced("AND"))" }
        return ["\(alias: scope.alias).\"__rid\" IN (SELECT \"row\" FROM (\(rows)) WHERE \"number\" = 1)"]
    }

    private mutating func filters(_ query: QueryDescription, in scope: Scope) -> [SQL] {
        var result: [SQL] = []
        switch query.life {
        case .live:
            // SQLite estimates that the partial index of a unique property covers half of the table. It would use that
            // index instead of the index that provides the order. The plus prevents this.
            let usesUniqueIndex =
                query.filters.contains(where: \.comparesUniqueProperty)
                || query.order.first?.isOfUniqueProperty ?? false
            let plus = query.model.hasUniqueIndex && !usesUniqueIndex ? "+" : ""
            result.append("\(raw: plus)\(alias: scope.alias).\"deleted\" = 0")
        case .deleted: result.append("\(alias: scope.alias).\"deleted\" = 1")
        case .any: break
        }
        if let base = query.base?.query {
            let rows = select(base, ordered: false) { _, inner in "\(alias: inner.alias).\"__rid\"" }
            result.append("\(alias: scope.alias).\"__rid\" IN (\(rows))")
        }
        liveAlias = query.life == .live ? scope.alias : nil
        defer { liveAlias = nil }
        for filter in query.filters {
            switch filter {
            case .all(let nodes): result += nodes.map { operand($0, in: scope) }
            default: result.append(operand(filter, in: scope))
            }
        }
        return result
    }

    // MARK: Order

    mutating func order(_ keys: [SortTerm], in scope: Scope) -> SQL {
        var terms: [SQL] = []
        for key in keys { terms += self.terms(key, in: scope) }
        // The local ID breaks all ties, unless a key already does.
        let isTotal = keys.contains { if case .column(let path, _, _) = $0 { path.isLocalID } else { false } }
        if !isTotal { terms.append("\(alias: scope.alias).\"localID\"") }
        return terms.joined(", ")
    }

    private mutating func terms(_ key: SortTerm, in scope: Scope) -> [SQL] {
        switch key {
        case .matchingFirst(let node):
            return ["(\(predicate(node, in: scope))) IS TRUE DESC"]
        case .column(let path, let ascending, let nilsFirst):
            var nils = ""
            if path.isNullable, nilsFirst != ascending { nils = nilsFirst ? " NULLS FIRST" : " NULLS LAST" }
            let direction = ascending ? "" : " DESC"
            return ["\(orderColumn(path, in: scope))\(raw: direction)\(raw: nils)"]
        }
    }

    /// Returns the column that provides the order of a column: for a folded text, that of its sort key. A first letter
    /// is ordered by its own sort key.
    ///
    /// Only canonically equivalent texts have the same sort key.
    mutating func orderColumn(_ path: ColumnPath, in scope: Scope) -> SQL {
        let column = storedColumn(path, in: scope)
        if let collation = path.letters {
            return "\(raw: SQLFunctions.firstLetterKey)(\(bind: .text(collation.argument)), \(column))"
        }
        guard let twin = path.definition?.sortColumn else { return column }
        return "\(alias: alias(path.steps, in: scope)).\(name: twin)"
    }

    /// Returns the columns that provide the order of a column without ties between different values.
    mutating func exactOrderColumns(_ path: ColumnPath, in scope: Scope) -> [SQL] {
        let column = orderColumn(path, in: scope)
        return path.definition?.sortColumn == nil ? [column] : [column, storedColumn(path, in: scope)]
    }
}

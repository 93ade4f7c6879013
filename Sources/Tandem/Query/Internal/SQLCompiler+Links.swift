// Lists of references and inverse links, as subqueries.

extension SQLCompiler {
    mutating func quantified(
        _ link: LinkPath, quantifier: Quantifier, node: PredicateNode, in scope: Scope
    ) -> SQL {
        // `all` holds if there is no object for which the predicate does not hold.
        let node = quantifier == .all ? .not(node) : node
        let rows = self.rows(link, node: node, in: scope) { _ in "1" }
        return "\(raw: quantifier == .any ? "" : "NOT ")EXISTS (\(rows))"
    }

    mutating func linkCount(_ link: LinkPath, comparison: Comparison, count: Int, in scope: Scope) -> SQL {
        var isInverseOfList = false
        if case .inverse(let source, let property) = link.kind {
            isInverseOfList = source.properties[property].isToMany
        }
        // An object whose list names this object twice counts once.
        let rows = self.rows(link, node: .constant(true), in: scope) { alias in
            isInverseOfList ? "COUNT(DISTINCT \(alias: alias).\"__rid\")" : "COUNT(*)"
        }
        return "(\(rows)) \(raw: comparison.sql) \(bind: .integer(Int64(count)))"
    }

    mutating func linkContains(_ link: LinkPath, localID: LocalID, in scope: Scope) -> SQL {
        let isObject = PredicateNode.comparison(
            ColumnPath(link.model, column: .state("localID", isOptional: false, isFloating: false)), by: .equal,
            to: .value(.text(localID.rawValue)))
        return "EXISTS (\(rows(link, node: isObject, in: scope) { _ in "1" }))"
    }

    /// The share of objects that refer to a given one, for SQLite's planner.
    ///
    /// Without it, SQLite may use the index of another condition. For `$0.stars.any { $0.person == me }` it would then
    /// read all stars of a person for each card. It should read the stars of the card. SQLite assumes a million rows,
    /// ten rows for a value in an index, and one for a unique value. This share gives four, so that a unique value
    /// still wins.
    private static let fewOfAll = "0.000004"

    /// Returns a SELECT of the linked objects for which a predicate holds.
    private mutating func rows(
        _ link: LinkPath, node: PredicateNode, in scope: Scope, columns: (String) -> SQL
    ) -> SQL {
        let holder = self.alias(link.steps, in: scope)
        var listAlias: String?
        if link.listTable != nil { listAlias = makeAlias() }
        let inner = makeScope(link.model)
        let predicate: SQL?
        if case .constant(true) = node { predicate = nil } else { predicate = operand(node, in: inner) }

        var from: SQL
        var conditions: [SQL] = []
        switch link.kind {
        case .list:
            let list = listAlias ?? ""
            from = """
                \(name: link.listTable ?? "") AS \(alias: list) JOIN \(tables(inner))
                """
            conditions.append("\(alias: list).\"object\" = \(alias: holder).\"__rid\"")
            conditions.append("\(alias: inner.alias).\"localID\" = \(alias: list).\"target\"")
        case .inverse(let source, let property):
            if let table = link.listTable, let list = listAlias {
                from = "\(name: table) AS \(alias: list) JOIN \(tables(inner))"
                conditions.append("\(alias: list).\"target\" = \(alias: holder).\"localID\"")
                conditions.append("\(alias: inner.alias).\"__rid\" = \(alias: list).\"object\"")
            } else {
                from = tables(inner)
                let column = source.properties[property].column
                let isLinked: SQL = "\(alias: inner.alias).\(name: column) = \(alias: holder).\"localID\""
                conditions.append("likelihood(\(isLinked), \(raw: Self.fewOfAll))")
            }
        }
        conditions.append("\(alias: inner.alias).\"deleted\" = 0")
        if let predicate { conditions.append(predicate) }
        return "SELECT \(columns(inner.alias)) FROM \(from) WHERE \(conditions.joined(" AND "))"
    }
}

extension LinkPath {
    /// The table with the links, or `nil` if a reference's own column has them.
    fileprivate var listTable: String? {
        switch kind {
        case .list(let holder, let property, _): holder.linkTable(holder.properties[property])
        case .inverse(let source, let property):
            source.properties[property].isToMany ? source.linkTable(source.properties[property]) : nil
        }
    }
}

/// The tables and columns that a query uses.
extension QueryDescription {
    /// The columns that the query uses, without those of links and of its base query.
    var columnPaths: [ColumnPath] {
        var paths = distinct
        for key in order {
            switch key {
            case .column(let path, _, _): paths.append(path)
            case .matchingFirst(let node): node.visit { paths += $0.columnPaths }
            }
        }
        for filter in filters { filter.visit { paths += $0.columnPaths } }
        return paths
    }

    /// The references that the query follows. Each path to a table occurs once, shorter paths first.
    var steps: [[ReferenceStep]] {
        var found: Set<[ReferenceStep]> = []
        for path in columnPaths where !path.steps.isEmpty {
            for length in 1...path.steps.count { found.insert(Array(path.steps.prefix(length))) }
        }
        return found.sorted { ($0.count, "\($0)") < ($1.count, "\($1)") }
    }

    /// Returns the columns that the query uses in the table at the end of some references, including references that
    /// lead on.
    func columns(through steps: [ReferenceStep]) -> [String] {
        columnPaths.compactMap { path in
            if path.steps == steps { return path.sourceName }
            guard path.steps.count > steps.count, path.steps.starts(with: steps) else { return nil }
            return path.steps[steps.count].column
        }
    }

    /// Whether the query uses lists of references or inverse links.
    var followsLinks: Bool {
        var follows = false
        func look(_ node: PredicateNode) {
            node.visit { if $0.link != nil { follows = true } }
        }
        filters.forEach(look)
        for case .matchingFirst(let node) in order { look(node) }
        return follows
    }

    /// The names of all tables that the query's result depends on.
    var tables: Set<String> {
        var tables: Set<String> = [model.table]
        func add(_ steps: [ReferenceStep]) { tables.formUnion(steps.flatMap { [$0.table, $0.target] }) }
        func look(_ node: PredicateNode) {
            node.visit { node in
                for path in node.columnPaths { add(path.steps) }
                guard let link = node.link else { return }
                add(link.steps)
                tables.insert(link.model.table)
                if case .list(let holder, _, _) = link.kind { tables.insert(holder.table) }
            }
        }
        filters.forEach(look)
        for path in distinct { add(path.steps) }
        for key in order {
            switch key {
            case .column(let path, _, _): add(path.steps)
            case .matchingFirst(let node): look(node)
            }
        }
        if let base { tables.formUnion(base.query.tables) }
        return tables
    }
}

extension PredicateNode {
    /// Calls a function with this predicate and all nested ones, including those on linked objects.
    func visit(_ body: (PredicateNode) -> Void) {
        body(self)
        switch self {
        case .not(let node), .quantified(_, _, let node): node.visit(body)
        case .all(let nodes), .any(let nodes): for node in nodes { node.visit(body) }
        default: break
        }
    }

    /// The columns that this predicate itself uses.
    fileprivate var columnPaths: [ColumnPath] {
        switch self {
        case .isTrue(let path), .comparison(let path, _, .value), .among(let path, _), .identical(let path, _),
            .ordered(let path, _, _),
            .text(let path, _, _), .matches(let path, _), .elementCount(let path, _, _), .elementsContain(let path, _):
            [path]
        case .comparison(let path, _, .column(let other)): [path, other]
        default: []
        }
    }

    fileprivate var link: LinkPath? {
        switch self {
        case .quantified(let link, _, _), .linkCount(let link, _, _), .linkContains(let link, _): link
        default: nil
        }
    }
}

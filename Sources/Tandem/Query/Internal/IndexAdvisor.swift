/// Says which index would help a query, from its plan and from what it asks.
struct IndexAdvisor {
    private let query: QueryDescription
    /// Properties of the model itself that must equal a value, then those that must lie in a range.
    private var equal: [PropertyDefinition] = []
    private var ranged: [PropertyDefinition] = []
    private var searched: [PropertyDefinition] = []

    init(_ query: QueryDescription) {
        var query = query
        while let base = query.base?.query { query = base }
        self.query = query
        for filter in query.filters { collect(filter) }
    }

    private mutating func collect(_ node: PredicateNode) {
        func property(_ path: ColumnPath) -> PropertyDefinition? { path.steps.isEmpty ? path.definition : nil }
        func add(_ path: ColumnPath, to list: inout [PropertyDefinition]) {
            guard let property = property(path), !list.contains(where: { $0.name == property.name }) else { return }
            list.append(property)
        }
        switch node {
        case .all(let nodes): for node in nodes { collect(node) }
        case .comparison(let path, .equal, .value), .among(let path, _), .isTrue(let path), .identical(let path, _):
            add(path, to: &equal)
        case .comparison(let path, let comparison, .value) where comparison != .notEqual: add(path, to: &ranged)
        case .text(let path, .prefix, _): add(path, to: &ranged)
        case .text(let path, .like, let pattern) where !WildcardPattern(pattern).literalPrefix.isEmpty:
            add(path, to: &ranged)
        case .text(let path, .contains, _): add(path, to: &searched)
        default: break
        }
    }

    func suggestions(for plan: [String]) -> [String] {
        let steps = plan.map { String($0.drop { $0 == " " }) }
        let scans = steps.contains { $0 == "SCAN t0" || $0.hasPrefix("SCAN t0 USING INDEX sqlite_autoindex_") }
        // What another index has found by its row, as a search does, no index can sort.
        let sorts =
            steps.contains("USE TEMP B-TREE FOR ORDER BY")
            && !steps.contains { $0.hasPrefix("SEARCH t0 USING INTEGER PRIMARY KEY") }
        var result: [String] = []
        if scans, let index = index(equal + ranged.prefix(1)) {
            result.append("All objects of \(query.model.name) are read. \(index)")
        } else if scans, let property = searched.first {
            let use = property.folding == .searched ? "Ask" : "Mark it with @Folded, and ask"
            result.append(
                """
                All objects of \(query.model.name) are read, as no index finds a part of a text. \(use) \
                \(property.name).matches, if case and accents need not count.
                """)
        }
        if sorts, result.isEmpty, let index = index(equal + sortProperties) {
            result.append("The objects found are sorted one by one. \(index)")
        }
        return result
    }

    private var sortProperties: [PropertyDefinition] {
        var properties: [PropertyDefinition] = []
        for key in query.order {
            guard case .column(let path, _, _) = key, path.steps.isEmpty, let property = path.definition else {
                return properties
            }
            properties.append(property)
        }
        return properties
    }

    private func index(_ properties: [PropertyDefinition]) -> String? {
        var names: [String] = []
        for property in properties where !names.contains(property.name) { names.append(property.name) }
        guard let first = properties.first, !names.isEmpty else { return nil }
        if names.count == 1 {
            // An index that is there already, and was not used, is no advice.
            guard !first.isIndexed, !first.isUnique, !query.model.indexes.contains(where: { $0.properties == names })
            else { return nil }
            return "Mark its property \(first.name) with @Indexed."
        }
        guard !query.model.indexes.contains(where: { $0.properties == names }) else { return nil }
        let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
        return "Mark the model with @Model(indexes: [.index(\(list))])."
    }
}

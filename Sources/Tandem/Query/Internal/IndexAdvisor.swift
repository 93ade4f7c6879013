/// An advisor that suggests an index for a query, from its plan and its conditions.
struct IndexAdvisor {
    private let query: QueryDescription
    /// Properties of the model itself that must equal a value.
    private var equal: [PropertyDefinition] = []
    /// Properties of the model itself that must be in a range.
    private var ranged: [RangedProperty] = []
    private var searched: [PropertyDefinition] = []
    /// For each `||`, the properties without an index because of which SQLite reads every row.
    private var alternatives: [[PropertyDefinition]] = []

    /// A property, and the bounds of the range of its values.
    ///
    /// SQLite assumes that a range with a single bound leaves many rows. It then prefers an index that provides the
    /// order.
    private struct RangedProperty {
        let property: PropertyDefinition
        var hasLowerEnd = false
        var hasUpperEnd = false

        var isClosed: Bool { hasLowerEnd && hasUpperEnd }
    }

    init(_ query: QueryDescription) {
        var query = query
        while let base = query.base?.query { query = base }
        self.query = query
        for filter in query.filters { collect(filter) }
    }

    private mutating func collect(_ node: PredicateNode) {
        switch node {
        case .all(let nodes): for node in nodes { collect(node) }
        case .any(let nodes):
            if let missing = missingIndexes(of: nodes), !missing.isEmpty { alternatives.append(missing) }
        case .text(let path, .contains, _): if let property = path.ownProperty { searched.appendIfNew(property) }
        default:
            if let property = node.equalPath?.ownProperty {
                equal.appendIfNew(property)
            } else if let property = node.rangePath?.ownProperty {
                add(node, of: property)
            }
        }
    }

    private mutating func add(_ node: PredicateNode, of property: PropertyDefinition) {
        let index =
            ranged.firstIndex { $0.property.name == property.name }
            ?? {
                ranged.append(RangedProperty(property: property))
                return ranged.count - 1
            }()
        ranged[index].hasLowerEnd = ranged[index].hasLowerEnd || node.hasLowerEnd
        ranged[index].hasUpperEnd = ranged[index].hasUpperEnd || node.hasUpperEnd
    }

    // MARK: Alternatives

    /// The way in which SQLite finds the rows for an operand of `||`.
    private enum Access {
        /// An existing index.
        case index
        /// An index that the property does not have yet.
        case missing(PropertyDefinition)
        /// A scan of all rows.
        case scan
    }

    /// Returns the properties that lack an index. Returns `nil` if an operand can't have an index, because SQLite then
    /// reads every row anyway.
    private func missingIndexes(of nodes: [PredicateNode]) -> [PropertyDefinition]? {
        var missing: [PropertyDefinition] = []
        for node in nodes {
            switch access(node) {
            case .index: break
            case .missing(let property): missing.appendIfNew(property)
            case .scan: return nil
            }
        }
        return missing
    }

    private func access(_ node: PredicateNode) -> Access {
        switch node {
        case .constant(false): return .index
        case .matches(_, let needle): return SQLCompiler.usesIndex(needle) ? .index : .scan
        case .all(let nodes):
            var side = IndexAdvisor(query.model)
            var best = Access.scan
            for node in nodes {
                switch (access(node), best) {
                case (.index, _): return .index
                case (.missing(let property), .scan): best = .missing(property)
                default: side.collect(node)
                }
            }
            guard case .scan = best, let range = side.ranged.first(where: \.isClosed) else { return best }
            return access(to: range.property)
        default:
            if let path = node.equalPath, path.steps.isEmpty {
                return path.ownProperty.map(access(to:)) ?? (path.hasIndex ? .index : .scan)
            }
            guard let path = node.rangePath, path.steps.isEmpty, node.hasLowerEnd, node.hasUpperEnd else {
                return .scan
            }
            return path.ownProperty.map(access(to:)) ?? (path.hasIndex ? .index : .scan)
        }
    }

    private init(_ model: ModelDefinition) {
        query = QueryDescription(model)
    }

    private func access(to property: PropertyDefinition) -> Access {
        let isFirst = query.model.indexes.contains { index in
            index.properties.first == property.name && (index.isUnique || property.folding == .none)
        }
        return isFirst || property.isIndexed || property.hasUniqueColumn || property.isToOne
            ? .index : .missing(property)
    }

    // MARK: Suggestions

    func suggestions(for plan: [String]) -> [String] {
        let steps = plan.map { String($0.drop { $0 == " " }) }
        let scans = steps.contains { $0 == "SCAN t0" || $0.hasPrefix("SCAN t0 USING INDEX ") }
        if scans, let advice = scanAdvice { return [advice] }
        // A search returns rows in an order that no index can provide.
        let sorts =
            steps.contains("USE TEMP B-TREE FOR ORDER BY") && !steps.contains("MULTI-INDEX OR")
            && !steps.contains { $0.hasPrefix("SEARCH t0 USING INTEGER PRIMARY KEY") }
        if sorts, scans || !equal.isEmpty, let index = index(orderProperties) {
            return ["The objects found are sorted in memory. \(index)"]
        }
        return []
    }

    private var scanAdvice: String? {
        let all = "All objects of \(query.model.name) are read"
        if let index = index(filterProperties) { return "\(all). \(index)" }
        if let missing = alternatives.first, equal.isEmpty {
            let names = missing.map(\.name).joined(separator: ", ")
            return "\(all). Mark its \(missing.count == 1 ? "property" : "properties") \(names) with @Indexed."
        }
        guard let property = searched.first else { return nil }
        let use = property.folding == .searched ? "Use" : "Mark it with @Folded, and use"
        return """
            \(all), because an index can't search inside a text. \(use) \(property.name).matches if case and accents \
            don't matter.
            """
    }

    /// The properties of an index that finds the objects and, if possible, provides their order.
    private var filterProperties: [PropertyDefinition] {
        let equal = equalProperties
        if let first = equal.first, first.folding != .none { return equal }
        let range = ranged.first { range in
            equal.isEmpty
                ? range.isClosed || range.property.name == sortProperties.first?.name : range.property.folding == .none
        }
        if let range { return equal + [range.property] }
        return equal.isEmpty ? [] : equal + sortProperties
    }

    /// The properties of an index that provides the order of the found objects.
    private var orderProperties: [PropertyDefinition] {
        let equal = equalProperties
        // A folded property has an index over its sort key, which also provides its order.
        guard let first = equal.first ?? sortProperties.first, first.folding == .none else { return [] }
        return equal + sortProperties
    }

    /// The properties that must equal a value and can share an index. If there is no other, a single folded property.
    ///
    /// An index over several properties contains the sort key of a folded property, which an equality does not use.
    private var equalProperties: [PropertyDefinition] {
        let plain = equal.filter { $0.folding == .none }
        return plain.isEmpty ? Array(equal.prefix(1)) : plain
    }

    /// The properties of the order's keys, as far as an index can provide their order.
    private var sortProperties: [PropertyDefinition] {
        var properties: [PropertyDefinition] = []
        var direction: Bool?
        for key in query.order {
            guard case .column(let path, let ascending, let nilsFirst) = key, let property = path.ownProperty,
                direction ?? ascending == ascending, !path.isNullable || nilsFirst == ascending
            else { return properties }
            direction = ascending
            properties.append(property)
        }
        return properties
    }

    private func index(_ properties: [PropertyDefinition]) -> String? {
        var names: [String] = []
        for property in properties where !names.contains(property.name) { names.append(property.name) }
        guard let first = properties.first, !names.isEmpty else { return nil }
        if names.count == 1 {
            // Do not suggest an index that exists but that the plan does not use.
            guard !first.isIndexed, !first.hasUniqueColumn,
                !query.model.indexes.contains(where: { $0.properties == names })
            else { return nil }
            return "Mark its property \(first.name) with @Indexed."
        }
        guard !query.model.indexes.contains(where: { $0.properties == names }) else { return nil }
        let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
        return "Mark the model with @Model(indexes: [.index(\(list))])."
    }
}

extension [PropertyDefinition] {
    fileprivate mutating func appendIfNew(_ property: PropertyDefinition) {
        if !contains(where: { $0.name == property.name }) { append(property) }
    }
}

extension ColumnPath {
    /// The property, if it belongs to the query's own model.
    fileprivate var ownProperty: PropertyDefinition? { steps.isEmpty ? definition : nil }

    /// Whether it is a column other than a property's, and has its own index.
    fileprivate var hasIndex: Bool {
        switch column {
        case .property, .firstLetter: false
        case .folded: true
        case .state(let name, _, _): name == "localID" || name == "serverID" || name == "updatedAt"
        }
    }
}

extension PredicateNode {
    /// The column that must equal a value, or one of several values.
    fileprivate var equalPath: ColumnPath? {
        switch self {
        case .comparison(let path, .equal, .value), .among(let path, _), .isTrue(let path), .identical(let path, _),
            .inKeyRanges(let path, _):
            path
        default: nil
        }
    }

    /// The column that must be in a range.
    fileprivate var rangePath: ColumnPath? { hasLowerEnd || hasUpperEnd ? rangedColumn : nil }

    private var rangedColumn: ColumnPath? {
        switch self {
        case .comparison(let path, _, _), .text(let path, _, _): path
        default: nil
        }
    }

    fileprivate var hasLowerEnd: Bool {
        switch self {
        case .comparison(_, .greater, .value), .comparison(_, .greaterOrEqual, .value): true
        default: isPrefix
        }
    }

    fileprivate var hasUpperEnd: Bool {
        switch self {
        case .comparison(_, .less, .value), .comparison(_, .lessOrEqual, .value): true
        default: isPrefix
        }
    }

    private var isPrefix: Bool {
        switch self {
        case .text(_, .prefix, let text): !text.isEmpty
        case .text(_, .like, let pattern): !WildcardPattern(pattern).literalPrefix.isEmpty
        default: false
        }
    }
}

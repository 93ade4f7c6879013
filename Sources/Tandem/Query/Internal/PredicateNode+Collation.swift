// The comparisons of folded texts as ranges of sort keys. A predicate is written without a store. Its texts become keys
// when a query gets it, by the collation of the query's store.

extension PredicateNode {
    /// Returns this predicate with the sort keys of its folded texts.
    func resolved(by collation: Collation) -> PredicateNode {
        isResolved ? self : resolve(collation)
    }

    /// Whether it compares no folded text.
    private var isResolved: Bool {
        switch self {
        case .not(let node), .quantified(_, _, let node): node.isResolved
        case .all(let nodes), .any(let nodes): nodes.allSatisfy(\.isResolved)
        case .comparison(let path, _, .value), .among(let path, _), .text(let path, _, _): !path.isFolded
        default: true
        }
    }

    private func resolve(_ collation: Collation) -> PredicateNode {
        switch self {
        case .not(let node): return .not(node.resolve(collation))
        case .quantified(let link, let quantifier, let node):
            return .quantified(link, quantifier: quantifier, where: node.resolve(collation))
        case .all(let nodes): return .all(nodes.map { $0.resolve(collation) })
        case .any(let nodes): return .any(nodes.map { $0.resolve(collation) })
        case .comparison(let path, let comparison, .value(.text(let text))) where path.isFolded:
            let isEqual = PredicateNode.equals(path, anyOf: [text], by: collation)
            return comparison == .notEqual ? .not(isEqual) : isEqual
        case .among(let path, let values) where path.isFolded:
            let texts = values.compactMap { value -> String? in
                if case .text(let text) = value { text } else { nil }
            }
            return .equals(path, anyOf: texts, by: collation)
        case .text(let path, .prefix, let prefix) where path.isFolded:
            guard !prefix.isEmpty else { return .not(.identical(path, to: .null)) }
            return .all([
                .inKeyRanges(path, ranges: [collation.range(ofPrefix: prefix)]),
                .isFolded(path.unfolded, test: FoldedTest(.prefix, texts: [prefix], in: collation.language)),
            ])
        default: return self
        }
    }
}

extension PredicateNode {
    /// Returns a predicate that holds if a folded text equals one of some texts. Equal texts have the same letters, so
    /// the ranges let an index find them.
    private static func equals(_ path: ColumnPath, anyOf texts: [String], by collation: Collation) -> PredicateNode {
        guard !texts.isEmpty else { return .constant(false) }
        let ranges = Set(texts.map(collation.range(ofLetters:))).sorted { $0.lower.lexicographicallyPrecedes($1.lower) }
        return .all([
            .inKeyRanges(path, ranges: ranges),
            .isFolded(path.unfolded, test: FoldedTest(.equal, texts: texts, in: collation.language)),
        ])
    }
}

extension SortTerm {
    /// Returns this term with the sort keys of its folded texts.
    func resolved(by collation: Collation) -> SortTerm {
        switch self {
        case .column: self
        case .matchingFirst(let node): .matchingFirst(node.resolved(by: collation))
        }
    }
}

extension ValueLeaf {
    /// Returns this value with the sort keys of its folded texts.
    func resolved(by collation: Collation) -> ValueLeaf {
        switch self {
        case .column: self
        case .predicate(let node): .predicate(node.resolved(by: collation))
        }
    }
}

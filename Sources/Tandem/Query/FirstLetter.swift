/// The first letter of a folded text, which divides a list into sections: `\.shop.firstLetter`.
///
/// It is a letter of the alphabet of ``Store/Configuration/sortLanguage``, in upper case. "ёлка" and "ель" are in the
/// section "Е". "Åhlén" is in the section "Å" in Swedish, and in "A" in the root order.
public struct FirstLetter<Root: Model>: Sendable {
    /// The property.
    private let text: ColumnPath

    init(of property: ColumnPath) {
        text = property
    }

    /// Returns the column of the letters.
    func column(_ collation: Collation) -> ColumnPath { text.firstLetter(collation) }

    /// Returns a predicate for the texts in the section of a letter. Nil selects the texts that are nil.
    func predicate(_ letter: String?, collation: Collation) -> PredicateNode {
        guard let letter else { return .identical(text.folded, to: .null) }
        let isInSection = PredicateNode.hasFirstLetter(text, collation: collation, letter: letter)
        // The range is redundant, but lets an index find the section.
        guard let range = collation.range(ofSection: letter) else { return isInSection }
        return .and(.inKeyRanges(text.folded, ranges: [range]), isInSection)
    }
}

extension Results {
    /// Returns the objects in sections by the first letter of a folded text. Sections are in the order of the letters,
    /// nil first, or last if descending. Objects within a section have this query's order.
    ///
    /// ```swift
    /// for section in try store.objects(Card.self).sorted(by: \.shop).sectioned(by: \.shop.firstLetter) {
    ///     print(section.key ?? "–", section.count)  // Л 12, М 40, П 8
    /// }
    /// ```
    ///
    /// Letters are those of the store's ``Store/Configuration/sortLanguage``, in upper case. Empty texts have an empty
    /// key.
    ///
    /// - Parameters:
    ///   - letter: The first letter of a folded property: `\.shop.firstLetter`.
    ///   - ascending: Whether the letters ascend.
    /// - Throws: ``TandemError`` if the query is not valid, or the store can't be read.
    /// - Complexity: Reads the keys and counts with one statement. The objects are read when a section's results are.
    ///   An index finds the objects of a section.
    public func sectioned(
        by letter: KeyPath<M.Columns, FirstLetter<M>>, ascending: Bool = true
    ) throws -> [ResultsSection<String?, M>] {
        let letter = M.Columns()[keyPath: letter]
        let query = query.nestedIfCut
        let collation = store.collation
        let sections = try store.query { compiler in
            compiler.select(query, grouping: { _, _ in " GROUP BY 1" }) { compiler, scope in
                "\(compiler.column(letter.column(collation), in: scope)), COUNT(*)"
            }
        } body: { statement, _ in
            var sections: [(sortKey: [UInt8], section: ResultsSection<String?, M>)] = []
            while try statement.step() {
                let key = statement.isNull(0) ? nil : try statement.text(0)
                let section = ResultsSection(
                    key: key, count: Int(statement.integer(1)),
                    results: Results(
                        store: store, query: query.filtered(letter.predicate(key, collation: collation))))
                // Nil comes first: a key is never empty.
                sections.append((key.map(collation.key) ?? [], section))
            }
            return sections
        }
        return sections.sorted { lhs, rhs in
            ascending
                ? lhs.sortKey.lexicographicallyPrecedes(rhs.sortKey)
                : rhs.sortKey.lexicographicallyPrecedes(lhs.sortKey)
        }.map(\.section)
    }
}

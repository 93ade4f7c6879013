/// The first letter of a folded text, by which a list is divided into sections: `\.shop.firstLetter`.
///
/// It is the first Unicode scalar of the folded text. Sections show it in upper case.
public struct FirstLetter<Root: Model>: Sendable {
    /// The folded text.
    private let text: ColumnPath
    /// Its first letter.
    let column: ColumnPath

    init(of property: ColumnPath) {
        text = property.folded
        column = property.firstLetter
    }

    /// The letter as a section shows it: in upper case, unless that is another letter's.
    static func shown(_ letter: String) -> String {
        let upper = letter.uppercased()
        return Folding.sortKey(upper) == letter ? upper : letter
    }

    /// Finds the texts that begin with a letter; nil finds those that are nil.
    func predicate(_ letter: String?) -> PredicateNode {
        guard let letter else { return .identical(text, .null) }
        // SQLite's substr ends at U+0000, so that texts which begin with it have no first letter, as the empty one.
        return letter.isEmpty
            ? .comparison(text, .less, .value(.text("\u{1}"))) : .text(text, .prefix, letter)
    }
}

extension Results {
    /// The objects in sections, one for each first letter of a folded text, in the order of the letters, nil first
    /// (last if descending). Within a section they have this query's order.
    ///
    /// ```swift
    /// for section in try store.objects(Card.self).sorted(by: \.shop).sectioned(by: \.shop.firstLetter) {
    ///     print(section.key ?? "–", section.count)  // Л 12, М 40, П 8
    /// }
    /// ```
    ///
    /// Letters are compared without case and shown in upper case. Empty texts have an empty key.
    ///
    /// - Complexity: The keys and counts are read now, with one statement; the objects when a section's results are. An
    ///   index finds those of one section.
    public func sectioned(
        by letter: KeyPath<M.Columns, FirstLetter<M>>, ascending: Bool = true
    ) throws -> [ResultsSection<String?, M>] {
        let letter = M.Columns()[keyPath: letter]
        let query = query.nestedIfCut
        let direction = ascending ? "" : " DESC"
        return try store.query { compiler in
            compiler.select(
                query, grouping: { _, _ in " GROUP BY 1 ORDER BY 1\(raw: direction)" }
            ) { compiler, scope in
                "\(compiler.column(letter.column, in: scope)), COUNT(*)"
            }
        } _: { statement, _ in
            var sections: [ResultsSection<String?, M>] = []
            while try statement.step() {
                let key = statement.isNull(0) ? nil : try statement.text(0)
                sections.append(
                    ResultsSection(
                        key: key.map(FirstLetter<M>.shown), count: Int(statement.integer(1)),
                        results: Results(store: store, query: query.filtered(letter.predicate(key)))))
            }
            return sections
        }
    }
}

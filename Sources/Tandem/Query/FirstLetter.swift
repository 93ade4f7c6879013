/// The first letter of a folded text, which divides a list into sections: `\.shop.firstLetter`.
///
/// It is the first Unicode scalar of the folded text. Sections show it in upper case.
public struct FirstLetter<Root: Model>: Sendable {
    /// The folded text.
    private let text: ColumnPath
    /// The first letter of the folded text.
    let column: ColumnPath

    init(of property: ColumnPath) {
        text = property.folded
        column = property.firstLetter
    }

    /// Returns the letter for display: in upper case, unless that belongs to another letter.
    static func shown(_ letter: String) -> String {
        let upper = letter.uppercased()
        return Folding.sortKey(upper) == letter ? upper : letter
    }

    /// Returns a predicate for the texts that begin with a letter. Nil selects the texts that are nil.
    func predicate(_ letter: String?) -> PredicateNode {
        guard let letter else { return .identical(text, .null) }
        // SQLite's substr ends at U+0000, so a text that begins with it has no first letter, like an empty text.
        return letter.isEmpty
            ? .comparison(text, .less, .value(.text("\u{1}"))) : .text(text, .prefix, letter)
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
    /// Letters are compared without case, and shown in upper case. Empty texts have an empty key.
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
        let direction = ascending ? "" : " DESC"
        return try store.query { compiler in
            compiler.select(
                query, grouping: { _, _ in " GROUP BY 1 ORDER BY 1\(raw: direction)" }
            ) { compiler, scope in
                "\(compiler.column(letter.column, in: scope)), COUNT(*)"
            }
        } body: { statement, _ in
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

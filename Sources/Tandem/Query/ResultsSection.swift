/// A section of a list: the objects of a query with the same value of a property.
public struct ResultsSection<Key, M: Model> {
    /// The common value of the objects.
    public let key: Key
    /// The number of objects when the sections were read.
    public let count: Int
    /// The objects, in the query's order. They are read only when a reading function is called.
    public let results: Results<M>
}

extension ResultsSection: Sendable where Key: Sendable {}

extension Results {
    /// Returns the objects in sections, one for each value of a property. Sections are in the order of the values, nil
    /// first, or last if descending. Objects within a section have this query's order.
    ///
    /// ```swift
    /// for section in try store.objects(Card.self).sorted(by: \.shop).sectioned(by: \.category) {
    ///     print(section.key, section.count)
    ///     for card in try section.results.limit(10).all() { print("  ", card.shop) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - property: The property with the key of each section.
    ///   - ascending: Whether the keys ascend.
    /// - Throws: ``TandemError`` if the query is not valid, or the store can't be read.
    /// - Complexity: Reads the keys and counts with one statement. The objects are read when a section's results are.
    public func sectioned<P: PropertyExpression>(
        by property: KeyPath<M.Columns, P>, ascending: Bool = true
    ) throws -> [ResultsSection<P.Value, M>] where P.Root == M {
        let property = M.Columns()[keyPath: property]
        let column = property.__column
        let query = query.nestedIfCut
        return try store.query { compiler in
            compiler.select(query, grouping: { $0.groups(column, ascending: ascending, in: $1) }) { compiler, scope in
                "\(compiler.column(column, in: scope)), COUNT(*)"
            }
        } body: { statement, connection in
            var sections: [ResultsSection<P.Value, M>] = []
            while try statement.step() {
                let row = statement.row()
                // Compare stored forms, so that NaNs, which do not equal any value, also find their section.
                let same = PredicateNode.identical(column, to: row.storageValue(0))
                sections.append(
                    ResultsSection(
                        key: try property.value(row, column: 0, store: connection.path), count: Int(row.integer(1)),
                        results: Results(store: store, query: query.filtered(same))))
            }
            return sections
        }
    }
}

/// The objects of a query that have one value of a property in common: a section of a list.
public struct ResultsSection<Key, M: Model> {
    /// The value that the objects have in common.
    public let key: Key
    /// How many they were when the sections were read.
    public let count: Int
    /// The objects, in the order of the query. Nothing is read until they are asked.
    public let results: Results<M>
}

extension ResultsSection: Sendable where Key: Sendable {}

extension Results {
    /// The objects in sections, one for each value of a property, in the order of the values, nil first (last if
    /// descending). Within a section they have this query's order.
    ///
    /// ```swift
    /// for section in try store.objects(Card.self).sorted(by: \.shop).sectioned(by: \.category) {
    ///     print(section.key, section.count)
    ///     for card in try section.results.limit(10).all() { print("  ", card.shop) }
    /// }
    /// ```
    ///
    /// - Complexity: The keys and counts are read now, with one statement; the objects when a section's results are.
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
        } _: { statement, connection in
            var sections: [ResultsSection<P.Value, M>] = []
            while try statement.step() {
                let row = statement.row()
                // As it is stored, so that the NaNs, which equal nothing, find their section too.
                let same = PredicateNode.identical(column, row.storageValue(0))
                sections.append(
                    ResultsSection(
                        key: try property.value(row, 0, store: connection.path), count: Int(row.integer(1)),
                        results: Results(store: store, query: query.filtered(same))))
            }
            return sections
        }
    }
}

extension Results {
    /// Groups the objects by the value of a property, for counts and sums: `grouped(by: \.shop).values(.count,
    /// .sum(\.points))`.
    ///
    /// - Parameter property: The property with the key of each group.
    public func grouped<P: PropertyExpression>(by property: KeyPath<M.Columns, P>) -> Grouping<M, P>
    where P.Root == M {
        Grouping(results: self, property: M.Columns()[keyPath: property])
    }
}

/// The objects of a query, grouped by the value of a property.
public struct Grouping<M: Model, P: PropertyExpression>: Sendable where P.Root == M {
    let results: Results<M>
    let property: P

    /// Returns the key and the aggregates of each group, in the order of the keys, nil first.
    ///
    /// ```swift
    /// for (shop, (count, points)) in try store.objects(Card.self).grouped(by: \.shop).values(.count, .sum(\.points)) {
    ///     print(shop, count, points)
    /// }
    /// ```
    ///
    /// Different texts are different keys, even if their folded forms are equal.
    ///
    /// - Parameter aggregates: The aggregates to compute for each group: `.count`, `.sum(\.points)`.
    /// - Throws: ``TandemError`` with the code `overflow` if a sum does not fit its type.
    public func values<each Value>(
        _ aggregates: repeat Aggregate<M, each Value>
    ) throws -> [(key: P.Value, values: (repeat each Value))] {
        let query = results.query.nestedIfCut
        return try results.store.query { compiler in
            compiler.select(query, grouping: { "\($0.groups(property.__column, in: $1))" }) { compiler, scope in
                var columns = compiler.column(property.__column, in: scope)
                for aggregate in repeat each aggregates {
                    columns += ", \(compiler.aggregate(aggregate.node, in: scope))"
                }
                return columns
            }
        } body: { statement, connection in
            var groups: [(key: P.Value, values: (repeat each Value))] = []
            while try statement.step() {
                let row = statement.row()
                let key = try property.value(row, column: 0, store: connection.path)
                var column: Int32 = 1
                func read<V>(_ aggregate: Aggregate<M, V>) throws -> V {
                    defer { column += aggregate.node.width }
                    return try aggregate.value(row, column: column, store: connection.path)
                }
                groups.append((key, (repeat try read(each aggregates))))
            }
            return groups
        }
    }
}

extension SQLCompiler {
    /// Returns GROUP BY and ORDER BY clauses for groups by a column.
    mutating func groups(_ path: ColumnPath, ascending: Bool = true, in scope: Scope) -> SQL {
        let direction = ascending ? "" : " DESC"
        let order = exactOrderColumns(path, in: scope).map { "\($0)\(raw: direction)" as SQL }.joined(", ")
        return " GROUP BY \(column(path, in: scope)) ORDER BY \(order)"
    }
}

extension Results {
    /// The sum of a property: 0 if there are no objects; nils are left out.
    ///
    /// Sums of integers and decimals are exact, whatever the order and the sums in between. A sum of `Double` or `Float`
    /// is rounded, is NaN if a value is, and its rounding errors do not grow with the number of values.
    ///
    /// - Throws: ``TandemError`` with the code `overflow` if the sum does not fit its type (see ``SummableValue``); for
    ///   a decimal, if it would have to be rounded.
    public func sum<P: PropertyExpression>(of property: KeyPath<M.Columns, P>) throws -> P.Value.Sum
    where P.Root == M, P.Value: QuerySummable {
        try value(of: .sum(property))
    }

    /// The average of a property, nil if there is no value; nils are left out.
    ///
    /// Averages are `Double`, computed from the exact sum; those of decimals are `Decimal`.
    public func average<P: PropertyExpression>(of property: KeyPath<M.Columns, P>) throws -> P.Value.Average?
    where P.Root == M, P.Value: QuerySummable {
        try value(of: .average(property))
    }

    /// The least value of a property, nil if there is none; nils are left out.
    ///
    /// The order is the one of comparisons: texts by their Unicode scalars, also folded ones. NaN is greater than all
    /// numbers, so it is the least only where there is nothing else.
    public func min<P: PropertyExpression>(of property: KeyPath<M.Columns, P>) throws -> P.Value.Ordered?
    where P.Root == M, P.Value: QueryOrdered {
        try value(of: .min(property))
    }

    /// The greatest value of a property, nil if there is none; nils are left out. NaN is greater than all numbers.
    public func max<P: PropertyExpression>(of property: KeyPath<M.Columns, P>) throws -> P.Value.Ordered?
    where P.Root == M, P.Value: QueryOrdered {
        try value(of: .max(property))
    }

    private func value<Value>(of aggregate: Aggregate<M, Value>) throws -> Value {
        let query = query.nestedIfCut
        return try store.query { compiler in
            compiler.select(query, ordered: false) { $0.aggregate(aggregate.node, in: $1) }
        } _: { statement, connection in
            _ = try statement.step()
            return try aggregate.value(statement.row(), 0, store: connection.path)
        }
    }
}

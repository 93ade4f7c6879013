extension Results {
    /// Returns the sum of a property, which is 0 if there are no objects. Nils are skipped.
    ///
    /// Sums of integers and decimals are exact, whatever the order and the intermediate sums. A sum of `Double` or
    /// `Float` is rounded, and is NaN if a value is. Its rounding errors do not grow with the number of values.
    ///
    /// - Parameter property: A number of the model, or of an object that it refers to.
    /// - Throws: ``TandemError`` with the code `overflow` if the sum does not fit its type (see ``SummableValue``).
    ///   It is also thrown if a decimal sum would have to be rounded.
    public func sum<P: PropertyExpression>(of property: KeyPath<M.Columns, P>) throws -> P.Value.Sum
    where P.Root == M, P.Value: QuerySummable {
        try value(of: .sum(property))
    }

    /// Returns the average of a property, which is nil if there is no value. Nils are skipped.
    ///
    /// Averages are `Double`, computed from the exact sum. Averages of decimals are `Decimal`.
    ///
    /// - Parameter property: A number of the model, or of an object that it refers to.
    /// - Throws: ``TandemError`` with the code `overflow` if the sum of decimals does not fit, or if the store can't be
    ///   read.
    public func average<P: PropertyExpression>(of property: KeyPath<M.Columns, P>) throws -> P.Value.Average?
    where P.Root == M, P.Value: QuerySummable {
        try value(of: .average(property))
    }

    /// Returns the least value of a property, which is nil if there is no value. Nils are skipped.
    ///
    /// The order is that of comparisons: texts are ordered by their Unicode scalars, even folded ones. NaN is greater
    /// than all numbers, so it is the least value only if all values are NaN.
    ///
    /// - Parameter property: A property with an order.
    /// - Throws: ``TandemError`` if the query is not valid, or the store can't be read.
    public func min<P: PropertyExpression>(of property: KeyPath<M.Columns, P>) throws -> P.Value.Ordered?
    where P.Root == M, P.Value: QueryOrdered {
        try value(of: .min(property))
    }

    /// Returns the greatest value of a property, which is nil if there is no value. Nils are skipped. NaN is greater
    /// than all numbers.
    ///
    /// - Parameter property: A property with an order.
    /// - Throws: ``TandemError`` if the query is not valid, or the store can't be read.
    public func max<P: PropertyExpression>(of property: KeyPath<M.Columns, P>) throws -> P.Value.Ordered?
    where P.Root == M, P.Value: QueryOrdered {
        try value(of: .max(property))
    }

    private func value<Value>(of aggregate: Aggregate<M, Value>) throws -> Value {
        let query = query.nestedIfCut
        return try store.query { compiler in
            compiler.select(query, ordered: false) { $0.aggregate(aggregate.node, in: $1) }
        } body: { statement, connection in
            _ = try statement.step()
            return try aggregate.value(statement.row(), column: 0, store: connection.path)
        }
    }
}

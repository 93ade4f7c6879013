/// A number, or another value, made from all objects of a group: `.count`, `.sum(\.points)`, `.max(\.date)`.
///
/// See ``Grouping/values(_:)``.
public struct Aggregate<Root: Model, Value>: Sendable {
    let node: AggregateNode
    /// Reads the value from the columns that the node selects, the first of which is given.
    let read: @Sendable (RowReader, Int32) throws -> Value

    /// Reads the value from a row, naming the property if there is none.
    func value(_ row: RowReader, _ column: Int32, store: String) throws -> Value {
        do {
            return try read(row, column)
        } catch let error as InvalidStoredValue {
            throw TandemError(
                .invalidValue, "A stored value can't be read: \(error.reason).", store: store,
                model: node.column?.model.name ?? Root.__definition.name, property: node.column?.propertyName)
        } catch is SumOverflow {
            throw TandemError(
                .overflow, "The sum is beyond what its type can hold.",
                advice: "Keep the property as a BigInt, or as a Double if a rounded sum will do.", store: store,
                model: node.column?.model.name, property: node.column?.propertyName)
        }
    }
}

/// A sum does not fit its type.
struct SumOverflow: Error {}

extension Aggregate where Value == Int {
    /// The number of objects.
    public static var count: Self {
        Aggregate(node: .count) { Int($0.integer($1)) }
    }
}

extension Aggregate {
    /// The sum of a property, 0 if no object has a value. See ``Results/sum(of:)``.
    public static func sum<P: PropertyExpression>(_ property: KeyPath<Root.Columns, P>) -> Self
    where P.Root == Root, P.Value: QuerySummable, P.Value.Sum == Value {
        let sums = P.Value.__sums
        return Aggregate(node: .sum(Root.Columns()[keyPath: property].__column, sums.kind)) { row, column in
            guard let total = try sums.total(row, column), let sum = sums.sum(total) else { throw SumOverflow() }
            return sum
        }
    }

    /// The average of a property, nil if no object has a value. See ``Results/average(of:)``.
    public static func average<P: PropertyExpression>(_ property: KeyPath<Root.Columns, P>) -> Self
    where P.Root == Root, P.Value: QuerySummable, Value == P.Value.Average? {
        let sums = P.Value.__sums
        return Aggregate(node: .average(Root.Columns()[keyPath: property].__column, sums.kind)) { row, column in
            let count = Int(row.integer(column + 1))
            guard count > 0 else { return nil }
            guard let total = try sums.total(row, column) else { throw SumOverflow() }
            return sums.average(total, count)
        }
    }

    /// The least value of a property, nil if no object has one. See ``Results/min(of:)``.
    public static func min<P: PropertyExpression>(_ property: KeyPath<Root.Columns, P>) -> Self
    where P.Root == Root, P.Value: QueryOrdered, Value == P.Value.Ordered? {
        extreme(property) { .minimum($0) }
    }

    /// The greatest value of a property, nil if no object has one. See ``Results/max(of:)``.
    public static func max<P: PropertyExpression>(_ property: KeyPath<Root.Columns, P>) -> Self
    where P.Root == Root, P.Value: QueryOrdered, Value == P.Value.Ordered? {
        extreme(property) { .maximum($0) }
    }

    private static func extreme<P: PropertyExpression>(
        _ property: KeyPath<Root.Columns, P>, _ node: (ColumnPath) -> AggregateNode
    ) -> Self where P.Value: QueryOrdered, Value == P.Value.Ordered? {
        let property = Root.Columns()[keyPath: property]
        return Aggregate(node: node(property.__column)) { [read = property.__read] row, column in
            row.isNull(column) ? nil : try read(row, column).__unwrapped
        }
    }
}

/// A value computed from all objects of a group: `.count`, `.sum(\.points)`, `.max(\.date)`.
///
/// See ``Grouping/values(_:)``.
public struct Aggregate<Root: Model, Value>: Sendable {
    let node: AggregateNode
    /// Reads the value from the columns that the node selects. The index is that of the first column.
    let read: @Sendable (RowDecoder, Int32) throws -> Value

    /// Reads the value from a row. An error names the property.
    func value(_ row: RowDecoder, column: Int32, store: String) throws -> Value {
        do {
            return try read(row, column)
        } catch let error as InvalidStoredValue {
            throw TandemError(
                .invalidValue, message: "A stored value can't be read: \(error.reason).", store: store,
                model: node.column?.model.name ?? Root.__definition.name, property: node.column?.propertyName)
        } catch is SumOverflow {
            throw TandemError(
                .overflow, message: "The sum does not fit its type.",
                advice: "Declare the property as a BigInt, or as a Double if a rounded sum is enough.", store: store,
                model: node.column?.model.name, property: node.column?.propertyName)
        }
    }
}

/// An error thrown if a sum does not fit its type.
struct SumOverflow: Error {}

extension Aggregate where Value == Int {
    /// The number of objects.
    public static var count: Self {
        Aggregate(node: .count) { Int($0.integer($1)) }
    }
}

extension Aggregate {
    /// Returns the sum of a property, which is 0 if no object has a value. See ``Results/sum(of:)``.
    public static func sum<P: PropertyExpression>(_ property: KeyPath<Root.Columns, P>) -> Self
    where P.Root == Root, P.Value: QuerySummable, P.Value.Sum == Value {
        let sums = P.Value.__sums
        return Aggregate(node: .sum(Root.Columns()[keyPath: property].__column, kind: sums.kind)) { row, column in
            guard let total = try sums.total(row, column: column), let sum = sums.sum(total) else {
                throw SumOverflow()
            }
            return sum
        }
    }

    /// Returns the average of a property, which is nil if no object has a value. See ``Results/average(of:)``.
    public static func average<P: PropertyExpression>(_ property: KeyPath<Root.Columns, P>) -> Self
    where P.Root == Root, P.Value: QuerySummable, Value == P.Value.Average? {
        let sums = P.Value.__sums
        return Aggregate(node: .average(Root.Columns()[keyPath: property].__column, kind: sums.kind)) { row, column in
            let count = Int(row.integer(column + 1))
            guard count > 0 else { return nil }
            guard let total = try sums.total(row, column: column) else { throw SumOverflow() }
            return sums.average(total, count)
        }
    }

    /// Returns the least value of a property, which is nil if no object has a value. See ``Results/min(of:)``.
    public static func min<P: PropertyExpression>(_ property: KeyPath<Root.Columns, P>) -> Self
    where P.Root == Root, P.Value: QueryOrdered, Value == P.Value.Ordered? {
        extreme(property) { .minimum($0) }
    }

    /// Returns the greatest value of a property, which is nil if no object has a value. See ``Results/max(of:)``.
    public static func max<P: PropertyExpression>(_ property: KeyPath<Root.Columns, P>) -> Self
    where P.Root == Root, P.Value: QueryOrdered, Value == P.Value.Ordered? {
        extreme(property) { .maximum($0) }
    }

    private static func extreme<P: PropertyExpression>(
        _ property: KeyPath<Root.Columns, P>, node: (ColumnPath) -> AggregateNode
    ) -> Self where P.Value: QueryOrdered, Value == P.Value.Ordered? {
        let property = Root.Columns()[keyPath: property]
        return Aggregate(node: node(property.__column)) { [read = property.__read] row, column in
            row.isNull(column) ? nil : try read(row, column).__unwrapped
        }
    }
}

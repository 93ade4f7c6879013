/// A value of each object, for an ``Assignment``: a property, a predicate, or arithmetic on properties.
///
/// For example:
///
/// ```swift
/// try store.write { tx in
///     try tx.update(tx.objects(Card.self)) { [$0.points.set(to: $0.points * 2 + 10)] }
/// }
/// ```
public protocol ValueExpression<Root, Value>: Sendable {
    /// The model of the objects.
    associatedtype Root: Model
    /// The type of the value.
    associatedtype Value
    /// The expression as a computation on columns.
    var __computed: ComputedValue<Root, Value> { get }
}

/// A computation on the stored values of an object, such as `$0.points + 10`.
public struct ComputedValue<Root: Model, Value>: ValueExpression {
    /// The values that the computation reads, in the order in which a statement selects them.
    let leaves: [ValueLeaf]
    /// Whether the value is exactly that of the only leaf.
    let isLeaf: Bool
    /// Computes the value from a row. The index is that of the column with the first leaf.
    let compute: @Sendable (RowDecoder, Int32) throws -> Value

    /// The expression as a computation on columns.
    public var __computed: ComputedValue<Root, Value> { self }
}

/// A value that SQL reads for a ``ComputedValue``.
enum ValueLeaf: Sendable {
    case column(ColumnPath)
    /// Whether a predicate holds: 0 or 1.
    case predicate(PredicateNode)
}

/// An error thrown if an assignment reads a stored value that is not valid for its property's type.
struct UnreadableLeaf: Error {
    let column: ColumnPath
    let reason: String
}

extension PropertyExpression {
    /// The property as a computation on its column.
    public var __computed: ComputedValue<Root, Value> {
        let (column, read) = (__column, __read)
        return ComputedValue(leaves: [.column(column)], isLeaf: true) { row, index in
            do {
                return try read(row, index)
            } catch let error as InvalidStoredValue {
                throw UnreadableLeaf(column: column, reason: error.reason)
            }
        }
    }
}

extension Predicate: ValueExpression {
    /// The type of the value.
    public typealias Value = Bool

    /// The predicate as a value: `$0.isPinned.set(to: !$0.isPinned)`.
    public var __computed: ComputedValue<Root, Bool> {
        ComputedValue(leaves: [.predicate(node)], isLeaf: true) { row, index in row.integer(index) != 0 }
    }
}

// MARK: Arithmetic

extension ComputedValue {
    fileprivate init<Left: ValueExpression, Right: ValueExpression>(
        left lhs: Left, right rhs: Right, operation: @escaping @Sendable (Value, Value) throws -> Value
    ) where Left.Root == Root, Left.Value == Value, Right.Root == Root, Right.Value == Value {
        let (left, right) = (lhs.__computed, rhs.__computed)
        let width = Int32(left.leaves.count)
        self.init(leaves: left.leaves + right.leaves, isLeaf: false) { row, index in
            try operation(try left.compute(row, index), try right.compute(row, index + width))
        }
    }

    fileprivate init(_ value: Value) where Value: Sendable {
        self.init(leaves: [], isLeaf: false) { _, _ in value }
    }
}

/// Arithmetic. The result of a change that does not fit the property's type is an error with the code `overflow`.
extension ValueExpression where Value: ArithmeticValue {
    /// Returns the sum of an expression and a number.
    public static func + (lhs: Self, rhs: Value) -> ComputedValue<Root, Value> {
        ComputedValue(left: lhs, right: ComputedValue(rhs)) { try Value.__sum($0, $1) }
    }

    /// Returns the sum of a number and an expression.
    public static func + (lhs: Value, rhs: Self) -> ComputedValue<Root, Value> {
        ComputedValue(left: ComputedValue(lhs), right: rhs) { try Value.__sum($0, $1) }
    }

    /// Returns the sum of two expressions.
    public static func + <Other: ValueExpression>(lhs: Self, rhs: Other) -> ComputedValue<Root, Value>
    where Other.Root == Root, Other.Value == Value {
        ComputedValue(left: lhs, right: rhs) { try Value.__sum($0, $1) }
    }

    /// Returns the difference of an expression and a number.
    public static func - (lhs: Self, rhs: Value) -> ComputedValue<Root, Value> {
        ComputedValue(left: lhs, right: ComputedValue(rhs)) { try Value.__difference($0, $1) }
    }

    /// Returns the difference of a number and an expression.
    public static func - (lhs: Value, rhs: Self) -> ComputedValue<Root, Value> {
        ComputedValue(left: ComputedValue(lhs), right: rhs) { try Value.__difference($0, $1) }
    }

    /// Returns the difference of two expressions.
    public static func - <Other: ValueExpression>(lhs: Self, rhs: Other) -> ComputedValue<Root, Value>
    where Other.Root == Root, Other.Value == Value {
        ComputedValue(left: lhs, right: rhs) { try Value.__difference($0, $1) }
    }

    /// Returns the product of an expression and a number.
    public static func * (lhs: Self, rhs: Value) -> ComputedValue<Root, Value> {
        ComputedValue(left: lhs, right: ComputedValue(rhs)) { try Value.__product($0, $1) }
    }

    /// Returns the product of a number and an expression.
    public static func * (lhs: Value, rhs: Self) -> ComputedValue<Root, Value> {
        ComputedValue(left: ComputedValue(lhs), right: rhs) { try Value.__product($0, $1) }
    }

    /// Returns the product of two expressions.
    public static func * <Other: ValueExpression>(lhs: Self, rhs: Other) -> ComputedValue<Root, Value>
    where Other.Root == Root, Other.Value == Value {
        ComputedValue(left: lhs, right: rhs) { try Value.__product($0, $1) }
    }
}

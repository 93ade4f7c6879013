/// A count of objects, or of a collection's elements, for comparison in a query: `$0.tags.count > 2`.
public struct CountExpression<Root: Model>: Sendable {
    private let node: @Sendable (Comparison, Int) -> PredicateNode

    init(_ node: @escaping @Sendable (Comparison, Int) -> PredicateNode) {
        self.node = node
    }

    /// Returns a predicate that holds if the count equals a number.
    public static func == (lhs: Self, rhs: Int) -> Predicate<Root> { Predicate(lhs.node(.equal, rhs)) }
    /// Returns a predicate that holds if the count differs from a number.
    public static func != (lhs: Self, rhs: Int) -> Predicate<Root> { Predicate(lhs.node(.notEqual, rhs)) }
    /// Returns a predicate that holds if the count is less than a number.
    public static func < (lhs: Self, rhs: Int) -> Predicate<Root> { Predicate(lhs.node(.less, rhs)) }
    /// Returns a predicate that holds if the count is at most a number.
    public static func <= (lhs: Self, rhs: Int) -> Predicate<Root> { Predicate(lhs.node(.lessOrEqual, rhs)) }
    /// Returns a predicate that holds if the count is greater than a number.
    public static func > (lhs: Self, rhs: Int) -> Predicate<Root> { Predicate(lhs.node(.greater, rhs)) }
    /// Returns a predicate that holds if the count is at least a number.
    public static func >= (lhs: Self, rhs: Int) -> Predicate<Root> { Predicate(lhs.node(.greaterOrEqual, rhs)) }
}

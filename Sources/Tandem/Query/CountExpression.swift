/// A number of objects, or of a collection's elements, to be compared in a query: `$0.tags.count > 2`.
public struct CountExpression<Root: Model>: Sendable {
    private let node: @Sendable (Comparison, Int) -> PredicateNode

    init(_ node: @escaping @Sendable (Comparison, Int) -> PredicateNode) {
        self.node = node
    }

    public static func == (lhs: Self, rhs: Int) -> Predicate<Root> { Predicate(lhs.node(.equal, rhs)) }
    public static func != (lhs: Self, rhs: Int) -> Predicate<Root> { Predicate(lhs.node(.notEqual, rhs)) }
    public static func < (lhs: Self, rhs: Int) -> Predicate<Root> { Predicate(lhs.node(.less, rhs)) }
    public static func <= (lhs: Self, rhs: Int) -> Predicate<Root> { Predicate(lhs.node(.lessOrEqual, rhs)) }
    public static func > (lhs: Self, rhs: Int) -> Predicate<Root> { Predicate(lhs.node(.greater, rhs)) }
    public static func >= (lhs: Self, rhs: Int) -> Predicate<Root> { Predicate(lhs.node(.greaterOrEqual, rhs)) }
}

/// A condition on the objects of a query. It is built by comparing and testing properties, and combined with `&&`, `||`
/// and `!`.
///
/// For example:
///
/// ```swift
/// let rich = store.objects(Card.self).where { $0.points > 100 || $0.isPinned && !$0.shop.hasPrefix("Ма") }
///
/// let isCheap = Card.predicate { $0.points < 10 }
/// let cheap = store.objects(Card.self).where(isCheap && !Card.predicate { $0.isPinned })
/// ```
///
/// A predicate is true or false, and never unknown. Comparisons with nil are Swift's, and not SQL's. If the nickname is
/// nil, `$0.nickname != "x"` is true. `<`, `>` and the tests of texts are false, so their negation is true.
///
/// Foundation has a type with the same name. In a file that imports both, write `Tandem.Predicate`.
public struct Predicate<Root: Model>: Sendable {
    package let node: PredicateNode

    init(_ node: PredicateNode) {
        self.node = node
    }

    /// A predicate that all objects satisfy.
    public static var `true`: Self { Self(.constant(true)) }

    /// A predicate that does not hold for any object.
    public static var `false`: Self { Self(.constant(false)) }
}

extension Model {
    /// Returns a predicate, to combine with others and to pass to ``Results/where(_:)-(Predicate<M>)``.
    ///
    /// - Parameter make: Returns the predicate from the model's properties: `{ $0.points > 100 }`.
    public static func predicate<P: PredicateExpression>(_ make: (Columns) -> P) -> Predicate<Self>
    where P.Root == Self {
        make(Columns()).asPredicate
    }
}

/// A predicate, or a `Bool` property used as a predicate: `$0.isPinned || $0.points > 100`.
public protocol PredicateExpression<Root> {
    /// The model of the query.
    associatedtype Root: Model
    /// The expression as a predicate.
    var asPredicate: Predicate<Root> { get }
}

extension Predicate: PredicateExpression {
    /// The predicate itself.
    public var asPredicate: Predicate<Root> { self }
}

extension Property: PredicateExpression where Value == Bool {
    /// A predicate that holds if the property is true.
    public var asPredicate: Predicate<Root> { Predicate(.isTrue(__column)) }
}

extension PredicateExpression {
    /// Returns a predicate that holds if both operands hold.
    public static func && <Other: PredicateExpression>(lhs: Self, rhs: Other) -> Predicate<Root>
    where Other.Root == Root {
        Predicate(.and(lhs.asPredicate.node, rhs.asPredicate.node))
    }

    /// Returns a predicate that holds if at least one operand holds.
    public static func || <Other: PredicateExpression>(lhs: Self, rhs: Other) -> Predicate<Root>
    where Other.Root == Root {
        Predicate(.or(lhs.asPredicate.node, rhs.asPredicate.node))
    }

    /// Returns a predicate that holds if the operand does not hold.
    public static prefix func ! (operand: Self) -> Predicate<Root> {
        Predicate(.not(operand.asPredicate.node))
    }
}

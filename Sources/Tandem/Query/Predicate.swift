/// What a query asks of each object. Made by comparing and testing properties, and joined by `&&`, `||` and `!`.
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
/// A predicate is true or false, never unknown: comparisons with nil are Swift's, not SQL's. `$0.nickname != "x"` holds
/// where the nickname is nil; `<`, `>` and the tests of texts do not, and so `!` of them does.
///
/// Foundation has a type of this name too: in a file that imports both, it is written `Tandem.Predicate`.
public struct Predicate<Root: Model>: Sendable {
    package let node: PredicateNode

    init(_ node: PredicateNode) {
        self.node = node
    }

    /// Holds for every object.
    public static var `true`: Self { Self(.constant(true)) }

    /// Holds for no object.
    public static var `false`: Self { Self(.constant(false)) }
}

extension Model {
    /// Makes a predicate, to be joined with others and given to ``Results/where(_:)``.
    public static func predicate<P: PredicateExpression>(_ make: (Columns) -> P) -> Predicate<Self>
    where P.Root == Self {
        make(Columns()).asPredicate
    }
}

/// A predicate, or a `Bool` property used as one: `$0.isPinned || $0.points > 100`.
public protocol PredicateExpression<Root> {
    associatedtype Root: Model
    var asPredicate: Predicate<Root> { get }
}

extension Predicate: PredicateExpression {
    public var asPredicate: Predicate<Root> { self }
}

extension Property: PredicateExpression where Value == Bool {
    public var asPredicate: Predicate<Root> { Predicate(.isTrue(__column)) }
}

extension PredicateExpression {
    /// Whether both hold.
    public static func && <Other: PredicateExpression>(lhs: Self, rhs: Other) -> Predicate<Root>
    where Other.Root == Root {
        Predicate(.and(lhs.asPredicate.node, rhs.asPredicate.node))
    }

    /// Whether one of them holds, or both.
    public static func || <Other: PredicateExpression>(lhs: Self, rhs: Other) -> Predicate<Root>
    where Other.Root == Root {
        Predicate(.or(lhs.asPredicate.node, rhs.asPredicate.node))
    }

    /// Whether it does not hold.
    public static prefix func ! (operand: Self) -> Predicate<Root> {
        Predicate(.not(operand.asPredicate.node))
    }
}

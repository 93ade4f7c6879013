// Comparisons. Nil is compared as Swift compares it: it equals nil and nothing else, and is neither less nor greater
// than anything. NaN equals nothing, not even itself, and is neither less nor greater; -0.0 equals 0.0.

extension PropertyExpression where Value: Equatable {
    /// Whether the property equals a value. `== nil` is true if the property is nil.
    ///
    /// Texts are equal if their Unicode scalars are: "é" in its two spellings is two texts.
    public static func == (lhs: Self, rhs: Value) -> Predicate<Root> {
        Predicate(.comparison(lhs.__column, .equal, .value(lhs.__encode(rhs))))
    }

    /// Whether the property has another value, or none.
    public static func != (lhs: Self, rhs: Value) -> Predicate<Root> {
        Predicate(.comparison(lhs.__column, .notEqual, .value(lhs.__encode(rhs))))
    }

    /// Whether two properties have the same value, or both none.
    public static func == <Other: PropertyExpression>(lhs: Self, rhs: Other) -> Predicate<Root>
    where Other.Root == Root, Other.Value == Value {
        Predicate(.comparison(lhs.__column, .equal, .column(rhs.__column)))
    }

    /// Whether two properties have different values, or one of them none.
    public static func != <Other: PropertyExpression>(lhs: Self, rhs: Other) -> Predicate<Root>
    where Other.Root == Root, Other.Value == Value {
        Predicate(.comparison(lhs.__column, .notEqual, .column(rhs.__column)))
    }

    /// Whether the property has one of some values: `$0.barcode.in(["1", "2"])`, `$0.nickname.in(["x", nil])`.
    ///
    /// There may be any number of values.
    public func `in`(_ values: [Value]) -> Predicate<Root> {
        Predicate(.among(__column, values.map(__encode)))
    }
}

extension PropertyExpression where Value: QueryOrdered {
    public static func < (lhs: Self, rhs: Value.Ordered) -> Predicate<Root> { lhs.compare(.less, rhs) }
    public static func <= (lhs: Self, rhs: Value.Ordered) -> Predicate<Root> { lhs.compare(.lessOrEqual, rhs) }
    public static func > (lhs: Self, rhs: Value.Ordered) -> Predicate<Root> { lhs.compare(.greater, rhs) }
    public static func >= (lhs: Self, rhs: Value.Ordered) -> Predicate<Root> { lhs.compare(.greaterOrEqual, rhs) }

    func compare(_ comparison: Comparison, _ value: Value.Ordered) -> Predicate<Root> {
        Predicate(.comparison(__column, comparison, .value(__encode(Value.__wrap(value)))))
    }

    public static func < <Other: PropertyExpression>(lhs: Self, rhs: Other) -> Predicate<Root>
    where Other.Root == Root, Other.Value == Value {
        Predicate(.comparison(lhs.__column, .less, .column(rhs.__column)))
    }

    public static func <= <Other: PropertyExpression>(lhs: Self, rhs: Other) -> Predicate<Root>
    where Other.Root == Root, Other.Value == Value {
        Predicate(.comparison(lhs.__column, .lessOrEqual, .column(rhs.__column)))
    }

    public static func > <Other: PropertyExpression>(lhs: Self, rhs: Other) -> Predicate<Root>
    where Other.Root == Root, Other.Value == Value {
        Predicate(.comparison(lhs.__column, .greater, .column(rhs.__column)))
    }

    public static func >= <Other: PropertyExpression>(lhs: Self, rhs: Other) -> Predicate<Root>
    where Other.Root == Root, Other.Value == Value {
        Predicate(.comparison(lhs.__column, .greaterOrEqual, .column(rhs.__column)))
    }

    /// Whether the value lies in a range, closed, half-open or one-sided: `$0.points.contains(1..<5)`,
    /// `$0.date.contains(yesterday...)`. Nil lies in none.
    public func contains<Range: ValueRange>(_ range: Range) -> Predicate<Root> where Range.Bound == Value.Ordered {
        var nodes: [PredicateNode] = []
        if let lower = range.__lower { nodes.append(compare(.greaterOrEqual, lower).node) }
        if let upper = range.__upper {
            nodes.append(compare(upper.isIncluded ? .lessOrEqual : .less, upper.bound).node)
        }
        return Predicate(.all(nodes))
    }
}

/// A range that a property's values can be asked to lie in. Not to be conformed to.
public protocol ValueRange<Bound> {
    associatedtype Bound: Comparable
    var __lower: Bound? { get }
    var __upper: (bound: Bound, isIncluded: Bool)? { get }
}

extension Range: ValueRange {
    public var __lower: Bound? { lowerBound }
    public var __upper: (bound: Bound, isIncluded: Bool)? { (upperBound, false) }
}

extension ClosedRange: ValueRange {
    public var __lower: Bound? { lowerBound }
    public var __upper: (bound: Bound, isIncluded: Bool)? { (upperBound, true) }
}

extension PartialRangeFrom: ValueRange {
    public var __lower: Bound? { lowerBound }
    public var __upper: (bound: Bound, isIncluded: Bool)? { nil }
}

extension PartialRangeUpTo: ValueRange {
    public var __lower: Bound? { nil }
    public var __upper: (bound: Bound, isIncluded: Bool)? { (upperBound, false) }
}

extension PartialRangeThrough: ValueRange {
    public var __lower: Bound? { nil }
    public var __upper: (bound: Bound, isIncluded: Bool)? { (upperBound, true) }
}

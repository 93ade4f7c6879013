// Comparisons. Nil compares as in Swift: it equals only nil, and is neither less nor greater than any value. NaN does
// not equal any value, not even itself, and is neither less nor greater. -0.0 equals 0.0.

extension PropertyExpression where Value: Equatable {
    /// Returns a predicate that holds if the property equals a value. `== nil` holds if the property is nil.
    ///
    /// Texts are equal if their Unicode scalars are equal. Composed and decomposed "é" are different texts.
    public static func == (lhs: Self, rhs: Value) -> Predicate<Root> {
        Predicate(.comparison(lhs.__column, by: .equal, to: .value(lhs.__encode(rhs))))
    }

    /// Returns a predicate that holds if the property has another value, or is nil.
    public static func != (lhs: Self, rhs: Value) -> Predicate<Root> {
        Predicate(.comparison(lhs.__column, by: .notEqual, to: .value(lhs.__encode(rhs))))
    }

    /// Returns a predicate that holds if two properties have the same value, or are both nil.
    public static func == <Other: PropertyExpression>(lhs: Self, rhs: Other) -> Predicate<Root>
    where Other.Root == Root, Other.Value == Value {
        Predicate(.comparison(lhs.__column, by: .equal, to: .column(rhs.__column)))
    }

    /// Returns a predicate that holds if two properties have different values, or if one of them is nil.
    public static func != <Other: PropertyExpression>(lhs: Self, rhs: Other) -> Predicate<Root>
    where Other.Root == Root, Other.Value == Value {
        Predicate(.comparison(lhs.__column, by: .notEqual, to: .column(rhs.__column)))
    }

    /// Returns a predicate that holds if the property has any of the given values: `$0.barcode.in(["1", "2"])`,
    /// `$0.nickname.in(["x", nil])`.
    ///
    /// The number of values is not limited.
    public func `in`(_ values: [Value]) -> Predicate<Root> {
        Predicate(.among(__column, values: values.map(__encode)))
    }
}

extension PropertyExpression where Value: QueryOrdered {
    /// Returns a predicate that holds if the property is less than a value.
    public static func < (lhs: Self, rhs: Value.Ordered) -> Predicate<Root> { lhs.compare(.less, with: rhs) }
    /// Returns a predicate that holds if the property is at most a value.
    public static func <= (lhs: Self, rhs: Value.Ordered) -> Predicate<Root> { lhs.compare(.lessOrEqual, with: rhs) }
    /// Returns a predicate that holds if the property is greater than a value.
    public static func > (lhs: Self, rhs: Value.Ordered) -> Predicate<Root> { lhs.compare(.greater, with: rhs) }
    /// Returns a predicate that holds if the property is at least a value.
    public static func >= (lhs: Self, rhs: Value.Ordered) -> Predicate<Root> { lhs.compare(.greaterOrEqual, with: rhs) }

    func compare(_ comparison: Comparison, with value: Value.Ordered) -> Predicate<Root> {
        Predicate(.comparison(__column, by: comparison, to: .value(__encode(Value.__wrap(value)))))
    }

    /// Returns a predicate that holds if a property is less than another one.
    public static func < <Other: PropertyExpression>(lhs: Self, rhs: Other) -> Predicate<Root>
    where Other.Root == Root, Other.Value == Value {
        Predicate(.comparison(lhs.__column, by: .less, to: .column(rhs.__column)))
    }

    /// Returns a predicate that holds if a property is at most another one.
    public static func <= <Other: PropertyExpression>(lhs: Self, rhs: Other) -> Predicate<Root>
    where Other.Root == Root, Other.Value == Value {
        Predicate(.comparison(lhs.__column, by: .lessOrEqual, to: .column(rhs.__column)))
    }

    /// Returns a predicate that holds if a property is greater than another one.
    public static func > <Other: PropertyExpression>(lhs: Self, rhs: Other) -> Predicate<Root>
    where Other.Root == Root, Other.Value == Value {
        Predicate(.comparison(lhs.__column, by: .greater, to: .column(rhs.__column)))
    }

    /// Returns a predicate that holds if a property is at least another one.
    public static func >= <Other: PropertyExpression>(lhs: Self, rhs: Other) -> Predicate<Root>
    where Other.Root == Root, Other.Value == Value {
        Predicate(.comparison(lhs.__column, by: .greaterOrEqual, to: .column(rhs.__column)))
    }

    /// Returns a predicate that holds if the value is in a range, which is closed, half-open or one-sided:
    /// `$0.points.contains(1..<5)`, `$0.date.contains(yesterday...)`. It does not hold for nil.
    public func contains<Range: ValueRange>(_ range: Range) -> Predicate<Root> where Range.Bound == Value.Ordered {
        var nodes: [PredicateNode] = []
        if let lower = range.__lower { nodes.append(compare(.greaterOrEqual, with: lower).node) }
        if let upper = range.__upper {
            nodes.append(compare(upper.isIncluded ? .lessOrEqual : .less, with: upper.bound).node)
        }
        return Predicate(.all(nodes))
    }
}

/// A range of values for a property. Do not conform to it.
public protocol ValueRange<Bound> {
    /// The type of the bounds.
    associatedtype Bound: Comparable
    /// The lower bound, which is included, or nil.
    var __lower: Bound? { get }
    /// The upper bound and whether it is included, or nil.
    var __upper: (bound: Bound, isIncluded: Bool)? { get }
}

extension Range: ValueRange {
    /// The lower bound, which is included.
    public var __lower: Bound? { lowerBound }
    /// The upper bound, which is not included.
    public var __upper: (bound: Bound, isIncluded: Bool)? { (upperBound, false) }
}

extension ClosedRange: ValueRange {
    /// The lower bound, which is included.
    public var __lower: Bound? { lowerBound }
    /// The upper bound, which is included.
    public var __upper: (bound: Bound, isIncluded: Bool)? { (upperBound, true) }
}

extension PartialRangeFrom: ValueRange {
    /// The lower bound, which is included.
    public var __lower: Bound? { lowerBound }
    /// Nil, because the range has no upper bound.
    public var __upper: (bound: Bound, isIncluded: Bool)? { nil }
}

extension PartialRangeUpTo: ValueRange {
    /// Nil, because the range has no lower bound.
    public var __lower: Bound? { nil }
    /// The upper bound, which is not included.
    public var __upper: (bound: Bound, isIncluded: Bool)? { (upperBound, false) }
}

extension PartialRangeThrough: ValueRange {
    /// Nil, because the range has no lower bound.
    public var __lower: Bound? { nil }
    /// The upper bound, which is included.
    public var __upper: (bound: Bound, isIncluded: Bool)? { (upperBound, true) }
}

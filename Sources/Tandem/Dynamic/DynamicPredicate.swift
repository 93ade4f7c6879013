/// A condition on objects by the names of their properties, as plain data.
///
/// For example:
///
/// ```swift
/// let isRich: DynamicPredicate = .compare("points", by: .greater, to: 100)
/// let cards = try store.objects(named: "Card")
///     .where(isRich && .text("shop", test: .beginsWith, operand: "лен") && !.isNil("owner"))
/// let same = try store.objects(named: "Card")
///     .where("points > 100 and shop beginsWith 'лен' and owner is not nil")
/// ```
///
/// Names and kinds are checked when a query gets the condition: an error lists the names that exist. The meaning is
/// that of ``Predicate``: comparisons with nil are Swift's, so that a condition is true or false, and never unknown.
///
/// ``init(_:)`` reads the text form, which <doc:OpeningWithoutTypes> describes.
public indirect enum DynamicPredicate: Hashable, Sendable {
    /// Always true, or always false.
    case constant(Bool)
    /// Holds if the operand does not hold.
    case not(DynamicPredicate)
    /// Holds if all operands hold.
    case all([DynamicPredicate])
    /// Holds if at least one operand holds.
    case any([DynamicPredicate])
    /// Holds if a `Bool` property is true.
    case isTrue(DynamicPath)
    /// Compares a property with a value.
    case compare(DynamicPath, by: DynamicComparison, to: DynamicValue)
    /// Compares two properties of the same kind.
    case compareProperties(DynamicPath, by: DynamicComparison, to: DynamicPath)
    /// Compares a `@Folded` text with another text without regard to case. It must be `equal` or `notEqual`.
    case compareFolded(DynamicPath, by: DynamicComparison, to: String)
    /// Holds if the property has one of the values.
    case `in`(DynamicPath, values: [DynamicValue])
    /// Tests a text.
    case text(DynamicPath, test: DynamicTextTest, operand: String, case: DynamicCase = .automatic)
    /// Holds if a searched text contains all words of another text, without regard to case, accents and punctuation.
    case matches(DynamicPath, words: String)
    /// Tests the objects of a list of references, or of inverse links.
    case linked(DynamicPath, quantifier: DynamicQuantifier, where: DynamicPredicate)
    /// Compares the number of linked objects, or of elements in a collection.
    case count(DynamicPath, by: DynamicComparison, to: Int)
    /// Holds if a collection contains a value, or if linked objects contain the object with a local ID.
    case contains(DynamicPath, value: DynamicValue)

    /// Returns a condition that holds if a property is nil.
    public static func isNil(_ path: DynamicPath) -> Self { .compare(path, by: .equal, to: .null) }

    /// Returns a condition that holds if both operands hold.
    public static func && (lhs: Self, rhs: Self) -> Self {
        switch (lhs, rhs) {
        case (.all(let left), .all(let right)): .all(left + right)
        case (.all(let left), _): .all(left + [rhs])
        default: .all([lhs, rhs])
        }
    }

    /// Returns a condition that holds if at least one operand holds.
    public static func || (lhs: Self, rhs: Self) -> Self {
        switch (lhs, rhs) {
        case (.any(let left), .any(let right)): .any(left + right)
        case (.any(let left), _): .any(left + [rhs])
        default: .any([lhs, rhs])
        }
    }

    /// Returns a condition that holds if the operand does not hold.
    public static prefix func ! (operand: Self) -> Self { .not(operand) }
}

/// A comparison in a ``DynamicPredicate``.
public enum DynamicComparison: String, Hashable, Sendable, CaseIterable {
    /// Equal.
    case equal = "=="
    /// Not equal.
    case notEqual = "!="
    /// Less.
    case less = "<"
    /// Less or equal.
    case lessOrEqual = "<="
    /// Greater.
    case greater = ">"
    /// Greater or equal.
    case greaterOrEqual = ">="

    var comparison: Comparison {
        switch self {
        case .equal: .equal
        case .notEqual: .notEqual
        case .less: .less
        case .lessOrEqual: .lessOrEqual
        case .greater: .greater
        case .greaterOrEqual: .greaterOrEqual
        }
    }

    var isEquality: Bool { self == .equal || self == .notEqual }
}

/// A test of a text in a ``DynamicPredicate``.
public enum DynamicTextTest: String, Hashable, Sendable, CaseIterable {
    /// The text begins with another one.
    case beginsWith
    /// The text ends with another one.
    case endsWith
    /// The text contains another one.
    case contains
    /// The text matches a pattern, in which `*` matches any number of scalars, and `?` matches one.
    case like
}

/// The treatment of upper and lower case by a test of a text.
public enum DynamicCase: String, Hashable, Sendable {
    /// `beginsWith` ignores case if the property is `@Folded`, and `contains` if it is searched. Other tests do not.
    case automatic
    /// The test ignores case. The property must have the keys for it.
    case ignored = "c"
    /// The test compares Unicode scalars.
    case exact = "s"
}

/// A quantifier over linked objects in a ``DynamicPredicate``.
public enum DynamicQuantifier: String, Hashable, Sendable, CaseIterable {
    /// At least one object.
    case any
    /// All objects, or there are none.
    case all
    /// None of the objects.
    case none

    var quantifier: Quantifier {
        switch self {
        case .any: .any
        case .all: .all
        case .none: .none
        }
    }
}

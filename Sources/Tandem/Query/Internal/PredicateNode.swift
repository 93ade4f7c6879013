/// A condition on objects as a tree of plain data, which can be compiled to SQL and evaluated in Swift.
///
/// Both evaluations are two-valued, and must satisfy these laws:
/// - `comparison`: Nil equals only nil, and is neither less nor greater. A NaN of `Double`, `Float` or `Date` does not
///   equal any value. Every NaN is neither less nor greater. Texts compare by their UTF-8 bytes.
/// - `text`, `inKeyRanges`, `isFolded`, `hasFirstLetter`, `matches`, `elementCount`, `elementsContain`: false
///   for nil.
/// - Through a reference that is nil, every column is nil, and every link is empty.
package indirect enum PredicateNode: Sendable {
    case constant(Bool)
    case not(PredicateNode)
    /// A conjunction, which is true if it is empty.
    case all([PredicateNode])
    /// A disjunction, which is false if it is empty.
    case any([PredicateNode])
    /// A `Bool` column used as a predicate.
    case isTrue(ColumnPath)
    case comparison(ColumnPath, by: Comparison, to: Operand)
    case among(ColumnPath, values: [StorageValue])
    /// Holds if the stored value is identical to this one. NULL is identical to NULL, and a NaN to a NaN with the same
    /// bits.
    case identical(ColumnPath, to: StorageValue)
    /// Holds if the stored value comes before or after this one in the order of the store. This value is not NULL.
    /// Every NaN comes after all numbers. False for nil.
    case ordered(ColumnPath, by: Comparison, to: StorageValue)
    case text(ColumnPath, test: TextTest, operand: String)
    /// Holds if a sort key is in one of some ranges. They are in their order, and do not overlap.
    case inKeyRanges(ColumnPath, ranges: [KeyRange])
    /// Compares a folded text without regard to case. The column is that of the text itself.
    case isFolded(ColumnPath, test: FoldedTest)
    /// Holds if a folded text belongs to the section of a letter. The column is that of the text itself.
    case hasFirstLetter(ColumnPath, collation: Collation, letter: String)
    case matches(ColumnPath, needle: SearchNeedle)
    case quantified(LinkPath, quantifier: Quantifier, where: PredicateNode)
    case linkCount(LinkPath, by: Comparison, to: Int)
    case linkContains(LinkPath, id: LocalID)
    /// Compares the number of elements in a collection of plain values.
    case elementCount(ColumnPath, by: Comparison, to: Int)
    /// Holds if a collection of plain values contains an element, which is given as exact JSON.
    case elementsContain(ColumnPath, element: String)

    /// Returns a conjunction, without a nesting level for each consecutive `&&`.
    static func and(_ lhs: PredicateNode, _ rhs: PredicateNode) -> PredicateNode {
        switch (lhs, rhs) {
        case (.all(let left), .all(let right)): .all(left + right)
        case (.all(let left), _): .all(left + [rhs])
        case (_, .all(let right)): .all([lhs] + right)
        default: .all([lhs, rhs])
        }
    }

    /// Returns a disjunction, without a nesting level for each consecutive `||`.
    static func or(_ lhs: PredicateNode, _ rhs: PredicateNode) -> PredicateNode {
        switch (lhs, rhs) {
        case (.any(let left), .any(let right)): .any(left + right)
        case (.any(let left), _): .any(left + [rhs])
        case (_, .any(let right)): .any([lhs] + right)
        default: .any([lhs, rhs])
        }
    }
}

package enum Comparison: Sendable {
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual

    /// The operator in SQL, between values that are not NULL.
    var sql: String {
        switch self {
        case .equal: "="
        case .notEqual: "<>"
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        }
    }
}

package enum Operand: Sendable {
    case value(StorageValue)
    case column(ColumnPath)
}

package enum TextTest: Sendable {
    case prefix, suffix, contains, like
}

package enum Quantifier: Sendable {
    case any, all, none
}

enum SortTerm: Sendable {
    case column(ColumnPath, ascending: Bool, nilsFirst: Bool)
    /// Puts the objects for which a predicate holds first.
    case matchingFirst(PredicateNode)
}

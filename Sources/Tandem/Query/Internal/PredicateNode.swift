/// What a query asks of each object, as a tree: plain data, that SQL is written from, and that can be evaluated in
/// Swift as well.
///
/// Both readings are two-valued. The laws that each must keep:
/// - `comparison`: nil equals nil only, and is neither less nor greater; a NaN of `Double`, `Float` or `Date` equals
///   nothing; every NaN is neither less nor greater; texts compare by their UTF-8 bytes.
/// - `text`, `matches`, `elementCount`, `elementsContain`: false for nil.
/// - through a reference that is nil every column is nil, and every link empty.
package indirect enum PredicateNode: Sendable {
    case constant(Bool)
    case not(PredicateNode)
    /// Whether all hold; true if there are none.
    case all([PredicateNode])
    /// Whether one holds; false if there are none.
    case any([PredicateNode])
    /// A `Bool` column used as a predicate.
    case isTrue(ColumnPath)
    case comparison(ColumnPath, Comparison, Operand)
    case among(ColumnPath, [StorageValue])
    /// Whether the stored value is this one: NULL is NULL, and a NaN the same NaN.
    case identical(ColumnPath, StorageValue)
    /// Whether the stored value comes before or after this one, which is not NULL, in the order of the store: every NaN
    /// comes after all numbers. False for nil.
    case ordered(ColumnPath, Comparison, StorageValue)
    case text(ColumnPath, TextTest, String)
    case matches(ColumnPath, SearchNeedle)
    case quantified(LinkPath, Quantifier, PredicateNode)
    case linkCount(LinkPath, Comparison, Int)
    case linkContains(LinkPath, LocalID)
    /// The number of elements of a collection of plain values.
    case elementCount(ColumnPath, Comparison, Int)
    /// Whether a collection of plain values has an element, which is given as exact JSON.
    case elementsContain(ColumnPath, String)

    /// Both, without a level for each `&&` in a row.
    static func and(_ lhs: PredicateNode, _ rhs: PredicateNode) -> PredicateNode {
        switch (lhs, rhs) {
        case (.all(let left), .all(let right)): .all(left + right)
        case (.all(let left), _): .all(left + [rhs])
        case (_, .all(let right)): .all([lhs] + right)
        default: .all([lhs, rhs])
        }
    }

    /// One or the other, without a level for each `||` in a row.
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

enum SortKey: Sendable {
    case column(ColumnPath, ascending: Bool, nilsFirst: Bool)
    /// The objects for which a predicate holds come first.
    case matchingFirst(PredicateNode)
}

/// The part of a query that routes changed rows to it: a condition on a single column that every row of its result
/// meets. A ``RouteIndex`` finds the conditions that a row meets.
///
/// The condition applies to the row itself, and not to rows that the query reads through a reference.
enum RouteCondition: Sendable {
    struct Bound: Sendable {
        let value: StorageValue
        let isIncluded: Bool
    }

    /// The column has one of the given values. If the list is empty, no row meets the condition.
    case equal(column: String, values: [StorageValue])
    /// The column's value is between two bounds. A row with NULL does not meet the condition.
    case range(column: String, lower: Bound?, upper: Bound?)

    /// Creates the condition that is probably met by the fewest rows. Returns `nil` if there is none.
    init?(_ query: QueryDescription) {
        guard query.base == nil, query.distinct.isEmpty else { return nil }
        var parts = Parts()
        for filter in query.filters { parts.add(filter) }
        if query.life == .deleted { parts.addEquality("deleted", values: [.integer(1)], rank: .flag) }
        guard let best = parts.best else { return nil }
        self = best
    }
}

extension RouteCondition {
    /// The conditions on the model's own columns that a predicate requires.
    private struct Parts {
        /// The selectivity of an equality, best first.
        enum Rank: Int {
            case unique, indexed, other, flag
        }

        private var equality: (rank: Rank, column: String, values: [StorageValue])?
        /// The ranges, in the order in which the predicate names the columns.
        private var ranges: [(column: String, lower: Bound?, upper: Bound?)] = []

        var best: RouteCondition? {
            if let equality, equality.rank != .flag || ranges.isEmpty {
                return .equal(column: equality.column, values: equality.values)
            }
            let closed = ranges.first { $0.lower != nil && $0.upper != nil }
            return (closed ?? ranges.first).map { .range(column: $0.column, lower: $0.lower, upper: $0.upper) }
        }

        mutating func addEquality(_ column: String, values: [StorageValue], rank: Rank) {
            if let equality, (equality.rank.rawValue, equality.values.count) <= (rank.rawValue, values.count) { return }
            equality = (rank, column, values)
        }

        mutating func add(_ node: PredicateNode) {
            switch node {
            case .all(let nodes):
                for node in nodes { add(node) }
            case .comparison(let path, let comparison, .value(let value)):
                guard path.steps.isEmpty, path.comparesAsBound(value) else { return }
                add(path, comparison: comparison, value: value)
            case .text(let path, .prefix, let prefix) where path.isOwnText:
                addPrefix(path, prefix: prefix)
            case .inKeyRanges(let path, let ranges) where path.steps.isEmpty: addEnclosing(path, ranges: ranges)
            case .text(let path, .like, let pattern) where path.isOwnText:
                let prefix = WildcardPattern(pattern).literalPrefix
                if !prefix.isEmpty { addPrefix(path, prefix: prefix) }
            default:
                if let (path, values) = Self.equality(node) {
                    addEquality(path.name, values: values, rank: Self.rank(path))
                }
            }
        }

        private mutating func add(_ path: ColumnPath, comparison: Comparison, value: StorageValue) {
            switch comparison {
            case .equal:
                if let (path, values) = Self.equality(.comparison(path, by: .equal, to: .value(value))) {
                    addEquality(path.name, values: values, rank: Self.rank(path))
                }
            case .notEqual: break
            case .less, .lessOrEqual, .greater, .greaterOrEqual:
                // No value is less or greater than these.
                if value == .null || path.encodesNaN(value) { return addEquality(path.name, values: [], rank: .unique) }
                let bound = Bound(value: value, isIncluded: comparison == .lessOrEqual || comparison == .greaterOrEqual)
                if comparison == .less || comparison == .lessOrEqual {
                    addRange(path.name, lower: nil, upper: bound)
                } else {
                    addRange(path.name, lower: bound, upper: nil)
                }
            }
        }

        private mutating func addPrefix(_ path: ColumnPath, prefix: String) {
            let end = ScalarText.prefixUpperBound(prefix).map { String(decoding: $0, as: UTF8.self) }
            addRange(
                path.name, lower: Bound(value: .text(prefix), isIncluded: true),
                upper: end.map { Bound(value: .text($0), isIncluded: false) })
        }

        /// Adds the range that encloses all of some ranges, which are in their order.
        private mutating func addEnclosing(_ path: ColumnPath, ranges: [KeyRange]) {
            guard let first = ranges.first, let last = ranges.last else {
                return addEquality(path.name, values: [], rank: .unique)
            }
            addRange(
                path.name, lower: Bound(value: .blob(first.lower), isIncluded: true),
                upper: last.upper.map { Bound(value: .blob($0), isIncluded: false) })
        }

        private mutating func addRange(_ column: String, lower: Bound?, upper: Bound?) {
            guard let index = ranges.firstIndex(where: { $0.column == column }) else {
                return ranges.append((column, lower, upper))
            }
            if let lower, lower.isTighter(than: ranges[index].lower, sign: 1) { ranges[index].lower = lower }
            if let upper, upper.isTighter(than: ranges[index].upper, sign: -1) { ranges[index].upper = upper }
        }

        /// Returns the values of a column that a predicate requires.
        private static func equality(_ node: PredicateNode) -> (path: ColumnPath, values: [StorageValue])? {
            switch node {
            case .isTrue(let path) where path.steps.isEmpty: return (path, [.integer(1)])
            case .comparison(let path, .equal, .value(let value))
            where path.steps.isEmpty && path.comparesAsBound(value):
                return (path, path.isFloating && path.encodesNaN(value) ? [] : [value])
            case .identical(let path, let value) where path.steps.isEmpty && path.comparesAsBound(value):
                return (path, [value])
            case .among(let path, let values) where path.steps.isEmpty && values.allSatisfy(path.comparesAsBound):
                return (path, values.filter { !(path.isFloating && path.encodesNaN($0)) })
            case .any(let nodes):
                // `$0.shop == "a" || $0.shop == "b"`
                let parts = nodes.map(equality)
                guard let first = parts.first ?? nil else { return nil }
                guard parts.allSatisfy({ $0?.path.name == first.path.name }) else { return nil }
                return (first.path, parts.flatMap { $0?.values ?? [] })
            default: return nil
            }
        }

        private static func rank(_ path: ColumnPath) -> Rank {
            guard let definition = path.definition else {
                if case .folded = path.column { return .indexed }
                return switch path.name {
                case "localID", "serverID": .unique
                case "synced", "deleted": .flag
                default: .other
                }
            }
            if definition.kind == .bool { return .flag }
            return definition.hasUniqueColumn ? .unique : definition.isIndexed || definition.isToOne ? .indexed : .other
        }
    }
}

extension RouteCondition.Bound {
    /// - Parameter sign: 1 for lower bounds, where the greater one is tighter, and -1 for upper bounds.
    fileprivate func isTighter(than other: Self?, sign: Int) -> Bool {
        guard let other else { return true }
        let order = BoundValue(other.value).order(of: BoundValue(value)) * sign
        return order > 0 || (order == 0 && !isIncluded)
    }
}

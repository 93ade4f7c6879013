/// Evaluates a filter for one row.
struct FilterEvaluator {
    /// Whether to evaluate as Azure Mobile Apps does.
    ///
    /// Azure has the logic of SQL: a comparison with null is unknown, and so is its negation. Datasync has that of C#:
    /// `x ne true` is true if x is null, and so is `not(x eq true)`.
    ///
    /// In Azure, all numbers are floating-point. In Datasync, a number without a point is an integer, and division of
    /// integers drops the fraction.
    let isAzure: Bool
    /// The server's time, in ticks.
    let now: Int64
    /// Returns the value of a row's column in its declared type.
    let column: (String) -> FilterValue
    /// Returns the value of a row's column as stored.
    let storedColumn: (String) -> FilterValue

    /// Returns whether the row matches the filter.
    func holds(_ filter: FilterNode) -> Bool {
        truth(filter, bound: nil) == true
    }

    /// Returns the value of a sort key.
    func value(_ node: FilterNode) -> FilterValue { value(node, bound: nil) }

    /// The element that the variable of an `any` or `all` is bound to.
    private typealias Binding = (name: String, element: JSONValue)

    /// Evaluates a condition. Returns `nil` for unknown, which only SQL's logic has.
    private func truth(_ node: FilterNode, bound: Binding?) -> Bool? {
        guard case .bool(let truth) = value(node, bound: bound) else { return unknown }
        return truth
    }

    private func value(_ node: FilterNode, bound: Binding?) -> FilterValue {
        switch node {
        case .literal(let value): return value
        case .path(let names): return value(at: names, bound: bound)
        case .not(let inner): return truth(inner, bound: bound).map { .bool(!$0) } ?? .null
        case .negative(let inner):
            switch value(inner, bound: bound) {
            case .integer(let value): return value == .min ? .real(-Double(value)) : .integer(-value)
            case .real(let value): return .real(-value)
            default: return .null
            }
        case .all(let parts): return joined(parts, bound: bound, ends: false)
        case .any(let parts): return joined(parts, bound: bound, ends: true)
        case .comparison(let left, let comparison, let right):
            return compare(left, by: comparison, to: right, bound: bound).map { .bool($0) } ?? .null
        case .arithmetic(let left, let operation, let right):
            return FilterArithmetic.compute(value(left, bound: bound), by: operation, with: value(right, bound: bound))
        case .among(let inner, let list):
            let inner = value(inner, bound: bound)
            return .bool(
                list.contains { element in
                    guard case .literal(let element) = element else { return false }
                    if case .null = inner, case .null = element { return true }
                    return FilterValue.compare(inner, element) == 0
                })
        case .call(let function, let arguments):
            let takesText = function.parameters.kinds.first == .text
            return function.call(
                arguments.map { takesText ? text($0, bound: bound) : value($0, bound: bound) }, now: now)
        case .cast(let inner, let type):
            return type.cast(type == .string ? text(inner, bound: bound) : value(inner, bound: bound))
        case .isOf(let inner, let type):
            if case .null = value(inner, bound: bound) { return .bool(false) }
            if case .null = type.cast(value(inner, bound: bound)) { return .bool(false) }
            return .bool(true)
        case .quantified(let path, let isAll, let variable, let condition):
            guard case .json(.array(let elements)) = value(at: path, bound: nil) else { return .bool(false) }
            guard let condition else { return .bool(!elements.isEmpty) }
            let matches = elements.lazy.map { truth(condition, bound: (variable, $0)) == true }
            return .bool(isAll ? matches.allSatisfy { $0 } : matches.contains(true))
        }
    }

    /// Returns the value for a text function. A declared date, time or duration is the text that the row holds, as
    /// clients read it.
    private func text(_ node: FilterNode, bound: Binding?) -> FilterValue {
        let value = value(node, bound: bound)
        switch (node, value) {
        case (.path(let names), .instant), (.path(let names), .day), (.path(let names), .time),
            (.path(let names), .duration):
            if case .text(let text)? = names.first.map(storedColumn) { return .text(text) }
            return value
        default: return value
        }
    }

    private func value(at names: [String], bound: Binding?) -> FilterValue {
        var names = names[...]
        guard let first = names.popFirst() else { return .null }
        var value: FilterValue =
            if let bound, bound.name == first {
                FilterValue(bound.element, hasIntegers: !isAzure)
            } else {
                column(first)
            }
        for name in names {
            guard case .json(.object(let object)) = value, let member = object[name] else { return .null }
            value = FilterValue(member, hasIntegers: !isAzure)
        }
        return value
    }

    /// Evaluates `and`, which ends at false, or `or`, which ends at true. The result is unknown if an unknown part does
    /// not end it.
    private func joined(_ parts: [FilterNode], bound: Binding?, ends: Bool) -> FilterValue {
        var isKnown = true
        for part in parts {
            switch truth(part, bound: bound) {
            case ends?: return .bool(ends)
            case nil: isKnown = false
            default: break
            }
        }
        return isKnown ? .bool(!ends) : .null
    }

    private func compare(
        _ left: FilterNode, by comparison: FilterComparison, to right: FilterNode, bound: Binding?
    ) -> Bool? {
        let (leftValue, rightValue) = (value(left, bound: bound), value(right, bound: bound))
        switch (leftValue, rightValue) {
        case (.null, .null):
            // In SQL too, `x eq null` tests whether x is null. Two null columns are not equal in SQL.
            if isAzure, !Self.isNull(left), !Self.isNull(right) { return nil }
            return comparison == .eq ? true : comparison == .ne ? false : unknown
        case (.null, _), (_, .null):
            let isAsked = !isAzure || Self.isNull(left) || Self.isNull(right)
            guard isAsked else { return nil }
            return comparison == .eq ? false : comparison == .ne ? true : unknown
        default: break
        }
        guard let order = FilterValue.compare(leftValue, rightValue) else { return comparison == .ne }
        return switch comparison {
        case .eq: order == 0
        case .ne: order != 0
        case .gt: order > 0
        case .ge: order >= 0
        case .lt: order < 0
        case .le: order <= 0
        }
    }

    private var unknown: Bool? { isAzure ? nil : false }

    private static func isNull(_ node: FilterNode) -> Bool {
        if case .literal(.null) = node { true } else { false }
    }
}

extension FilterArithmetic {
    /// Returns the result, or null if there is none. Integers that overflow become floating-point numbers, as in
    /// SQLite.
    static func compute(_ left: FilterValue, by operation: FilterArithmetic, with right: FilterValue) -> FilterValue {
        switch (left, operation, right) {
        case (.integer(let left), _, .integer(let right)): return integers(left, by: operation, with: right)
        case (.duration(let left), .add, .duration(let right)):
            return checked(left.addingReportingOverflow(right)).map { .duration($0) } ?? .null
        case (.duration(let left), .sub, .duration(let right)):
            return checked(left.subtractingReportingOverflow(right)).map { .duration($0) } ?? .null
        default: break
        }
        if let left = left.double, let right = right.double { return reals(left, by: operation, with: right) }
        guard let moment = left.instant else { return .null }
        switch (operation, right) {
        case (.add, .duration(let length)):
            return checked(moment.addingReportingOverflow(length)).map { .instant($0) } ?? .null
        case (.sub, .duration(let length)):
            return checked(moment.subtractingReportingOverflow(length)).map { .instant($0) } ?? .null
        case (.sub, _):
            guard let other = right.instant else { return .null }
            return checked(moment.subtractingReportingOverflow(other)).map { .duration($0) } ?? .null
        default: return .null
        }
    }

    private static func checked(_ result: (partialValue: Int64, overflow: Bool)) -> Int64? {
        result.overflow ? nil : result.partialValue
    }

    private static func integers(_ left: Int64, by operation: FilterArithmetic, with right: Int64) -> FilterValue {
        let exact =
            switch operation {
            case .add: left.addingReportingOverflow(right)
            case .sub: left.subtractingReportingOverflow(right)
            case .mul: left.multipliedReportingOverflow(by: right)
            case .div: left.dividedReportingOverflow(by: right)
            case .mod: left.remainderReportingOverflow(dividingBy: right)
            }
        if right == 0, operation == .div || operation == .mod { return .null }
        return checked(exact).map { .integer($0) } ?? reals(Double(left), by: operation, with: Double(right))
    }

    private static func reals(_ left: Double, by operation: FilterArithmetic, with right: Double) -> FilterValue {
        switch operation {
        case .add: .real(left + right)
        case .sub: .real(left - right)
        case .mul: .real(left * right)
        case .div: right == 0 ? .null : .real(left / right)
        case .mod: right == 0 ? .null : .real(left.truncatingRemainder(dividingBy: right))
        }
    }
}

/// A filter as a syntax tree.
indirect enum FilterNode: Sendable {
    case literal(FilterValue)
    /// The names of a member, or of a member of a member, or the variable of an `any` or `all`.
    case path([String])
    case not(FilterNode)
    case negative(FilterNode)
    /// The conjunction of all parts. It is a list, so that a long chain is not a deep tree.
    case all([FilterNode])
    case any([FilterNode])
    case comparison(FilterNode, by: FilterComparison, to: FilterNode)
    case arithmetic(FilterNode, by: FilterArithmetic, with: FilterNode)
    case among(FilterNode, values: [FilterNode])
    case call(FilterFunction, arguments: [FilterNode])
    case cast(FilterNode, to: FilterType)
    case isOf(FilterNode, type: FilterType)
    /// Tests whether a condition is true for one or for all elements of a list.
    case quantified(path: [String], isAll: Bool, variable: String, condition: FilterNode?)
}

enum FilterComparison: String, Sendable {
    case eq, ne, gt, ge, lt, le
}

enum FilterArithmetic: String, Sendable {
    case add, sub, mul, div, mod
}

/// The type of a cast or of a type test.
enum FilterType: String, Sendable {
    case boolean, string, guid, date, timeOfDay, dateTimeOffset, dateTime, duration, byte, sbyte
    case int16, int32, int64, single, double, decimal

    init?(name: String) {
        let folded = name.lowercased()
        let bare = folded.hasPrefix("edm.") ? String(folded.dropFirst(4)) : folded
        let all: [FilterType] = [
            .boolean, .string, .guid, .date, .timeOfDay, .dateTimeOffset, .dateTime, .duration, .byte, .sbyte, .int16,
            .int32, .int64, .single, .double, .decimal,
        ]
        guard let type = all.first(where: { $0.rawValue.lowercased() == bare }) else { return nil }
        self = type
    }

    var kind: FilterKind {
        switch self {
        case .boolean: .bool
        case .string: .text
        case .guid: .guid
        case .date: .day
        case .timeOfDay: .time
        case .dateTimeOffset, .dateTime: .instant
        case .duration: .duration
        case .byte, .sbyte, .int16, .int32, .int64, .single, .double, .decimal: .number
        }
    }
}

enum FilterFunction: String, Sendable, CaseIterable {
    case substringof, contains, startswith, endswith, indexof, substring, length, tolower, toupper, trim, concat,
        replace
    case year, month, day, hour, minute, second, fractionalseconds, date, time, now
    case round, floor, ceiling

    /// Returns whether servers of a dialect support the function.
    func isKnown(in grammar: FilterGrammar) -> Bool {
        switch self {
        case .substringof, .replace: grammar == .odata3
        case .contains, .fractionalseconds, .date, .time, .now: grammar == .odata4
        default: true
        }
    }

    /// The kinds of the parameters, and the number of required ones.
    var parameters: (kinds: [FilterKind], required: Int) {
        switch self {
        case .substringof, .contains, .startswith, .endswith, .indexof, .concat: ([.text, .text], 2)
        case .substring: ([.text, .number, .number], 2)
        case .replace: ([.text, .text, .text], 3)
        case .length, .tolower, .toupper, .trim: ([.text], 1)
        case .year, .month, .day, .hour, .minute, .second, .fractionalseconds, .date, .time: ([.instant], 1)
        case .round, .floor, .ceiling: ([.number], 1)
        case .now: ([], 0)
        }
    }

    var result: FilterKind {
        switch self {
        case .substringof, .contains, .startswith, .endswith: .bool
        case .indexof, .length, .year, .month, .day, .hour, .minute, .second, .fractionalseconds, .round, .floor,
            .ceiling:
            .number
        case .substring, .tolower, .toupper, .trim, .concat, .replace: .text
        case .date: .day
        case .time: .time
        case .now: .instant
        }
    }
}

/// The grammar of a filter.
enum FilterGrammar: Sendable {
    /// OData 2 and 3, of Azure Mobile Apps.
    case odata3
    /// OData 4, of Datasync.
    case odata4
}

/// The reason why a filter, or another query option, is refused.
struct FilterProblem: Error {
    enum Kind {
        /// The text does not match the grammar, or its types are incompatible.
        case malformed
        /// The text exceeds the limit for its length or depth.
        case limit
        /// The text is valid, but the emulated stores can't evaluate it.
        case untranslatable
        /// The text names a property that the table does not have.
        case unknownProperty
    }
    let kind: Kind
    let message: String
    /// The offset in the text in UTF-16 units, if known.
    let index: Int?

    init(_ message: String, at index: Int? = nil, kind: Kind = .malformed) {
        self.kind = kind
        self.message = message
        self.index = index
    }
}

extension FilterNode {
    /// Calls a function with the name of each column that the filter uses.
    func forEachColumn(_ body: (String) -> Void) {
        switch self {
        case .literal: break
        case .path(let names): names.first.map(body)
        case .not(let inner), .negative(let inner), .cast(let inner, _), .isOf(let inner, _): inner.forEachColumn(body)
        case .all(let parts), .any(let parts), .call(_, let parts): for part in parts { part.forEachColumn(body) }
        case .comparison(let left, _, let right), .arithmetic(let left, _, let right):
            left.forEachColumn(body)
            right.forEachColumn(body)
        case .among(let inner, _): inner.forEachColumn(body)
        case .quantified(let path, _, let variable, let condition):
            path.first.map(body)
            condition?.forEachColumn { name in if name != variable { body(name) } }
        }
    }
}

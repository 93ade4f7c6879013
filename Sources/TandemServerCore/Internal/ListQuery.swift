import Tandem

/// A client's request for a list of rows.
struct ListQuery {
    var filter: FilterNode?
    /// The sort keys before the ID, which is the last key of each order.
    var order: [(key: FilterNode, ascends: Bool)] = []
    var skip = 0
    var take: Int
    var includesTombstones = false
    /// Whether to count all matching rows.
    var counts = false

    struct Page {
        var rows: [ServedRow] = []
        /// The number of matching rows, if requested.
        var total: Int?
        var hasMore = false
    }

    /// Ends the iteration over rows early.
    private struct Enough: Error {}

    func page(_ tableRequest: TableRequest, in tx: ReadTransaction) throws -> Page {
        let candidates = candidates(tableRequest, in: tx)
        let (results, isSorted) = (candidates.results, candidates.isSorted)
        if candidates.isExact, tableRequest.table.view == nil, isSorted {
            // The store skips and counts without decoding a row.
            let rows = try results.offset(skip).limit(take + 1).all()
            return Page(
                rows: Array(rows.prefix(take)), total: counts ? try results.count() : nil, hasMore: rows.count > take)
        }
        let now = tableRequest.configuration.clock.milliseconds * WireDateText.ticksPerMillisecond
        let types = tableRequest.table.columnTypes
        var matches: [(row: ServedRow, keys: [FilterValue])] = []
        var number = 0
        do {
            try results.forEach { row in
                let columns = RowColumns(row, types: types, isAzure: tableRequest.isAzure)
                let evaluator = FilterEvaluator(
                    isAzure: tableRequest.isAzure, now: now, column: columns.value, storedColumn: columns.columnValue)
                let isMatch = try filter.map(evaluator.holds) != false && tableRequest.sees(row)
                let keys = isMatch && !isSorted ? order.map { evaluator.value($0.key) } : []
                if let problem = columns.problem { throw problem }
                guard isMatch else { return }
                number += 1
                if !isSorted || (number > skip && number <= skip + take) { matches.append((row, keys)) }
                if isSorted, !counts, number > skip + take { throw Enough() }
            }
        } catch is Enough {}
        if !isSorted {
            // The iteration is ordered by ID, and only this index makes the sort stable.
            matches = matches.enumerated().sorted { left, right in
                for (index, key) in order.enumerated() {
                    let order = FilterValue.sorts(left.element.keys[index], before: right.element.keys[index])
                    if order != 0 { return key.ascends ? order < 0 : order > 0 }
                }
                return left.offset < right.offset
            }.map(\.element)
            matches = Array(matches.dropFirst(skip).prefix(take))
        }
        return Page(rows: matches.map(\.row), total: counts ? number : nil, hasMore: number > skip + take)
    }

    /// The part of a list query that the store can evaluate.
    struct Candidates {
        var results: Results<ServedRow>
        /// Whether the results have the requested order.
        var isSorted = true
        /// Whether all results match the filter.
        var isExact = true
    }

    /// Returns the candidate rows. The store evaluates the filter's plain conditions on ID and time.
    func candidates(_ tableRequest: TableRequest, in tx: ReadTransaction) -> Candidates {
        let name = tableRequest.name
        var candidates = Candidates(results: tx.objects(ServedRow.self).where { $0.table == name })
        func narrow(_ predicate: (ServedRow.Columns) -> Predicate<ServedRow>) {
            candidates.results = candidates.results.where(predicate)
        }
        if !includesTombstones { narrow { $0.isTombstone == false } }
        if tableRequest.table.isPerUser {
            let user = tableRequest.user ?? ""
            narrow { $0.user == user }
        }
        for condition in conditions {
            guard let predicate = Self.predicate(condition) else {
                candidates.isExact = false
                continue
            }
            narrow { _ in predicate }
        }
        switch order.map({ $0.ascends ? $0.key.name ?? "" : "" }) {
        case [], ["id"]: candidates.results = candidates.results.sorted(by: \.key)
        case ["updatedat"], ["updatedat", "id"]:
            candidates.results = candidates.results.sorted(by: .ascending(\.changed), .ascending(\.key))
        default:
            candidates.results = candidates.results.sorted(by: \.key)
            candidates.isSorted = false
        }
        return candidates
    }

    /// Returns the equivalent predicate of the store, or `nil` if only a decoded row can be tested.
    private static func predicate(_ condition: FilterNode) -> Predicate<ServedRow>? {
        guard case .comparison(let column, let comparison, .literal(let bound)) = condition else { return nil }
        let columns = ServedRow.Columns()
        switch (column.name, comparison, bound) {
        case ("id", .eq, .text(let id)): return columns.key == id
        case ("id", .gt, .text(let id)): return columns.key > id
        case ("id", .ge, .text(let id)): return columns.key >= id
        case ("id", .lt, .text(let id)): return columns.key < id
        case ("id", .le, .text(let id)): return columns.key <= id
        case ("updatedat", _, _):
            // Rows have whole milliseconds, and a client may ask for a time in between.
            guard let ticks = bound.instant else { return nil }
            let (whole, rest) = ticks.quotientAndRemainder(flooringBy: WireDateText.ticksPerMillisecond)
            let ceiling = rest == 0 ? whole : whole + 1
            return switch comparison {
            case .gt: columns.changed > whole
            case .ge: columns.changed >= ceiling
            case .lt: columns.changed < ceiling
            case .le: columns.changed <= whole
            case .eq, .ne: nil
            }
        default: return nil
        }
    }

    /// The necessary conditions: the parts of the top-level `and`.
    private var conditions: [FilterNode] {
        var open = filter.map { [$0] } ?? []
        var conditions: [FilterNode] = []
        while let node = open.popLast() {
            switch node {
            case .all(let parts): open += parts
            case .comparison(let left, let comparison, .cast(.literal(let value), let type)):
                conditions.append(.comparison(left, by: comparison, to: .literal(type.cast(value))))
            default: conditions.append(node)
            }
        }
        return conditions
    }
}

extension FilterNode {
    /// The column's name in lower case, if the node is a column.
    fileprivate var name: String? {
        if case .path(let names) = self, names.count == 1 { names[0].lowercased() } else { nil }
    }
}

/// A row's columns for the evaluation of a filter. The members are decoded on first use.
private final class RowColumns {
    private let row: ServedRow
    /// The declared types, by names in lower case.
    private let types: [String: ServerColumnType]
    private let isAzure: Bool
    private var members: JSONObject?
    /// The error from decoding the members, if any.
    private(set) var problem: (any Error)?

    init(_ row: ServedRow, types: [String: ServerColumnType], isAzure: Bool) {
        self.row = row
        self.types = types
        self.isAzure = isAzure
    }

    /// The column's value in its declared type.
    func value(_ name: String) -> FilterValue {
        let folded = name.lowercased()
        if let system = system(folded) { return system }
        let value = member(name)
        return types[folded]?.typed(value) ?? value
    }

    /// The column's value as the row holds it.
    func columnValue(_ name: String) -> FilterValue { system(name.lowercased()) ?? member(name) }

    private func system(_ folded: String) -> FilterValue? {
        switch folded {
        case "id": .text(row.key)
        case "updatedat": .instant(row.changed * WireDateText.ticksPerMillisecond)
        case "createdat" where isAzure: .instant(row.made * WireDateText.ticksPerMillisecond)
        case "version": .text(row.stamp)
        case "deleted": .bool(row.isTombstone)
        default: nil
        }
    }

    private func member(_ name: String) -> FilterValue {
        if members == nil {
            do { members = try row.members() } catch {
                problem = error
                members = JSONObject()
            }
        }
        guard let members else { return .null }
        let value = members[name] ?? members.name(ignoringCase: name).flatMap { members[$0] }
        return value.map { FilterValue($0, hasIntegers: !isAzure) } ?? .null
    }
}

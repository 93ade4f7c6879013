import Synchronization

@testable import Tandem

/// Counts of the events in the histories of a run.
struct OracleTally: Sendable {
    private(set) var counts: [String: Int] = [:]

    mutating func note(_ name: String, _ count: Int = 1) { counts[name, default: 0] += count }

    mutating func add(_ other: OracleTally) { counts.merge(other.counts, uniquingKeysWith: +) }

    /// Counts each operator of a query.
    mutating func note(_ query: QueryDescription) {
        for filter in query.filters { note(filter) }
        for key in query.order {
            switch key {
            case .column(let path, let ascending, let nilsFirst):
                note("order \(path.steps.isEmpty ? "own" : "joined")")
                note("order \(ascending ? "ascending" : "descending")")
                note("order nils \(nilsFirst ? "first" : "last")")
            case .matchingFirst(let node):
                note("order matchingFirst")
                note(node)
            }
        }
        if query.order.count > 1 { note("order several keys") }
        if !query.distinct.isEmpty { note("query distinct") }
        if query.limit != nil { note("query limit") }
        if query.offset > 0 { note("query offset") }
        if query.observed != nil { note("query observing") }
        switch LiveList.Upkeep(query) {
        case .rows: note("upkeep rows")
        case .joined: note("upkeep joined")
        case .requery: note("upkeep requery")
        }
        if let base = query.base {
            note("query nested")
            note(base.query)
        } else {
            note("query \(query.life)")
        }
    }

    private mutating func note(_ filter: PredicateNode) {
        filter.visit { node in
            let name: String
            switch node {
            case .constant: name = "constant"
            case .not: name = "not"
            case .all: name = "and"
            case .any: name = "or"
            case .isTrue: name = "isTrue"
            case .comparison(let path, let comparison, let operand):
                if !path.steps.isEmpty { counts["filter joined", default: 0] += 1 }
                if case .column = operand { counts["filter of two columns", default: 0] += 1 }
                name = "\(comparison)"
            case .among: name = "in"
            case .identical: name = "identical"
            case .ordered: name = "ordered"
            case .text(_, let test, _): name = "\(test)"
            case .inKeyRanges: name = "key ranges"
            case .isFolded: name = "folded"
            case .hasFirstLetter: name = "first letter"
            case .matches: name = "matches"
            case .quantified(_, let quantifier, _): name = "links \(quantifier)"
            case .linkCount: name = "links count"
            case .linkContains: name = "links contains"
            case .elementCount: name = "elements count"
            case .elementsContain: name = "elements contains"
            }
            counts["filter \(name)", default: 0] += 1
        }
    }

    /// The events that must occur in a run of many histories.
    static let expected: Set<String> = Set(
        [
            "constant", "not", "and", "or", "isTrue", "joined", "of two columns", "equal", "notEqual", "less",
            "lessOrEqual", "greater", "greaterOrEqual", "in", "prefix", "suffix", "contains", "like", "matches",
            "links any", "links all", "links none", "links count", "links contains", "elements count",
            "elements contains",
        ].map { "filter \($0)" }
            + [
                "own", "joined", "ascending", "descending", "nils first", "nils last", "matchingFirst", "several keys",
            ].map { "order \($0)" }
            + ["distinct", "limit", "offset", "observing", "nested", "live", "deleted", "any"].map { "query \($0)" }
            + ["rows", "joined", "requery"].map { "upkeep \($0)" }
            + PublisherKind.allCases.map { "publisher \($0)" } + Delivery.allCases.map { "scheduler \($0)" }
            + Asking.allCases.map { "asking \($0)" } + ActKind.allCases.map { "change \($0)" }
            + CommitKind.allCases.map { "commit \($0)" } + WorldKind.allCases.map { "world \($0)" }
            + [
                "delivery", "merged delivery", "cancel", "cancel in a delivery",
                "subscribe in a delivery", "subscribe in a transaction", "write in a delivery", "store memory",
                "store file", "store encrypted", "store sqlCipher", "sections by first letter", "filter over links",
                "order over links",
            ])

    /// The expected events that did not occur.
    var missing: [String] { Self.expected.filter { counts[$0, default: 0] == 0 }.sorted() }

    var text: String {
        counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
}

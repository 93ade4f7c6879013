import Foundation
import Tandem
import TandemSync

extension ScriptedRemote {
    /// Returns a page of a table's items.
    static func page(_ request: PageRequest, of items: [RemoteItem]) -> RemotePage {
        let filtered = items.filter { item in
            (request.includeDeleted || !item.isDeleted) && (request.filter.map { item.passes($0) } ?? true)
        }
        let ordered: [RemoteItem]
        switch request.order {
        case .updatedAt(let from):
            ordered = filtered.filter { item in
                guard let from else { return true }
                return item.updatedAt.map { $0 >= from } ?? false
            }.sorted { ($0.microseconds, $0.id.rawValue) < ($1.microseconds, $1.id.rawValue) }
        case .id(let after):
            ordered = filtered.filter { item in after.map { item.id.rawValue > $0.rawValue } ?? true }
                .sorted { $0.id.rawValue < $1.id.rawValue }
        }
        let rest = ordered.dropFirst(request.skip)
        return RemotePage(
            items: Array(rest.prefix(request.top)), hasMore: rest.count > request.top,
            count: request.wantsCount ? filtered.count : nil)
    }
}

extension RemoteItem {
    fileprivate var microseconds: Int64 {
        updatedAt.map { $0.seconds * 1_000_000 + $0.nanoseconds / 1000 } ?? .min
    }

    /// Returns whether a filter matches the item.
    func passes(_ filter: RemoteFilter) -> Bool {
        switch filter {
        case .constant(let value): value
        case .not(let part): !passes(part)
        case .all(let parts): parts.allSatisfy(passes)
        case .any(let parts): parts.contains(where: passes)
        case .isNull(let member): value(of: member) == .null
        case .comparison(let member, let comparison, let other):
            Self.holds(comparison, lhs: value(of: member), rhs: Self.node(other))
        case .members(let lhs, let comparison, let rhs):
            Self.holds(comparison, lhs: value(of: lhs), rhs: value(of: rhs))
        case .among(let member, let values):
            values.contains { Self.holds(.equal, lhs: value(of: member), rhs: Self.node($0)) }
        case .text(let member, let test, let part):
            if case .text(let text) = value(of: member) { Self.holds(test, text: text, part: part) } else { false }
        }
    }

    private func value(of member: RemoteFilter.Member) -> JSONNode {
        switch member {
        case .id: .text(id.rawValue)
        case .updatedAt: updatedAt.map { .text($0.text) } ?? .null
        case .createdAt: createdAt.map { .text($0.text) } ?? .null
        case .deleted: .bool(isDeleted)
        default: self[member: member.name] ?? .null
        }
    }

    private static func node(_ value: RemoteFilter.Value) -> JSONNode {
        switch value {
        case .bool(let value): .bool(value)
        case .integer(let value): .integer(value)
        case .real(let value): .real(value)
        case .text(let value): .text(value)
        case .time(let value): .text(value.text)
        }
    }

    private static func holds(_ test: RemoteFilter.TextTest, text: String, part: String) -> Bool {
        switch test {
        case .prefix: text.hasPrefix(part)
        case .suffix: text.hasSuffix(part)
        case .contains: text.contains(part)
        }
    }

    private static func holds(_ comparison: RemoteFilter.Comparison, lhs: JSONNode, rhs: JSONNode) -> Bool {
        switch comparison {
        case .equal: return order(lhs, rhs) == 0
        case .notEqual: return order(lhs, rhs) != 0
        case .less: return order(lhs, rhs).map { $0 < 0 } ?? false
        case .lessOrEqual: return order(lhs, rhs).map { $0 <= 0 } ?? false
        case .greater: return order(lhs, rhs).map { $0 > 0 } ?? false
        case .greaterOrEqual: return order(lhs, rhs).map { $0 >= 0 } ?? false
        }
    }

    /// Compares two values. Returns `nil` if they are neither ordered nor equal.
    private static func order(_ lhs: JSONNode, _ rhs: JSONNode) -> Int? {
        func compare<T: Comparable>(_ lhs: T, _ rhs: T) -> Int { lhs < rhs ? -1 : lhs > rhs ? 1 : 0 }
        switch (lhs, rhs) {
        case (.null, .null): return 0
        case (.bool(let lhs), .bool(let rhs)): return lhs == rhs ? 0 : nil
        case (.integer(let lhs), .integer(let rhs)): return compare(lhs, rhs)
        case (.real(let lhs), .real(let rhs)): return compare(lhs, rhs)
        case (.integer(let lhs), .real(let rhs)): return compare(Double(lhs), rhs)
        case (.real(let lhs), .integer(let rhs)): return compare(lhs, Double(rhs))
        case (.text(let lhs), .text(let rhs)):
            if let lhs = WireTimestamp(lhs), let rhs = WireTimestamp(rhs) { return compare(lhs, rhs) }
            return compare(lhs, rhs)
        default: return nil
        }
    }
}

import Foundation
import HTTPTypes
import Tandem

extension FakeKinto {
    /// A condition of a query, as Kinto reads it.
    private struct Condition {
        let word: String
        let field: String
        let values: [JSONNode]
    }

    private static let words = [
        "lt", "min", "max", "not", "eq", "gt", "in", "exclude", "like", "has", "contains_any", "contains",
    ]

    /// Responds to a list by the rules of Kinto on PostgreSQL.
    func list(_ collection: Collection, _ request: HTTPRequest, query: String, state: State) throws -> Response {
        var fields: HTTPFields = [.eTag: "\"\(collection.time)\""]
        if request.headerFields[.ifNoneMatch] == fields[.eTag] { return Response(status: 304, fields: fields) }
        var conditions: [Condition] = []
        var (since, limit, sort, only): (Int64?, Int, String, [String]?) = (nil, state.pageMaximum, "", nil)
        var seen: Set<String> = []
        for option in query.split(separator: "&") {
            let sides = option.split(separator: "=", maxSplits: 1).map(String.init)
            guard sides.count == 2, let value = sides[1].removingPercentEncoding, seen.insert(sides[0]).inserted else {
                throw Self.invalid(String(option), "Repeated or without a value")
            }
            switch sides[0] {
            case "_since":
                guard let time = Int64(value), time <= state.now + 86_400_000 else {
                    throw Self.invalid("_since", "Invalid value for _since")
                }
                since = time
            case "_limit": limit = min(try Self.number(value), state.pageMaximum)
            case "_sort": sort = value
            case "_fields": only = value.split(separator: ",").map(String.init)
            case let name where name.hasPrefix("_"): throw Self.invalid(name, "Unknown option")
            default: conditions.append(try Self.condition(sides[0], value))
            }
        }
        let comparesTime = since != nil || conditions.contains { $0.field == "last_modified" }
        var found = collection.records.filter { id, record in
            if record.isDeleted, !comparesTime { return false }
            if let since, record.time <= since { return false }
            let node = Self.node(of: record, id: id)
            return conditions.allSatisfy { Self.holds($0, for: node) }
        }.map { $0 }
        if request.method == .head {
            fields[.init("Total-Records")!] = String(found.count { !$0.value.isDeleted })
            return Response(fields: fields, body: .object([]))
        }
        switch sort {
        case "last_modified": found.sort { $0.value.time < $1.value.time }
        case "id": found.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        case "": found.sort { $0.value.time > $1.value.time }
        default: throw Self.invalid("_sort", "Unknown sort field")
        }
        if found.count > limit { fields[.init("Next-Page")!] = "http://internal:8888/v1/next?_token=x" }
        let nodes = found.prefix(limit).map { id, record in
            let node = Self.node(of: record, id: id)
            guard let only, case .object(let members) = node else { return node }
            return .object(members.filter { only.contains($0.key) || ["id", "last_modified"].contains($0.key) })
        }
        return Response(fields: fields, body: .object([("data", .array(nodes))]))
    }

    private static func number(_ text: String) throws -> Int {
        guard let number = Int(text), number > 0 else { throw invalid("_limit", "Invalid") }
        return number
    }

    private static func condition(_ name: String, _ value: String) throws -> Condition {
        var (word, field) = ("eq", name)
        for candidate in words where name.hasPrefix("\(candidate)_") {
            (word, field) = (candidate, String(name.dropFirst(candidate.utf8.count + 1)))
            break
        }
        // Python splits at each comma, also if a combining accent follows.
        let parts = value.unicodeScalars.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        let texts = word == "in" || word == "exclude" ? parts : [value]
        let values = try texts.map { text in
            var text = text
            // Kinto reads anything that is not JSON as a text. A client that relies on it would lose types.
            guard let node = text.withUTF8({ try? ExactJSON.parseWire($0) }) else { throw invalid(name, "Not JSON") }
            return node
        }
        guard word != "like" || values.allSatisfy({ if case .text = $0 { true } else { false } }) else {
            throw invalid(name, "Invalid value for \(name)")
        }
        return Condition(word: word, field: field, values: values)
    }

    /// Returns whether a condition holds. A missing member is greater than any other value.
    private static func holds(_ condition: Condition, for record: JSONNode) -> Bool {
        guard case .object(let members) = record, let right = condition.values.first else { return false }
        let left = members[condition.field]
        let order = left.map { compare($0, right) } ?? 1
        switch condition.word {
        case "eq": return left != nil && order == 0
        case "not": return order != 0
        case "lt": return left != nil && order < 0
        case "max": return left != nil && order <= 0
        case "gt": return order > 0
        case "min": return order >= 0
        case "in": return left.map { left in condition.values.contains { compare(left, $0) == 0 } } ?? false
        case "exclude": return left.map { left in !condition.values.contains { compare(left, $0) == 0 } } ?? true
        case "has": return (left != nil) == (right == .bool(true))
        case "like":
            guard case .text(let text)? = left, case .text(let pattern) = right else { return false }
            let parts = pattern.components(separatedBy: "*").map(NSRegularExpression.escapedPattern)
            return text.range(
                of: "^\(parts.joined(separator: ".*"))$", options: [.regularExpression, .caseInsensitive]) != nil
        default: return false
        }
    }

    /// Compares values as PostgreSQL's jsonb: null, texts, numbers, Booleans, arrays, objects.
    private static func compare(_ lhs: JSONNode, _ rhs: JSONNode) -> Int {
        func rank(_ node: JSONNode) -> Int {
            switch node {
            case .null: 0
            case .text: 1
            case .integer, .real, .blob: 2
            case .bool: 3
            case .array: 4
            case .object: 5
            }
        }
        guard rank(lhs) == rank(rhs) else { return rank(lhs) < rank(rhs) ? -1 : 1 }
        switch (lhs, rhs) {
        case (.text(let lhs), .text(let rhs)):
            if Array(lhs.utf8) == Array(rhs.utf8) { return 0 }
            return lhs.utf8.lexicographicallyPrecedes(rhs.utf8) ? -1 : 1
        case (.bool(let lhs), .bool(let rhs)): return lhs == rhs ? 0 : rhs ? -1 : 1
        case (.integer(let lhs), .integer(let rhs)): return lhs == rhs ? 0 : lhs < rhs ? -1 : 1
        default:
            let (left, right) = (number(lhs), number(rhs))
            return left == right ? 0 : left < right ? -1 : 1
        }
    }

    private static func number(_ node: JSONNode) -> Double {
        switch node {
        case .integer(let value): Double(value)
        case .real(let value): value
        default: 0
        }
    }
}

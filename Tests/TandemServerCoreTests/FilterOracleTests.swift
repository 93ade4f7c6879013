import Foundation
import TandemServerCore
import TandemTesting
import TestSupport
import Testing

/// Random filters, compared with the same conditions in Swift.
@Suite(.ownThreads) struct FilterOracleTests {
    /// The conditions of a filter. Its text in each dialect and its meaning derive from them independently.
    private indirect enum Condition {
        case number(String, Double)
        case text(String, String)
        case flag(Bool)
        case isNull(String, Bool)
        case prefix(String, String)
        case part(String)
        case length(String, Int)
        case sum(Double, String, Double)
        case not(Condition)
        case and(Condition, Condition)
        case or(Condition, Condition)
    }

    private struct Item {
        var n: Double?
        var text: String?
        var done: Bool?
    }

    private static let texts = ["", "a", "A", "it's", "лента", "Лента", "大润发", "😀", "é", "e\u{301}", "a b", "''"]
    private static let comparisons = ["eq", "ne", "gt", "ge", "lt", "le"]

    @Test(arguments: [ServerDialect.azureMobileApps, .datasync], ServerFixture.seeds)
    func `filters find the same rows as Swift`(dialect: ServerDialect, seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let server = try ServerFixture(dialect)
        var items: [Item] = []
        for index in 0..<40 {
            let item = Item(
                n: chance(4, &random) ? nil : Double(Int.random(in: -12...12, using: &random)) / 4,
                text: chance(4, &random) ? nil : Self.texts.randomElement(using: &random),
                done: chance(3, &random) ? nil : Bool.random(using: &random))
            items.append(item)
            let text = item.text.map { "\"\($0)\"" } ?? "null"
            let n = item.n.map { "\($0)" } ?? "null"
            let done = item.done.map { "\($0)" } ?? "null"
            await server.send(
                .post, "/tables/t", [:], "{\"id\":\"\(100 + index)\",\"n\":\(n),\"text\":\(text),\"done\":\(done)}")
        }
        var found = 0
        for _ in 0..<120 {
            let condition = condition(3, &random)
            let filter = text(condition, dialect)
            let response = await server.list("t", ["$filter": filter, "$top": "100"])
            let expected = items.indices.filter { holds(condition, items[$0], dialect) == true }.map { "\(100 + $0)" }
            #expect(response.status == 200)
            #expect(response.ids == expected, "seed \(seed): \(filter)")
            found += expected.count
        }
        // Guards against trivial filters.
        #expect(found > 1000 && found < 120 * 40 - 1000)
    }

    private func chance(_ sides: Int, _ random: inout SeededGenerator) -> Bool {
        Int.random(in: 0..<sides, using: &random) == 0
    }

    private func condition(_ depth: Int, _ random: inout SeededGenerator) -> Condition {
        let number = Double(Int.random(in: -12...12, using: &random)) / 4
        let word = Self.texts.randomElement(using: &random) ?? ""
        let comparison = Self.comparisons.randomElement(using: &random) ?? "eq"
        switch Int.random(in: 0..<(depth > 0 ? 14 : 8), using: &random) {
        case 0: return .number(comparison, number)
        case 1: return .text(comparison, word)
        case 2: return .flag(Bool.random(using: &random))
        case 3: return .isNull(["n", "text", "done"].randomElement(using: &random) ?? "n", Bool.random(using: &random))
        case 4: return .prefix(["startswith", "endswith"].randomElement(using: &random) ?? "", word)
        case 5: return .part(word)
        case 6: return .length(comparison, Int.random(in: 0...5, using: &random))
        case 7: return .sum(Double(Int.random(in: -3...3, using: &random)), comparison, number)
        case 8, 9: return .not(condition(depth - 1, &random))
        case 10, 11: return .and(condition(depth - 1, &random), condition(depth - 1, &random))
        default: return .or(condition(depth - 1, &random), condition(depth - 1, &random))
        }
    }

    private func text(_ condition: Condition, _ dialect: ServerDialect) -> String {
        func literal(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }
        return switch condition {
        case .number(let comparison, let number): "n \(comparison) \(number)"
        case .text(let comparison, let word): "text \(comparison) \(literal(word))"
        case .flag(let isTrue): isTrue ? "done" : "done eq false"
        case .isNull(let name, let isNull): "\(name) \(isNull ? "eq" : "ne") null"
        case .prefix(let function, let word): "\(function)(text,\(literal(word)))"
        case .part(let word):
            dialect == .datasync ? "contains(text, \(literal(word)))" : "substringof(\(literal(word)), text)"
        case .length(let comparison, let length): "length(text) \(comparison) \(length)"
        case .sum(let left, let comparison, let right): "n add \(left) \(comparison) \(right)"
        case .not(let inner): "not (\(text(inner, dialect)))"
        case .and(let left, let right): "(\(text(left, dialect))) and (\(text(right, dialect)))"
        case .or(let left, let right): "((\(text(left, dialect))) or (\(text(right, dialect))))"
        }
    }

    /// Evaluates a condition. Returns `nil` if it is unknown in SQL.
    private func holds(_ condition: Condition, _ item: Item, _ dialect: ServerDialect) -> Bool? {
        let isSQL = dialect == .azureMobileApps
        func compare<T: Comparable>(_ value: T?, _ comparison: String, _ other: T) -> Bool? {
            guard let value else { return isSQL ? nil : comparison == "ne" }
            return switch comparison {
            case "eq": value == other
            case "ne": value != other
            case "gt": value > other
            case "ge": value >= other
            case "lt": value < other
            default: value <= other
            }
        }
        func test(_ body: (String) -> Bool) -> Bool? { item.text.map(body) ?? (isSQL ? nil : false) }
        switch condition {
        case .number(let comparison, let number): return compare(item.n, comparison, number)
        case .text(let comparison, let word):
            return compare(item.text.map(Bytes.init), comparison, Bytes(word))
        case .flag(let isTrue): return item.done.map { $0 == isTrue } ?? (isSQL ? nil : false)
        case .isNull(let name, let isNull):
            return (name == "n" ? item.n == nil : name == "text" ? item.text == nil : item.done == nil) == isNull
        case .prefix("startswith", let word): return test { Bytes($0).bytes.starts(with: word.utf8) }
        case .prefix(_, let word): return test { Array($0.utf8.suffix(word.utf8.count)) == Array(word.utf8) }
        case .part(let word):
            return test { text in
                let (text, word) = (Array(text.utf8), Array(word.utf8))
                return word.isEmpty
                    || text.indices.contains { Array(text[$0...].prefix(word.count)) == word }
            }
        case .length(let comparison, let length):
            return compare(item.text.map { ($0 as NSString).length }, comparison, length)
        case .sum(let left, let comparison, let right): return compare(item.n.map { $0 + left }, comparison, right)
        case .not(let inner): return holds(inner, item, dialect).map { !$0 }
        case .and(let left, let right):
            let sides = [holds(left, item, dialect), holds(right, item, dialect)]
            return sides.contains(false) ? false : sides.contains(nil) ? nil : true
        case .or(let left, let right):
            let sides = [holds(left, item, dialect), holds(right, item, dialect)]
            return sides.contains(true) ? true : sides.contains(nil) ? nil : false
        }
    }

    /// A text with byte order.
    private struct Bytes: Comparable {
        let bytes: [UInt8]
        init(_ text: String) { bytes = Array(text.utf8) }
        static func < (lhs: Bytes, rhs: Bytes) -> Bool { lhs.bytes.lexicographicallyPrecedes(rhs.bytes) }
    }
}

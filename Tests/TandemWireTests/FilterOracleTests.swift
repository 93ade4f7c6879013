import DatasyncWire
import Tandem
import TandemSync
import TandemTesting
import TestSupport
import Testing

/// Random filters on random rows with many nulls. A server that evaluates the text finds the same rows as the filter
/// itself, with either logic.
@Suite(.ownThreads) struct FilterOracleTests {
    private typealias Row = [String: ReferenceFilterEvaluator.Value]

    private static let numbers = [
        RemoteFilter.Member("a"), .init("b", isOptional: true), .init("c", isOptional: true),
    ]
    private static let texts = [RemoteFilter.Member("s"), .init("t", isOptional: true)]

    private static func row(_ random: inout SeededGenerator) -> Row {
        var row: Row = ["id": .text("x")]
        for member in numbers + texts {
            if member.isOptional, Int.random(in: 0..<3, using: &random) == 0 {
                row[member.name] = .null
            } else if member.name < "d" {
                row[member.name] = .number(Double(Int.random(in: 0...2, using: &random)))
            } else {
                row[member.name] = .text(["", "a'", "a", "'"].randomElement(using: &random) ?? "")
            }
        }
        return row
    }

    private static func filter(_ depth: Int, _ random: inout SeededGenerator) -> RemoteFilter {
        func pick<T>(_ values: [T]) -> T { values[Int.random(in: values.indices, using: &random)] }
        let number = pick(numbers)
        let text = pick(texts)
        let comparison = pick(RemoteFilter.Comparison.allCases)
        switch Int.random(in: 0..<(depth == 0 ? 7 : 10), using: &random) {
        case 0: return .comparison(number, by: comparison, to: .integer(Int64.random(in: 0...2, using: &random)))
        case 1: return .members(number, by: comparison, to: pick(numbers))
        case 2: return .comparison(text, by: pick([.equal, .notEqual]), to: .text(pick(["", "a'", "'"])))
        case 3: return .isNull(pick(numbers + texts))
        case 4: return .among(number, values: [.real(0), .integer(2)])
        case 5: return .text(text, test: pick(RemoteFilter.TextTest.allCases), operand: pick(["a", "'"]))
        case 6: return .constant(Bool.random(using: &random))
        case 7: return .not(filter(depth - 1, &random))
        case 8: return .all((0...2).map { _ in filter(depth - 1, &random) })
        default: return .any((0...1).map { _ in filter(depth - 1, &random) })
        }
    }

    /// Returns whether the filter matches the row, by the filter's specification.
    private static func holds(_ filter: RemoteFilter, _ row: Row) -> Bool {
        func value(_ member: RemoteFilter.Member) -> ReferenceFilterEvaluator.Value { row[member.name] ?? .null }
        func literal(_ value: RemoteFilter.Value) -> ReferenceFilterEvaluator.Value {
            switch value {
            case .bool(let value): .bool(value)
            case .integer(let value): .number(Double(value))
            case .real(let value): .number(value)
            case .text(let text): .text(text)
            case .time(let time): .text(time.text)
            }
        }
        func compare(
            _ left: ReferenceFilterEvaluator.Value, _ comparison: RemoteFilter.Comparison,
            _ right: ReferenceFilterEvaluator.Value
        ) -> Bool {
            switch comparison {
            case .equal: return left == right
            case .notEqual: return left != right
            default: break
            }
            guard case (.number(let left), .number(let right)) = (left, right) else { return false }
            return switch comparison {
            case .less: left < right
            case .lessOrEqual: left <= right
            case .greater: left > right
            default: left >= right
            }
        }
        switch filter {
        case .constant(let value): return value
        case .not(let inner): return !holds(inner, row)
        case .all(let parts): return parts.allSatisfy { holds($0, row) }
        case .any(let parts): return parts.contains { holds($0, row) }
        case .isNull(let member): return value(member) == .null
        case .comparison(let member, let comparison, let other):
            return compare(value(member), comparison, literal(other))
        case .members(let left, let comparison, let right): return compare(value(left), comparison, value(right))
        case .among(let member, let values): return values.map(literal).contains(value(member))
        case .text(let member, let test, let part):
            guard case .text(let text) = value(member) else { return false }
            return switch test {
            case .prefix: text.hasPrefix(part)
            case .suffix: text.hasSuffix(part)
            case .contains: text.contains(part)
            }
        }
    }

    @Test(arguments: Wire.allCases, ReferenceFilterEvaluator.Logic.allCases)
    func `a server finds the same rows as the filter`(wire: Wire, logic: ReferenceFilterEvaluator.Logic) throws {
        let seed = SeededGenerator.seed(from: "TANDEM_SEED")
        var random = SeededGenerator(seed: seed)
        var taken = 0
        for _ in 0..<400 {
            let filter = Self.filter(3, &random)
            let text = try FilterWriter(wire.dialect).text(filter) ?? "(id ne null)"
            for _ in 0..<5 {
                let row = Self.row(&random)
                let expected = Self.holds(filter, row)
                taken += expected ? 1 : 0
                let actual = try ReferenceFilterEvaluator.passes(text, row, logic)
                #expect(actual == expected, "seed \(seed): \(text) on \(row)")
            }
        }
        #expect((200...1800).contains(taken), "seed \(seed): the rows tell the filters apart")
    }
}

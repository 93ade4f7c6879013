import Foundation
import TandemTesting

@testable import Tandem

extension QueryWorld {
    func order(_ random: inout SeededGenerator) -> [PairedOrder] {
        (0..<Int.random(in: 0...3, using: &random)).map { _ in orderKey(&random) }
    }

    private func orderKey(_ random: inout SeededGenerator) -> PairedOrder {
        switch Int.random(in: 0..<9, using: &random) {
        case 0: return key("text", \.text, { $0.text }, folded, &random)
        case 1: return key("nickname", \.nickname, { $0.nickname }, folded, &random)
        case 2: return key("code", \.code, { $0.code }, scalarOrder, &random)
        case 3: return key("ratio", \.ratio, { $0.ratio }, numbers, &random)
        case 4: return key("day", \.day, { $0.day?.timeIntervalSinceReferenceDate }, numbers, &random)
        case 5: return key("amount", \.amount, { $0.amount }, { $0 < $1 ? -1 : $0 == $1 ? 0 : 1 }, &random)
        case 6: return key("unsigned", \.unsigned, { $0.unsigned }, { $0 < $1 ? -1 : $0 == $1 ? 0 : 1 }, &random)
        case 7: return key("owner.name", \.owner.name, { owner($0.owner)?.name }, folded, &random)
        default:
            return PairedOrder(
                text: "matchingFirst tags.any isNew", descriptor: .matchingFirst { $0.tags.any { $0.isNew } }
            ) {
                func rank(_ thing: Thing) -> Int { tags(of: thing).contains(where: \.isNew) ? 0 : 1 }
                return rank($0) - rank($1)
            }
        }
    }

    private func folded(_ lhs: String, _ rhs: String) -> Int {
        let collation = Collation(language: .root, isNumeric: false)
        let (left, right) = (collation.key(for: lhs), collation.key(for: rhs))
        return left.lexicographicallyPrecedes(right) ? -1 : left == right ? 0 : 1
    }

    /// NaN is greater than all numbers. The NaNs in the test differ in their sign, and sort by their bits.
    private func numbers(_ lhs: Double, _ rhs: Double) -> Int {
        switch (lhs.isNaN, rhs.isNaN) {
        case (true, true): lhs.bitPattern < rhs.bitPattern ? -1 : lhs.bitPattern == rhs.bitPattern ? 0 : 1
        case (true, false): 1
        case (false, true): -1
        case (false, false): lhs < rhs ? -1 : lhs == rhs ? 0 : 1
        }
    }

    private func key<P: PropertyExpression, Value>(
        _ name: String, _ path: KeyPath<Thing.Columns, P>, _ get: @escaping (Thing) -> Value?,
        _ order: @escaping (Value, Value) -> Int, _ random: inout SeededGenerator
    ) -> PairedOrder where P.Root == Thing {
        let ascending = random.chance(50)
        let nilsFirst = random.chance(50)
        let descriptor: SortKey<Thing> =
            ascending
            ? .ascending(path, nils: nilsFirst ? .first : .last) : .descending(path, nils: nilsFirst ? .first : .last)
        return PairedOrder(text: "\(name) \(ascending) \(nilsFirst)", descriptor: descriptor) { left, right in
            switch (get(left), get(right)) {
            case (nil, nil): 0
            case (nil, _?): nilsFirst ? -1 : 1
            case (_?, nil): nilsFirst ? 1 : -1
            case (let left?, let right?): ascending ? order(left, right) : order(right, left)
            }
        }
    }
}

import Foundation
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

@Suite("Interval index", .ownThreads)
struct IntervalIndexTests {
    @Test func `random intervals are found by a value in them`() throws {
        let seed = SeededGenerator.seed(from: "TANDEM_SEED")
        print("random intervals: TANDEM_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        func point(_ random: inout SeededGenerator) -> (StorageValue, Bool) {
            (.integer(Int64.random(in: 0...30, using: &random)), random.chance(50))
        }
        for _ in 0..<50 {
            var index = IntervalIndex()
            var intervals: [Int: (low: (StorageValue, Bool), high: (StorageValue, Bool)?)] = [:]
            for id in 0..<60 {
                if random.chance(25), let old = intervals.keys.sorted().randomElement(using: &random) {
                    index.remove(old)
                    intervals[old] = nil
                    continue
                }
                let low = point(&random)
                let high = random.chance(80) ? point(&random) : nil
                intervals[id] = (low, high)
                index.insert(
                    id, from: IntervalIndex.Point(low.0, isAfter: low.1),
                    to: high.map { IntervalIndex.Point($0.0, isAfter: $0.1) })
                for value in -1...31 {
                    var found: [Int] = []
                    index.find(.integer(Int64(value))) { found.append($0) }
                    func isBefore(_ point: (StorageValue, Bool)) -> Bool {
                        guard case .integer(let other) = point.0 else { return false }
                        return other < value || (other == value && !point.1)
                    }
                    let expected = intervals.filter { isBefore($1.low) && !($1.high.map(isBefore) ?? false) }.keys
                    try #require(found.sorted() == expected.sorted(), "seed \(seed), \(value)")
                }
            }
        }
    }

    @Test func `a long interval does not cause a scan of the others`() {
        var index = IntervalIndex()
        index.insert(-1, from: IntervalIndex.Point(.null, isAfter: true), to: nil)
        for id in 0..<1000 {
            index.insert(
                id, from: IntervalIndex.Point(.integer(Int64(id)), isAfter: false),
                to: IntervalIndex.Point(.integer(Int64(id + 1)), isAfter: false))
        }
        var found: [Int] = []
        index.find(.real(500.5)) { found.append($0) }
        #expect(found.sorted() == [-1, 500])
    }
}

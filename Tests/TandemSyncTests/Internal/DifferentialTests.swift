import Foundation
import LocalStoreSupport
import Tandem
import TestSupport
import Testing

@testable import TandemSync

/// Tandem's store and the in-memory one execute the same random calls, and must have the same content.
@Suite(.ownThreads) struct DifferentialTests {
    /// Seeds that failed once.
    @Test(arguments: [1, 2, 3, 17_554_641_288_276_920_995] as [UInt64])
    func `both stores behave alike for a known seed`(seed: UInt64) async throws {
        try await play(seed, hasPages: false)
        try await play(seed)
    }

    @Test func `both stores behave alike for random seeds`() async throws {
        let environment = ProcessInfo.processInfo.environment
        if let one = environment["TANDEM_SEED"].flatMap({ UInt64($0) }) { return try await play(one) }
        let rounds = isSoak ? 3_000 : 20
        let first = UInt64.random(in: 0...UInt64.max)
        for round in 0..<rounds { try await play(first &+ UInt64(round)) }
        print("local stores compared over \(rounds) histories from seed \(first)")
    }

    private struct Differs: Error {}

    private func play(_ seed: UInt64, hasPages: Bool = true) async throws {
        let pair = try StorePair()
        var acts = RandomActs(seed: seed, hasPages: hasPages)
        var history: [String] = []
        func same(_ left: [String], _ right: [String]) throws {
            guard left != right else { return }
            let ours = left.filter { !right.contains($0) }.map { "  tandem: \($0)" }
            let theirs = right.filter { !left.contains($0) }.map { "  memory: \($0)" }
            Issue.record(
                """
                TANDEM_SEED=\(seed)\(hasPages ? "" : " without pages"), step \(history.count):
                \(history.suffix(12).joined(separator: "\n"))
                \((ours + theirs).joined(separator: "\n"))
                """)
            throw Differs()
        }
        for _ in 0..<80 {
            let (chosen, next) = try await pair.memory.read { [acts] local in
                var acts = acts
                return (try acts.next(local), acts)
            }
            acts = next
            history.append(chosen.name)
            pair.clock.advance(by: 1)
            let (tandem, memory) = await pair.both(newID: LocalID("new\(history.count)"), chosen.body)
            history[history.count - 1] += " -> \(tandem)"
            try same([tandem], [memory])
            let dumps = try await pair.dumps()
            try same(dumps.tandem, dumps.memory)
            try same(try pair.tandem.checkIntegrity().map { "\($0)" }, [])
        }
    }
}

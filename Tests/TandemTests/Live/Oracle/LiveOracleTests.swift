import Dispatch
import Foundation
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Random histories. After each commit, each subscription shows its query's current result, and its change sets applied
/// in order give the same.
@Suite(.ownThreads) struct LiveOracleTests {
    /// `TANDEM_HISTORIES` overrides the number.
    private static let count =
        ProcessInfo.processInfo.environment["TANDEM_HISTORIES"].flatMap { Int($0) } ?? (isSoak ? 20_000 : 1_000)

    @Test func `published values equal the query's current result`() async {
        let seed = Dice.seeded("live histories").seed
        let start = Date()
        let (failed, counts) = await Self.firstFailure(seeds: (0..<UInt64(Self.count)).map { seed &+ $0 })
        if let failed { return Self.report(failed) }
        print("live histories: \(Self.count) in \(Int(Date().timeIntervalSince(start))) s; \(counts.text)")
        if Self.count >= 1_000 { #expect(counts.missing.isEmpty, "never occurred: \(counts.missing)") }
    }

    @Test func `histories that failed once pass`() async {
        let (failed, _) = await Self.firstFailure(seeds: LiveOracleCorpus.seeds)
        if let failed { Self.report(failed) }
    }

    @Test(arguments: LiveFault.allCases)
    func `each planted fault is found`(_ fault: LiveFault) async {
        // The run begins with the histories that are known to show it and then tries all others.
        let known = LiveOracleCorpus.firstHistory(showing: fault)
        let seeds = (0..<1_500).map { 7_000_000 + UInt64(($0 + known) % 1_500) }
        let (found, _) = await Self.firstFailure(seeds: seeds, patience: 5, planter: { FaultPlanter(fault) })
        #expect(found != nil, "\(fault) was not found in 1,500 histories")
        if let found { print("\(fault): history \(found.number + 1): \((found.problems.first ?? "").prefix(200))") }
    }

    /// Otherwise the planter itself could fail the histories of each fault.
    @Test func `a planter without a fault fails no history`() async {
        let seeds = (0..<100).map { 7_000_000 + UInt64($0) }
        let (failed, _) = await Self.firstFailure(seeds: seeds, planter: { FaultPlanter(nil) })
        #expect(failed == nil, "history \(failed?.number ?? 0): \(failed?.problems.first ?? "")")
    }

    // MARK: Running

    private struct Failure: Sendable {
        let number: Int
        let history: OracleHistory
        let problems: [String]
    }

    /// The state that the runners share.
    private final class Runs: Sendable {
        let next = Atomic<Int>(0)
        let failure = Mutex<Failure?>(nil)
        let tally = Mutex(OracleTally())
    }

    /// Runs histories on two separate threads until one fails. They block, so they can't use the threads of tasks.
    ///
    /// - Parameters:
    ///   - patience: The number of seconds to wait for work in progress.
    ///   - makePlanter: Makes the planter of a history's fault.
    private static func firstFailure(
        seeds: [UInt64], patience: Double = 60, planter makePlanter: (@Sendable () -> FaultPlanter)? = nil
    ) async -> (Failure?, OracleTally) {
        let runs = Runs()
        let group = DispatchGroup()
        for _ in 0..<2 {
            group.enter()
            Thread.detachNewThread {
                while runs.failure.withLock({ $0 == nil }) {
                    let number = runs.next.add(1, ordering: .relaxed).oldValue
                    guard number < seeds.count else { break }
                    let history = OracleHistory(seed: seeds[number])
                    let (problems, counts) = run(history, makePlanter?(), patience: patience)
                    runs.tally.withLock { $0.add(counts) }
                    guard !problems.isEmpty else { continue }
                    runs.failure.withLock { $0 = $0 ?? Failure(number: number, history: history, problems: problems) }
                }
                group.leave()
            }
        }
        await withCheckedContinuation { done in
            group.notify(queue: DispatchQueue(label: "oracle.done")) { done.resume() }
        }
        return (runs.failure.withLock { $0 }, runs.tally.withLock { $0 })
    }

    private static func run(
        _ history: OracleHistory, _ planter: FaultPlanter? = nil, patience: Double = 60
    ) -> ([String], OracleTally) {
        do {
            let run = try OracleRun(history, planter: planter, patience: patience)
            return (try run.run(), run.tally)
        } catch {
            return (["\(error)"], OracleTally())
        }
    }

    /// Reduces the failing history and prints the rest.
    private static func report(_ failure: Failure) {
        print("TANDEM_SEED=\(failure.history.seed) fails: \(failure.problems.prefix(3).joined(separator: "\n"))")
        var shortest = failure
        var runs = 0
        func fails(_ history: OracleHistory) -> Bool {
            runs += 1
            let (problems, _) = run(history, patience: 3)
            if problems.isEmpty || runs > 300 { return false }
            shortest = Failure(number: failure.number, history: history, problems: problems)
            return true
        }
        var length = failure.history.steps.count / 2
        while length > 0 {
            var start = 0
            while start + length <= shortest.history.steps.count {
                if !fails(shortest.history.without(start..<start + length)) { start += length }
            }
            length /= 2
        }
        for (index, step) in shortest.history.steps.enumerated().reversed() {
            guard case .commit(var commit) = step else { continue }
            for act in commit.acts.indices.reversed() where commit.acts.count > 1 {
                var fewer = commit
                fewer.acts.remove(at: act)
                var history = shortest.history
                history.steps[index] = .commit(fewer)
                if fails(history) { commit = fewer }
            }
        }
        Issue.record(
            """
            TANDEM_SEED=\(failure.history.seed) fails:
            \(failure.problems.joined(separator: "\n"))
            ---- shrunk to
            \(shortest.history.text)
            ---- which fails:
            \(shortest.problems.joined(separator: "\n"))
            """)
    }
}

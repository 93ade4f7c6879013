import Dispatch
import Foundation
import Synchronization
import TandemTesting
import TestSupport
import Testing

@testable import Tandem

/// Random histories: after each commit what each subscription shows is what its query answers afresh, and what its
/// change sets say, applied in order.
@Suite(.ownThreads) struct LiveOracleTests {
    /// `TANDEM_HISTORIES` says otherwise.
    private static let count =
        ProcessInfo.processInfo.environment["TANDEM_HISTORIES"].flatMap { Int($0) } ?? (isSoak ? 20_000 : 1_000)

    @Test func `what is published is what the query answers afresh`() async {
        let seed = Dice.seeded("live histories").seed
        let start = Date()
        let (failed, counts) = await Self.firstFailure(seeds: (0..<UInt64(Self.count)).map { seed &+ $0 })
        if let failed { return Self.report(failed) }
        print("live histories: \(Self.count) in \(Int(Date().timeIntervalSince(start))) s; \(counts.text)")
        if Self.count >= 1_000 { #expect(counts.missing.isEmpty, "never occurred: \(counts.missing)") }
    }

    @Test func `histories that once failed`() async {
        let (failed, _) = await Self.firstFailure(seeds: LiveOracleCorpus.seeds)
        if let failed { Self.report(failed) }
    }

    #if DEBUG
        @Test(arguments: LiveFault.allCases)
        func `each planted fault is found`(_ fault: LiveFault) async {
            // Begin with the histories that are known to show it, then try all others.
            let known = LiveOracleCorpus.firstHistory(showing: fault)
            let seeds = (0..<1_500).map { 7_000_000 + UInt64(($0 + known) % 1_500) }
            let (found, _) = await Self.firstFailure(seeds: seeds, fault: fault)
            #expect(found != nil, "\(fault) was not found in 1,500 histories")
            if let found { print("\(fault): history \(found.number + 1): \((found.problems.first ?? "").prefix(200))") }
        }
    #endif

    // MARK: Running

    private struct Failure: Sendable {
        let number: Int
        let history: OracleHistory
        let problems: [String]
    }

    /// What the runners share.
    private final class Runs: Sendable {
        let next = Atomic<Int>(0)
        let failure = Mutex<Failure?>(nil)
        let tally = Mutex(OracleTally())
    }

    /// Runs histories on two threads until one fails: not on those that tasks run on, for which a history waits.
    private static func firstFailure(seeds: [UInt64], fault: LiveFault? = nil) async -> (Failure?, OracleTally) {
        let runs = Runs()
        let group = DispatchGroup()
        for _ in 0..<2 {
            group.enter()
            Thread.detachNewThread {
                while runs.failure.withLock({ $0 == nil }) {
                    let number = runs.next.add(1, ordering: .relaxed).oldValue
                    guard number < seeds.count else { break }
                    let history = OracleHistory(seed: seeds[number])
                    let (problems, counts) = run(history, fault, patience: fault == nil ? 60 : 5)
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
        _ history: OracleHistory, _ fault: LiveFault? = nil, patience: Double = 60
    ) -> ([String], OracleTally) {
        do {
            let run = try OracleRun(history, fault: fault, patience: patience)
            return (try run.run(), run.tally)
        } catch {
            return (["\(error)"], OracleTally())
        }
    }

    /// Leaves out what the failure does not need, and says what is left.
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

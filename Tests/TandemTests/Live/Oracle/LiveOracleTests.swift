import Dispatch
import Foundation
import Synchronization
import TandemTesting
import Testing

@testable import Tandem

/// Random histories: after each commit what each subscription shows is what its query answers afresh, and what its
/// change sets say, applied in order.
@Suite struct LiveOracleTests {
    private static let isSoak = ProcessInfo.processInfo.environment["TANDEM_SOAK"] == "1"
    private static let count =
        ProcessInfo.processInfo.environment["TANDEM_HISTORIES"].flatMap { Int($0) } ?? (isSoak ? 60_000 : 3_000)

    @Test func `what is published is what the query answers afresh`() throws {
        let seed = Dice.seeded("live histories").seed
        let tally = Mutex(OracleTally())
        let failed = Self.firstFailure(seeds: (0..<UInt64(Self.count)).map { seed &+ $0 }, tally: tally)
        if let failed { return Self.report(failed) }
        let counts = tally.withLock { $0 }
        print("live histories: \(Self.count); \(counts.text)")
        if Self.count >= 1_000 { #expect(counts.missing.isEmpty, "never occurred: \(counts.missing)") }
    }

    @Test(arguments: LiveOracleCorpus.seeds)
    func `a history that once failed`(_ seed: UInt64) throws {
        if let failed = Self.firstFailure(seeds: [seed], tally: Mutex(OracleTally())) { Self.report(failed) }
    }

    #if DEBUG
        @Test(arguments: LiveFault.allCases)
        func `each planted fault is found`(_ fault: LiveFault) throws {
            let found = Self.firstFailure(
                seeds: (0..<2_000).map { 7_000_000 + $0 }, fault: fault, tally: Mutex(OracleTally()))
            #expect(found != nil, "\(fault) was not found in 2,000 histories")
            if let found { print("\(fault) found after \(found.number + 1) histories: \(found.problems.first ?? "")") }
        }
    #endif

    // MARK: Running

    private struct Failure: Sendable {
        let number: Int
        let history: OracleHistory
        let problems: [String]
    }

    /// Runs histories on two threads until one fails.
    private static func firstFailure(
        seeds: [UInt64], fault: LiveFault? = nil, tally: borrowing Mutex<OracleTally>
    ) -> Failure? {
        let next = Atomic<Int>(0)
        let failure = Mutex<Failure?>(nil)
        let total = Mutex(OracleTally())
        DispatchQueue.concurrentPerform(iterations: 2) { _ in
            while failure.withLock({ $0 == nil }) {
                let number = next.add(1, ordering: .relaxed).oldValue
                guard number < seeds.count else { return }
                let history = OracleHistory(seed: seeds[number])
                let (problems, counts) = run(history, fault)
                total.withLock { $0.add(counts) }
                guard !problems.isEmpty else { continue }
                failure.withLock { $0 = $0 ?? Failure(number: number, history: history, problems: problems) }
            }
        }
        let counts = total.withLock { $0 }
        tally.withLock { $0.add(counts) }
        return failure.withLock { $0 }
    }

    private static func run(_ history: OracleHistory, _ fault: LiveFault? = nil) -> ([String], OracleTally) {
        do {
            let run = try OracleRun(history, fault: fault)
            return (try run.run(), run.tally)
        } catch {
            return (["\(error)"], OracleTally())
        }
    }

    /// Leaves out what the failure does not need, and says what is left.
    private static func report(_ failure: Failure) {
        var shortest = failure
        var runs = 0
        func fails(_ history: OracleHistory) -> Bool {
            runs += 1
            let (problems, _) = run(history)
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

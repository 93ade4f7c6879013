import Foundation
import Synchronization
import Tandem
import TandemTesting
import TestSupport
import Testing

/// Random histories of several devices and a server. See ``Simulation``.
///
/// `TANDEM_HISTORIES` sets the number of histories (100, or with `TANDEM_SOAK` as many as fit into 900 seconds, at
/// least 1,000). `TANDEM_SEED` sets the first seed, `TANDEM_SIM_LIKE` the mistake that histories are made for, and
/// `TANDEM_SIM_BATCHES` the size of batches.
/// `TANDEM_LOGS` prints the events of each history.
@Suite(.ownThreads, .serialized) struct SimulationTests {
    @Test func `all devices equal the server at the end of every history`() async throws {
        let environment = ProcessInfo.processInfo.environment
        let limit = environment["TANDEM_HISTORIES"].flatMap { Int($0) } ?? (isSoak ? .max : 100)
        let first = environment["TANDEM_SEED"].flatMap { UInt64($0) } ?? (isSoak ? .random(in: 0...(.max / 2)) : 1)
        // A slow machine takes longer, and runs as many.
        let least = min(1000, limit)
        let end = Date().addingTimeInterval(900)
        let tally = SimTally(limit: limit, mostFailures: 3)
        try await onAllCores(tally) { number in
            guard number < least || Date() < end else { return nil }
            return try await passes(first &+ UInt64(number))
        }
        let count = tally.count
        print("simulation: \(count) histories from seed \(first)")
        #expect(count >= least || tally.failures > 0)
    }

    /// Operations of a batch fail together, or each for itself.
    @Test(arguments: [2, 5])
    func `all devices equal the server at the end of histories with batches`(limit: Int) async throws {
        let tally = SimTally(limit: isSoak ? 1_000 : 25, mostFailures: 3)
        let first: UInt64 = isSoak ? .random(in: 0...(.max / 2)) : 1
        let batches = Mutex(0)
        try await onAllCores(tally) { number in
            try await passes(first &+ UInt64(number), batchLimit: limit) { outcome in
                let count = outcome.history.filter { $0.contains("batch of") }.count
                batches.withLock { $0 += count }
            }
        }
        let count = batches.withLock { $0 }
        print("simulation: \(tally.count) histories with \(count) batches of \(limit) from seed \(first)")
        #expect(count > 0 || tally.failures > 0)
    }

    @Test func `a seed gives the same history with batches in each run`() async throws {
        for seed in 1...(isSoak ? 100 : 5) as ClosedRange<UInt64> {
            let one = try await Simulation.run(seed, batchLimit: 5).history
            let other = try await Simulation.run(seed, batchLimit: 5).history
            let isSame = one == other
            let difference = zip(one, other).first { $0 != $1 }
            #expect(isSame, "seed \(seed): \(difference.map { "\($0)\n\($1)" } ?? "one is longer")")
        }
    }

    /// Seeds that failed once. The history of a seed changes with the simulation's random draws. Each fix therefore has
    /// its own regression test.
    @Test(arguments: [1, 69, 1850, 2259, 3492, 11_300] as [UInt64])
    func `seeds that failed once pass`(seed: UInt64) async throws {
        _ = try await passes(seed)
    }

    /// Without this, a seed would not reproduce a failure. It holds for any number of requests in flight.
    @Test func `a seed gives the same history in each run`() async throws {
        for seed in 1...(isSoak ? 1_000 : 10) as ClosedRange<UInt64> {
            let (one, other) = (try await Simulation.run(seed).history, try await Simulation.run(seed).history)
            let isOne = one == other
            let difference = zip(one, other).first { $0 != $1 }
            #expect(isOne, "seed \(seed): \(difference.map { "\($0)\n\($1)" } ?? "one is longer")")
        }
    }

    /// Each mistake must show within a number of histories, and none of them may fail without it.
    @Test(arguments: SimMistake.allCases) func `the simulation finds an injected mistake`(
        _ mistake: SimMistake
    ) async throws {
        let tally = SimTally(limit: SimMistake.histories, mostFailures: 1)
        try await onAllCores(tally) { number in
            // Begin just before the history that is known to show it, then try all others.
            let seed = UInt64((number + mistake.knownHistory) % SimMistake.histories) + 1
            guard try await !Simulation.run(seed, mistake: mistake).problems.isEmpty else { return true }
            let problems = try await Simulation.run(seed, provokedFor: mistake).problems
            #expect(problems == [], "seed \(seed) without \(mistake)")
            return false
        }
        #expect(tally.failures > 0, "\(mistake) was not found in \(SimMistake.histories) histories")
        print("simulation: \(mistake) found among \(tally.count) histories")
    }

    /// Runs histories by their numbers, one per core at a time, until the tally is complete.
    ///
    /// - Parameter passes: A closure that returns whether a history passes, or `nil` to end.
    private func onAllCores(
        _ tally: SimTally, _ passes: @escaping @Sendable (Int) async throws -> Bool?
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<ProcessInfo.processInfo.activeProcessorCount {
                group.addTask {
                    while let number = tally.next(), let isRight = try await passes(number) {
                        if !isRight { tally.noteFailure() }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func passes(
        _ seed: UInt64, batchLimit: Int? = nil, _ observe: (Simulation.Outcome) -> Void = { _ in }
    ) async throws -> Bool {
        let environment = ProcessInfo.processInfo.environment
        let provoked = environment["TANDEM_SIM_LIKE"].flatMap { SimMistake(rawValue: $0) }
        let limit = batchLimit ?? environment["TANDEM_SIM_BATCHES"].flatMap { Int($0) } ?? 1
        let outcome = try await Simulation.run(seed, provokedFor: provoked, batchLimit: limit)
        observe(outcome)
        if ProcessInfo.processInfo.environment["TANDEM_LOGS"] != nil {
            print(outcome.history.joined(separator: "\n"))
        }
        guard !outcome.problems.isEmpty else { return true }
        Issue.record(
            """
            seed \(seed): \(outcome.plan)
            \(outcome.problems.joined(separator: "\n"))
            Its log: TANDEM_SEED=\(seed) TANDEM_SIM_BATCHES=\(limit) TANDEM_HISTORIES=1 TANDEM_LOGS=1.
            """)
        return false
    }
}

/// The progress of several threads through the histories.
private final class SimTally: Sendable {
    private let limit: Int
    private let mostFailures: Int
    private let state = Mutex((count: 0, failures: 0))

    init(limit: Int, mostFailures: Int) {
        self.limit = limit
        self.mostFailures = mostFailures
    }

    /// Returns the next number, or `nil` at the end.
    func next() -> Int? {
        state.withLock { state in
            guard state.count < limit, state.failures < mostFailures else { return nil }
            defer { state.count += 1 }
            return state.count
        }
    }

    func noteFailure() { state.withLock { $0.failures += 1 } }
    var count: Int { state.withLock { $0.count } }
    var failures: Int { state.withLock { $0.failures } }
}

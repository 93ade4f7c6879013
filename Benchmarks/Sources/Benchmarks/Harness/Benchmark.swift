/// A task for Tandem and its baselines. Each has its own implementation, and all must have the same outcome.
///
/// For example:
///
/// ```swift
/// Benchmark("point-read") { context in
///     let store = try context.preparedStore()
///     return Contest(subject: tandem(store), baselines: [raw(store), grdb(store)])
/// }
/// ```
struct Benchmark: Sendable {
    /// The task's name. Names stay unchanged, so that results of different years can be compared.
    let name: String
    /// Prepares the data that all rounds share. Not timed.
    let makeContest: @Sendable (Context) throws -> Contest

    init(_ name: String, _ makeContest: @escaping @Sendable (Context) throws -> Contest) {
        self.name = name
        self.makeContest = makeContest
    }
}

/// The contenders of a task: the measured one, and its baselines.
struct Contest {
    let subject: Contender
    let baselines: [Contender]
    /// The maximum ratios, by the baselines' names.
    var bounds: [String: Double] = [:]
    /// The other measurements, in words. Requested after all rounds.
    var notes: () throws -> [String] = { [] }
    /// Other contenders for the task, with their own baselines.
    var beside: [Contest] = []
    /// Returns conclusions from all results, including those of `beside`, in words.
    var judge: ([Comparison]) -> [String] = { _ in [] }
}

/// An implementation of a task, which runs in rounds.
struct Contender {
    let name: String
    /// Runs before each round. Not timed.
    var prepare: () throws -> Void = {}
    /// Runs a round.
    var run: () throws -> Void
    /// Returns the cost of the last round in seconds, if it is not the elapsed time.
    var cost: (() -> Double)?
    /// Runs after each round, and frees its data. Not timed.
    var finish: () throws -> Void = {}
    /// Returns a short description of the data read or written. Requested after the warm-up, between `run` and
    /// `finish`. It must be equal for all contenders, as proof of the same work.
    let outcome: () throws -> String
}

/// The folder and the size of a benchmark run.
struct Context {
    let folder: String
    /// Whether to run a hundredth of the work, which only checks that the benchmarks run.
    let isQuick: Bool

    /// Returns the number of objects, reads or commits of a full run, reduced for a quick one.
    func count(_ full: Int) -> Int { isQuick ? max(1, full / 100) : full }

    func path(_ name: String) -> String { "\(folder)/\(name).tandem" }
}

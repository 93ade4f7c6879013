/// A task that Tandem and its baselines do, each in its own way and all with the same outcome.
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
    /// The task's name. Names are kept, so that results can be compared over the years.
    let name: String
    /// Makes ready whatever all rounds share. Not timed.
    let makeContest: @Sendable (Context) throws -> Contest

    init(_ name: String, _ makeContest: @escaping @Sendable (Context) throws -> Contest) {
        self.name = name
        self.makeContest = makeContest
    }
}

/// Those who do a task: the one that is measured, and those it is measured against.
struct Contest {
    let subject: Contender
    let baselines: [Contender]
    /// The ratios that are wanted, by the baselines' names.
    var bounds: [String: Double] = [:]
    /// What else was measured, in words. Asked when all rounds are over.
    var notes: () throws -> [String] = { [] }
    /// Others who do the task, held against baselines of their own.
    var beside: [Contest] = []
    /// What the results say together, those beside included, in words.
    var judge: ([Comparison]) -> [String] = { _ in [] }
}

/// One way to do a task, in rounds.
struct Contender {
    let name: String
    /// Comes before each round. Not timed.
    var prepare: () throws -> Void = {}
    /// A round.
    var run: () throws -> Void
    /// What the round has cost in seconds, where that is not the time that it took. Asked after it.
    var cost: (() -> Double)?
    /// Comes after each round: what a round has built is freed here. Not timed.
    var finish: () throws -> Void = {}
    /// What a round has read or written, in short. Asked after the warm-up, between `run` and `finish`; it must be the
    /// same for all contenders, or they have not done the same task.
    let outcome: () throws -> String
}

/// Where the benchmarks keep their files, and how much they do.
struct Context {
    let folder: String
    /// A hundredth of the work: to see that the benchmarks run, not how fast.
    let isQuick: Bool

    /// The number of objects, reads or commits for a full run, cut down for a quick one.
    func count(_ full: Int) -> Int { isQuick ? max(1, full / 100) : full }

    func path(_ name: String) -> String { "\(folder)/\(name).tandem" }
}

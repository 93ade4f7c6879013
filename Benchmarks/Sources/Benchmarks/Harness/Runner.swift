import Foundation

/// Runs benchmarks. Subject and baseline alternate, so that other load affects both equally.
struct Runner {
    let context: Context
    /// The number of rounds after the warm-up.
    let rounds: Int
    /// The baselines to run; all if empty.
    let against: Set<String>

    func run(_ benchmark: Benchmark, report: (Comparison) -> Void, note: (String) -> Void) throws {
        let contest = try benchmark.makeContest(context)
        var results: [Comparison] = []
        for contest in [contest] + contest.beside {
            try run(contest, task: benchmark.name) {
                results.append($0)
                report($0)
            }
        }
        for text in try contest.notes() + contest.judge(results) { note("\(benchmark.name): \(text)") }
    }

    private func run(_ contest: Contest, task: String, report: (Comparison) -> Void) throws {
        let baselines = contest.baselines.filter { against.isEmpty || against.contains($0.name) }
        try warmUp([contest.subject] + baselines, task: task)
        for baseline in baselines {
            var comparison = try compare(contest.subject, with: baseline, task: task)
            comparison.bound = contest.bounds[baseline.name]
            report(comparison)
        }
    }

    /// Compares a pair in its own rounds, with alternating order: the first contender of a round affects the heap and
    /// the caches of the second.
    private func compare(_ subject: Contender, with baseline: Contender, task: String) throws -> Comparison {
        var comparison = Comparison(task: task, subject: subject.name, baseline: baseline.name)
        for round in 0..<rounds {
            if round.isMultiple(of: 2) {
                comparison.subjectSeconds.append(try time(subject))
                comparison.baselineSeconds.append(try time(baseline))
            } else {
                comparison.baselineSeconds.append(try time(baseline))
                comparison.subjectSeconds.append(try time(subject))
            }
        }
        return comparison
    }

    private func time(_ contender: Contender) throws -> Double {
        try contender.prepare()
        let clock = ContinuousClock()
        let duration = try clock.measure { try contender.run() }
        let cost = contender.cost?()
        try contender.finish()
        if let cost { return cost }
        return Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
    }

    private func warmUp(_ contenders: [Contender], task: String) throws {
        var expected: (name: String, outcome: String)?
        for contender in contenders {
            try contender.prepare()
            try contender.run()
            let outcome = try contender.outcome()
            try contender.finish()
            if let expected, expected.outcome != outcome {
                throw DifferentOutcome(task: task, first: expected, second: (contender.name, outcome))
            }
            expected = expected ?? (contender.name, outcome)
        }
    }
}

/// An error: two contenders have different outcomes, so their times can't be compared.
struct DifferentOutcome: Error, CustomStringConvertible {
    let task: String
    let first: (name: String, outcome: String)
    let second: (name: String, outcome: String)

    var description: String {
        """
        \(task): \(first.name) and \(second.name) have not done the same.
        \(first.name): \(first.outcome)
        \(second.name): \(second.outcome)
        """
    }
}

import Foundation

/// Runs benchmarks: all contenders of a task take turns, so that what else the machine does hits them alike.
struct Runner {
    let context: Context
    /// Rounds after the warm-up.
    let rounds: Int

    func run(_ benchmark: Benchmark, report: (Comparison) -> Void) throws {
        let contest = try benchmark.makeContest(context)
        let contenders = [contest.subject] + contest.baselines
        try warmUp(contenders, task: benchmark.name)
        var seconds = contenders.map { _ in [Double]() }
        for round in 0..<rounds {
            // Each round begins with another one: whoever comes after a slow one finds the machine changed.
            for turn in contenders.indices {
                let index = (turn + round) % contenders.count
                seconds[index].append(try time(contenders[index]))
            }
        }
        for (index, baseline) in contest.baselines.enumerated() {
            report(
                Comparison(
                    task: benchmark.name, subject: contest.subject.name, baseline: baseline.name,
                    subjectSeconds: seconds[0], baselineSeconds: seconds[index + 1]))
        }
    }

    private func time(_ contender: Contender) throws -> Double {
        try contender.prepare()
        let clock = ContinuousClock()
        let duration = try clock.measure { try contender.run() }
        try contender.finish()
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

/// Two contenders have not done the same task: their times can't be compared.
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

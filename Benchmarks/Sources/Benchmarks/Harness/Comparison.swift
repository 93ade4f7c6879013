/// What a task has cost the subject and one baseline.
struct Comparison {
    let task: String
    let subject: String
    let baseline: String
    var subjectSeconds: [Double] = []
    var baselineSeconds: [Double] = []

    /// The ratio of the medians; below 1 the subject is faster.
    var ratio: Double { subjectSeconds.median / baselineSeconds.median }

    /// The ratios of the rounds, in each of which subject and baseline ran one after the other.
    private var ratios: [Double] { zip(subjectSeconds, baselineSeconds).map { $0 / $1 } }
    var least: Double { ratios.min() ?? .nan }
    var greatest: Double { ratios.max() ?? .nan }

    static let header = [
        "task", "subject", "baseline", "median-ratio", "min", "max", "subject-seconds", "baseline-seconds",
    ]

    var fields: [String] {
        [
            task, subject, baseline, ratio.text(2), least.text(2), greatest.text(2), subjectSeconds.median.text(4),
            baselineSeconds.median.text(4),
        ]
    }
}

extension [Double] {
    var median: Double {
        let sorted = sorted()
        guard !sorted.isEmpty else { return .nan }
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }
}

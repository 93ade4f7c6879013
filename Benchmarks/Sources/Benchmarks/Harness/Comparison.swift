/// What a task has cost the subject and one baseline.
struct Comparison {
    let task: String
    let subject: String
    let baseline: String
    /// The ratio that is wanted.
    var bound: Double?
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
        "bound",
    ]

    /// The bound, and whether it was kept; a dash if there is none.
    private var verdict: String {
        bound.map { "\(ratio <= $0 ? "<=" : "above") \($0.formatted)" } ?? "-"
    }

    /// Two digits behind the point, or as many as a small ratio needs.
    private static func text(_ ratio: Double) -> String { ratio.text(ratio < 0.01 ? 6 : 2) }

    /// Tenths of milliseconds, or of microseconds where the time is short.
    private static func text(seconds: Double) -> String { seconds.text(seconds < 0.01 ? 7 : 4) }

    var fields: [String] {
        [
            task, subject, baseline, Self.text(ratio), Self.text(least), Self.text(greatest),
            Self.text(seconds: subjectSeconds.median), Self.text(seconds: baselineSeconds.median), verdict,
        ]
    }
}

extension Double {
    /// Without zeros at the end.
    fileprivate var formatted: String { self == rounded() ? "\(Int(self))" : "\(self)" }
}

extension [Double] {
    /// The value that so large a share of all does not exceed.
    func percentile(_ share: Double) -> Double {
        let sorted = sorted()
        return sorted.isEmpty ? .nan : sorted[Swift.min(sorted.count - 1, Int(Double(sorted.count) * share))]
    }

    var median: Double {
        let sorted = sorted()
        guard !sorted.isEmpty else { return .nan }
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }
}

/// The costs of a task for the subject and one baseline.
struct Comparison {
    let task: String
    let subject: String
    let baseline: String
    /// The maximum ratio.
    var bound: Double?
    var subjectSeconds: [Double] = []
    var baselineSeconds: [Double] = []

    /// The ratio of the medians. Below 1, the subject is faster.
    var ratio: Double { subjectSeconds.median / baselineSeconds.median }

    /// The ratios of the rounds, in which subject and baseline ran one after the other.
    private var ratios: [Double] { zip(subjectSeconds, baselineSeconds).map { $0 / $1 } }
    var least: Double { ratios.min() ?? .nan }
    var greatest: Double { ratios.max() ?? .nan }

    static let header = [
        "task", "subject", "baseline", "median-ratio", "min", "max", "subject-seconds", "baseline-seconds",
        "bound",
    ]

    /// The bound, and whether the ratio meets it; a dash if there is none.
    private var verdict: String {
        bound.map { "\(ratio <= $0 ? "<=" : "above") \($0.formatted)" } ?? "-"
    }

    /// Formats a ratio with two digits after the point, or more if it is small.
    private static func text(_ ratio: Double) -> String { ratio.text(ratio < 0.01 ? 6 : 2) }

    /// Formats a time in tenths of milliseconds, or of microseconds if it is short.
    private static func text(seconds: Double) -> String { seconds.text(seconds < 0.01 ? 7 : 4) }

    var fields: [String] {
        [
            task, subject, baseline, Self.text(ratio), Self.text(least), Self.text(greatest),
            Self.text(seconds: subjectSeconds.median), Self.text(seconds: baselineSeconds.median), verdict,
        ]
    }
}

extension Double {
    /// The number without trailing zeros.
    fileprivate var formatted: String { self == rounded() ? "\(Int(self))" : "\(self)" }
}

extension [Double] {
    /// Returns the value that the given share of all values does not exceed.
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

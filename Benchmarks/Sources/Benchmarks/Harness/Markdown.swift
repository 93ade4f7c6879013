import Foundation

/// The results as a page, kept in `Benchmarks/RESULTS.md`.
enum Markdown {
    static func page(_ comparisons: [Comparison], notes: [String], rounds: Int, isQuick: Bool) -> String {
        var lines = [
            "# Benchmark results",
            "",
            """
            Written by `make bench`. Ratios of the medians of \(rounds) interleaved rounds after a warm-up, with the \
            least and the greatest ratio of a round; below 1 Tandem is faster. What each task does, and what its \
            baselines are, is said in `Sources/Benchmarks/Tasks`.
            """,
            "",
        ]
        if isQuick {
            lines += ["**A quick run, with a hundredth of the work: the figures mean nothing.**", ""]
        }
        lines += Machine.description.map { "- \($0): \($1)" }
        lines += [
            "- Date: \(ISO8601DateFormatter().string(from: Date()).prefix(10))",
            "",
            "| \(Comparison.header.joined(separator: " | ")) |",
            "|---|---|---|---:|---:|---:|---:|---:|---|",
        ]
        lines += comparisons.map { "| \($0.fields.joined(separator: " | ")) |" }
        if !notes.isEmpty { lines += ["", "Beside them:", ""] + notes.map { "- \($0)" } }
        return lines.joined(separator: "\n") + "\n"
    }
}

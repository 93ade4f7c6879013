import Foundation

/// Keeps the results in `Benchmarks/RESULTS.md`.
///
/// The page has a section for each group of tasks. A run replaces the measured part of the sections that it measured
/// whole, and keeps everything else: other sections, and the text around the measured part.
enum Markdown {
    private static let beginning = "<!-- measured -->"
    private static let end = "<!-- end of measured -->"

    /// The measurements of one section in one run.
    struct Section {
        let name: String
        let comparisons: [Comparison]
        let notes: [String]
    }

    /// The circumstances of a run.
    struct Circumstances {
        let rounds: Int
        /// The commit that was measured.
        let commit: String
    }

    /// Returns the page with the measured parts of some sections replaced, or appended if the page has no such section.
    static func page(_ page: String, replacing sections: [Section], in circumstances: Circumstances) -> String {
        var parts = page.components(separatedBy: "\n## ")
        for section in sections {
            let measured = text(section, in: circumstances)
            if let index = parts.firstIndex(where: { $0.hasPrefix("\(section.name)\n") }) {
                parts[index] = replacing(in: parts[index], with: measured)
            } else {
                parts.append("\(section.name)\n\n\(measured)\n")
            }
        }
        return parts.joined(separator: "\n## ")
    }

    private static func replacing(in part: String, with measured: String) -> String {
        guard let beginning = part.range(of: beginning),
            let end = part.range(of: end, range: beginning.upperBound..<part.endIndex)
        else {
            return part.trimmingCharacters(in: .newlines) + "\n\n\(measured)\n"
        }
        return part.replacingCharacters(in: beginning.lowerBound..<end.upperBound, with: measured)
    }

    private static func text(_ section: Section, in circumstances: Circumstances) -> String {
        var lines = [
            beginning, "",
            "- Commit: \(circumstances.commit)",
            "- Date: \(ISO8601DateFormatter().string(from: Date()).prefix(10))",
            "- Rounds: \(circumstances.rounds), interleaved, after a warm-up",
        ]
        lines += Machine.description.map { "- \($0): \($1)" }
        lines += [
            "", "| \(Comparison.header.joined(separator: " | ")) |", "|---|---|---|---:|---:|---:|---:|---:|---|",
        ]
        lines += section.comparisons.map { "| \($0.fields.joined(separator: " | ")) |" }
        if !section.notes.isEmpty { lines += ["", "Beside them:", ""] + section.notes.map { "- \($0)" } }
        return (lines + ["", end]).joined(separator: "\n")
    }
}

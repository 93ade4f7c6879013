import Foundation

/// Code blocks of the documents, compared with tests that compile and run them.
///
/// A test marks the lines of a document with `// NAME begins` and `// NAME ends`.
enum Snippets {
    /// The root of this repository.
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// Returns the Swift blocks of a document of this repository, as lines without imports and indentation.
    static func blocks(of document: String) throws -> [[String]] {
        let text = try String(contentsOf: root.appendingPathComponent(document), encoding: .utf8)
        return Article(path: document, text: text).blocks.map { block in
            lines(block.lines.joined(separator: "\n")).filter { !$0.hasPrefix("import ") }
        }
    }

    /// Returns the marked parts of a test's source.
    static func marked(_ name: String, in source: String) throws -> [[String]] {
        try String(contentsOfFile: source, encoding: .utf8).components(separatedBy: "// \(name) begins\n").dropFirst()
            .map { lines($0.components(separatedBy: "// \(name) ends")[0]) }
    }

    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}

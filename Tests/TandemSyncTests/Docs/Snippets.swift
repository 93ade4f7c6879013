import Foundation
import Testing

/// Compares the code in the articles on sync with tests that compile and run it.
///
/// A test marks the lines of a document with `// NAME begins` and `// NAME ends`.
enum Snippets {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// Checks that an article's Swift blocks are the marked parts of a test, each exactly once.
    static func expectTested(_ article: String, of library: String, in source: String) throws {
        let tested = try marked(article, in: source)
        let written = try blocks(of: "Sources/\(library)/\(library).docc/\(article).md")
        #expect(!written.isEmpty)
        for block in written { #expect(tested.contains(block), "\(block)") }
        for block in tested { #expect(written.contains(block), "\(block)") }
    }

    /// Returns the Swift blocks in a document of this repository, each as its lines without imports and indentation.
    static func blocks(of document: String) throws -> [[String]] {
        try text(of: document).components(separatedBy: "```swift\n").dropFirst().map {
            lines($0.components(separatedBy: "```")[0]).filter { !$0.hasPrefix("import ") }
        }
    }

    /// Returns a document of this repository.
    static func text(of document: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(document), encoding: .utf8)
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

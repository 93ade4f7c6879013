import Foundation

/// A document of this repository and its blocks of Swift.
struct Article {
    struct Block {
        let number: Int
        /// The number of the block's first line in the document.
        let line: Int
        let lines: [String]
    }

    /// The document's path in the repository.
    let path: String
    let blocks: [Block]
    /// The imports and declarations that the blocks need but don't show.
    let prelude: [String]

    init(path: String, text: String, prelude: String = "") {
        self.path = path
        self.prelude = Self.lines(prelude)
        var blocks: [Block] = []
        var open: (line: Int, lines: [String])?
        for (index, line) in (Self.lines(text) + ["```"]).enumerated() {
            let text = line.trimmingCharacters(in: .whitespaces).lowercased()
            if let block = open, text.hasPrefix("```") {
                blocks.append(Block(number: blocks.count + 1, line: block.line, lines: block.lines))
                open = nil
            } else if open != nil {
                open?.lines.append(line)
            } else if text.hasPrefix("```swift") {
                open = (index + 2, [])
            }
        }
        self.blocks = blocks
    }

    /// The README and the articles of all libraries.
    static func all() throws -> [Article] {
        try (["README.md"] + paths(in: "Sources", ending: ".md")).map { path in
            let prelude = Snippets.root.appendingPathComponent(preludePath(of: path))
            let exists = FileManager.default.fileExists(atPath: prelude.path)
            return Article(
                path: path,
                text: try String(contentsOf: Snippets.root.appendingPathComponent(path), encoding: .utf8),
                prelude: exists ? try String(contentsOf: prelude, encoding: .utf8) : "")
        }
    }

    /// Returns the paths of all files in a folder of this repository and in its subfolders, sorted.
    static func paths(in folder: String, ending: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: Snippets.root.appendingPathComponent(folder).path)
            .filter { $0.hasSuffix(ending) }.sorted().map { "\(folder)/\($0)" }
    }

    static let preludes = "Tests/TandemTests/Docs/Preludes"

    /// The path of an article's prelude, such as `Preludes/Tandem/Queries.prelude`.
    static func preludePath(of path: String) -> String {
        let folders = path.split(separator: "/").dropFirst().dropLast().filter { !$0.hasSuffix(".docc") }
        let name = path.split(separator: "/").last?.dropLast(".md".count) ?? ""
        return ([preludes] + folders.map(String.init) + ["\(name).prelude"]).joined(separator: "/")
    }

    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }
}

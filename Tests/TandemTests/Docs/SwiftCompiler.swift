import Foundation
import TandemTesting
import TestSupport

/// The compiler that built these tests, with the options of a target that imports all libraries.
struct SwiftCompiler {
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    private let path: String
    private let options: [String]

    /// Reads the path and the options from SwiftPM's build plan, two folders above the products.
    init() throws {
        let products = URL(fileURLWithPath: PeerProcess.executable).deletingLastPathComponent()
        let plan = products.deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent(products.lastPathComponent + ".yaml")
        let text = try String(contentsOf: plan, encoding: .utf8)
        guard let target = text.range(of: "\n  \"C.TandemDatasyncTests-"),
            let start = text.range(of: "\n    args: ", range: target.upperBound..<text.endIndex),
            let end = text.range(of: "\n", range: start.upperBound..<text.endIndex)
        else { throw Missing(description: "The build plan \(plan.path) has no TandemDatasyncTests.") }
        let line = Data(text[start.upperBound..<end.lowerBound].utf8)
        var arguments = try JSONDecoder().decode([String].self, from: line)[...]
        guard let compiler = arguments.popFirst() else {
            throw Missing(description: "The build plan \(plan.path) does not name a compiler.")
        }
        path = compiler
        var options: [String] = []
        while let option = arguments.popFirst() {
            if Self.inherited.contains(option), let value = arguments.popFirst() { options += [option, value] }
        }
        // The README shows a manifest, which needs this module.
        let manifests = URL(fileURLWithPath: compiler).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("lib/swift/pm/ManifestAPI")
        self.options = options + ["-I", manifests.path, "-package-description-version", "6.2.0"]
    }

    /// The options for modules, macros and the language mode. Each has a value.
    private static let inherited: Set = [
        "-I", "-Xcc", "-Xfrontend", "-enable-upcoming-feature", "-module-cache-path", "-sdk", "-swift-version",
        "-target",
    ]

    /// Type-checks articles in one process without generating code, and returns the errors.
    ///
    /// The compiler finds data races and uninitialized variables in its intermediate language.
    func errors(in articles: [Article]) throws -> [String] {
        expectBlockingAllowed()
        return try TemporaryFolder.with { folder in
            var files: [String] = []
            for (index, article) in articles.enumerated() {
                files.append(folder.path(of: "Article\(index).swift"))
                try article.source.write(toFile: files[index], atomically: false, encoding: .utf8)
            }
            let output = URL(fileURLWithPath: folder.path(of: "output"))
            try Data().write(to: output)
            let handle = try FileHandle(forWritingTo: output)
            defer { try? handle.close() }
            let process = Process()
            process.executableURL = URL(fileURLWithPath: path)
            process.arguments =
                ["-emit-sil", "-o", "/dev/null", "-parse-as-library", "-module-name", "Articles"]
                + ["-whole-module-optimization", "-suppress-warnings", "-diagnostic-style", "llvm"] + options + files
            process.standardOutput = handle
            process.standardError = handle
            try process.run()
            process.waitUntilExit()
            guard process.terminationReason != .exit || process.terminationStatus != 0 else { return [] }
            let text = try String(contentsOf: output, encoding: .utf8)
            let errors = text.split(separator: "\n").filter { $0.contains(": error: ") }.map(String.init)
            return errors.isEmpty ? ["The compiler failed: \(text)"] : errors
        }
    }
}

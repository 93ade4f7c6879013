import Foundation

/// A running process of this package: a peer, or the server.
package final class ChildProcess {
    private let process = Process()
    private let output: URL

    /// - Parameter name: The name of an executable that is built beside the tests.
    package init(_ name: String, _ arguments: [String]) throws {
        output = FileManager.default.temporaryDirectory.appendingPathComponent("tandem-output-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: output.path, contents: nil)
        let file = try FileHandle(forWritingTo: output)
        process.executableURL = Self.executable(name)
        process.arguments = arguments
        process.standardOutput = file
        process.standardError = file
        try process.run()
    }

    private static func executable(_ name: String) -> URL {
        let tests =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            ?? CommandLine.arguments[0]
        var folder = URL(fileURLWithPath: tests).deletingLastPathComponent()
        // On Apple platforms the tests are a bundle, some folders deeper.
        while folder.path != "/" {
            let candidate = folder.appendingPathComponent(name)
            if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
            folder.deleteLastPathComponent()
        }
        return URL(fileURLWithPath: name)
    }

    /// The lines printed so far.
    package var lines: [String] {
        let data = (try? Data(contentsOf: output)) ?? Data()
        // The text after the last line break is not a complete line yet.
        return String(decoding: data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .dropLast().map(String.init)
    }

    package var isRunning: Bool { process.isRunning }

    /// Waits until a number of lines have a prefix.
    ///
    /// - Returns: The last of them, or `nil` if the process ends before.
    package func line(_ prefix: String, _ count: Int = 1) async throws -> String? {
        while true {
            let wasRunning = process.isRunning
            let found = lines.filter { $0.hasPrefix(prefix) }
            if found.count >= count { return found[count - 1] }
            guard wasRunning else { return nil }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    /// Sends a signal, and waits for the process to end.
    package func end(_ signal: Int32) async throws {
        kill(process.processIdentifier, signal)
        while process.isRunning { try await Task.sleep(for: .milliseconds(2)) }
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        try? FileManager.default.removeItem(at: output)
    }
}

import Foundation
import TestSupport

/// A running `tandem-server`.
final class ServerProcess {
    private let process = Process()
    private let output: URL

    private static let executable = BuiltExecutable.path(of: "tandem-server")

    init(_ arguments: [String]) throws {
        output = FileManager.default.temporaryDirectory.appendingPathComponent("tandem-server-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: output.path, contents: nil)
        let file = try FileHandle(forWritingTo: output)
        process.executableURL = URL(fileURLWithPath: Self.executable)
        process.arguments = arguments
        process.standardOutput = file
        process.standardError = file
        try process.run()
    }

    /// The output so far.
    var text: String { (try? String(contentsOf: output, encoding: .utf8)) ?? "" }

    /// Waits for the server's address. Returns `nil` if the process ends without printing one.
    func url() async throws -> URL? {
        while true {
            let wasRunning = process.isRunning
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            if let line = lines.first(where: { $0.hasPrefix("tandem-server listens on ") }) {
                return line.split(separator: " ").last.flatMap { URL(string: String($0)) }
            }
            guard wasRunning else { return nil }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Sends a signal, and waits for the end.
    func stop(_ signal: Int32) async throws -> Int32 {
        kill(process.processIdentifier, signal)
        return try await end()
    }

    /// Waits for the end, and returns the exit status.
    func end() async throws -> Int32 {
        while process.isRunning { try await Task.sleep(for: .milliseconds(5)) }
        return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        try? FileManager.default.removeItem(at: output)
    }
}

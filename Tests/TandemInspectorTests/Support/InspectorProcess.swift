import Foundation
import TestSupport

/// A running `tandem`.
final class InspectorProcess {
    private let process = Process()
    private let output = Pipe()
    private let folder: String
    private let name = UUID().uuidString

    private static let executable = BuiltExecutable.path(of: "tandem")

    /// Starts a command.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the command.
    ///   - folder: A folder for the process's output.
    ///   - input: The path of the file that is its input.
    ///   - closesOutput: Whether the reader of the output has ended before the start.
    init(_ arguments: [String], in folder: String, input: String = "/dev/null", closesOutput: Bool = false) throws {
        self.folder = folder
        process.executableURL = URL(fileURLWithPath: Self.executable)
        process.arguments = arguments
        process.standardInput = FileHandle(forReadingAtPath: input)
        process.standardError = try Self.file(folder + "/errors-" + name)
        if closesOutput {
            process.standardOutput = output
            try output.fileHandleForReading.close()
        } else {
            process.standardOutput = try Self.file(folder + "/output-" + name)
        }
        try process.run()
    }

    private static func file(_ path: String) throws -> FileHandle {
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        return try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    }

    var text: String { (try? String(contentsOfFile: folder + "/output-" + name, encoding: .utf8)) ?? "" }
    var errors: String { (try? String(contentsOfFile: folder + "/errors-" + name, encoding: .utf8)) ?? "" }

    /// Waits for a text on the error stream. Returns `false` if the process ends without it.
    func waitForError(_ text: String) -> Bool {
        expectBlockingAllowed()
        while true {
            let wasRunning = process.isRunning
            if errors.contains(text) { return true }
            if !wasRunning { return false }
            usleep(500)
        }
    }

    func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

    /// Waits for the end, and returns the exit status, or the negative signal.
    func end() -> Int32 {
        expectBlockingAllowed()
        process.waitUntilExit()
        return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
}

import Foundation

/// Another process of this program.
final class OtherProgram {
    private let arguments: [String]
    private let process = Process()
    private let output = Pipe()
    private var unread = Data()

    /// Starts the process.
    ///
    /// - Parameters:
    ///   - passphrase: Passed in the environment, which other users can't see.
    ///   - token: Passed in the environment too.
    ///   - folder: The current folder. Default: this process's.
    ///   - program: The executable. Default: this process's own.
    init(
        _ arguments: [String], passphrase: String? = nil, token: String? = nil, in folder: URL? = nil,
        program: URL? = Bundle.main.executableURL
    ) throws {
        self.arguments = arguments
        guard let program else {
            throw Failure(.software, message: "The path of this program is unknown.")
        }
        process.executableURL = program
        process.arguments = arguments
        var environment = ProcessInfo.processInfo.environment
        environment[KeyOptions.variable] = passphrase
        environment[LogIn.variable] = token
        process.environment = environment
        if let folder { process.currentDirectoryURL = folder }
        process.standardOutput = output
        process.standardError = output
        do {
            try process.run()
        } catch {
            throw Failure(.software, message: "\(program.path) can't be started: \(error.localizedDescription)")
        }
    }

    deinit { if process.isRunning { process.terminate() } }

    /// Waits for a line. Returns `nil` if the process ends without one.
    func nextLine() -> String? {
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                defer { unread = unread[(end + 1)...] }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return nil }
            unread.append(more)
        }
    }

    /// Waits for the end of the process, which must succeed unless another status is expected.
    ///
    /// - Returns: The printed lines that were not read yet.
    @discardableResult
    func finish(_ expected: Failure.Status? = nil) throws -> [String] {
        var lines: [String] = []
        while let line = nextLine() { lines.append(line) }
        process.waitUntilExit()
        guard process.terminationStatus == expected?.rawValue ?? 0 else {
            throw Failure(
                .software,
                message: "`cards \(arguments.joined(separator: " "))` ended with \(process.terminationStatus).",
                advice: lines.last)
        }
        return lines
    }
}

import Foundation

/// A server in a process of its own, which prints its address and serves until its input ends.
final class ListeningProcess {
    /// The address that the process has printed.
    let url: URL
    private let process = Process()
    private let input = Pipe()

    /// Starts a server, and returns when it listens.
    ///
    /// - Parameters:
    ///   - executable: The program.
    ///   - arguments: Its arguments.
    ///   - name: The name of the server in an error.
    init(_ executable: URL, arguments: [String], name: String) throws {
        let output = Pipe()
        process.executableURL = executable
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        var line = Data()
        while line.last != 0x0A {
            let some = output.fileHandleForReading.availableData
            if some.isEmpty { break }
            line += some
        }
        let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard let url = URL(string: text), url.scheme == "http" else {
            throw UsageError(problem: "\(name) has not started: \(text)")
        }
        self.url = url
    }

    deinit {
        // The child ends with its input.
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}

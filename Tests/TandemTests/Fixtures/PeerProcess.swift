import Foundation
import TestSupport

/// A running `TandemTestPeer`, or a shell that starts one.
final class PeerProcess {
    private let process = Process()
    private let output: String

    static let executable = BuiltExecutable.path(of: "TandemTestPeer")

    init(_ arguments: [String], in folder: TestFolder) throws {
        output = folder.file("output-\(UUID().uuidString)")
        try start(Self.executable, arguments)
    }

    /// Runs the peer through another command.
    init(under command: [String], _ arguments: [String], in folder: TestFolder) throws {
        output = folder.file("output-\(UUID().uuidString)")
        try start(command[0], command.dropFirst() + [Self.executable] + arguments)
    }

    /// Runs a shell script in its own mount namespace, whose mounts are removed with the process.
    init(mounting script: String, in folder: TestFolder) throws {
        output = folder.file("output-\(UUID().uuidString)")
        try start("/usr/bin/unshare", Self.namespace + ["sh", "-ec", script])
    }

    private func start(_ executable: String, _ arguments: [String]) throws {
        _ = FileManager.default.createFile(atPath: output, contents: nil)
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = arguments
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
        try process.run()
    }

    private static let namespace = geteuid() == 0 ? ["-m"] : ["-r", "-m"]

    /// Whether this machine lets tests mount a file system in a namespace.
    static let canMount: Bool = {
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/unshare"), let folder = try? TestFolder(),
            let process = try? PeerProcess(
                mounting: "mount -t tmpfs -o size=1m tmpfs '\(folder.path)' && echo yes", in: folder)
        else { return false }
        // Conditions of traits are evaluated before any test has its own threads.
        process.process.waitUntilExit()
        return process.lines == ["yes"]
    }()

    /// The lines printed so far.
    var lines: [String] {
        let data = (try? Data(contentsOf: URL(fileURLWithPath: output))) ?? Data()
        // An incomplete last line is left out.
        return String(decoding: data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .dropLast().map(String.init)
    }

    var isRunning: Bool { process.isRunning }

    /// Waits for a line with a prefix; `false` if the process ends without such a line.
    func waitForLine(_ prefix: String) -> Bool {
        expectBlockingAllowed()
        while true {
            let wasRunning = process.isRunning
            if lines.contains(where: { $0.hasPrefix(prefix) }) { return true }
            if !wasRunning { return false }
            usleep(500)
        }
    }

    @discardableResult
    func wait() -> Int32 {
        expectBlockingAllowed()
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Kills the process (`kill -9`).
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    deinit { if process.isRunning { kill() } }
}

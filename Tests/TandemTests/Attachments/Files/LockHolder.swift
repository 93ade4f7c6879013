import Foundation
import Synchronization
import Testing

@testable import Tandem

/// Another process that holds a shared lock until it is killed: flock(1). The process that flock starts inherits the
/// file.
final class LockHolder {
    private static let tool = "/usr/bin/flock"
    static let isPossible = FileManager.default.isExecutableFile(atPath: tool)

    private let process = Process()
    private let input = Pipe()

    init(_ path: String) throws {
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: Self.tool)
        process.arguments = ["--shared", "--close", path, "sh", "-c", "echo held; cat"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try #require(output.fileHandleForReading.availableData == Data("held\n".utf8))
    }

    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        // Ends the process that flock started, because Foundation waits for it too.
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    deinit { if process.isRunning { kill() } }
}

/// A log of events in their order.
final class Order: Sendable {
    private let state = Mutex<[String]>([])

    func note(_ what: String) { state.withLock { $0.append(what) } }
    var notes: [String] { state.withLock { $0 } }
}

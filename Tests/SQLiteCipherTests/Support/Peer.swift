import Foundation
import TestSupport

/// The test peer, a process that can be killed.
struct Peer {
    static let executable: URL = {
        // The products of a build lie side by side: the tests' bundle and the peer.
        var folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent()
        #if os(macOS)
            folder =
                Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
                .deletingLastPathComponent() ?? folder
        #endif
        return folder.appendingPathComponent("SQLiteCipherTestPeer")
    }()

    let process = Process()
    private let output = Pipe()
    private let errors = Pipe()

    init(_ path: String, _ kind: Profile, _ mode: JournalMode, _ command: String...) throws {
        try self.init(path, kind, mode, under: [], command)
    }

    /// - Parameter wrapper: a command that runs the peer, such as `strace` and its options.
    init(_ path: String, _ kind: Profile, _ mode: JournalMode, under wrapper: [String], _ command: [String]) throws {
        let line = wrapper + [Self.executable.path, path, kind == .gcm ? "gcm" : "sqlcipher", mode.rawValue] + command
        process.executableURL = URL(fileURLWithPath: line[0])
        process.arguments = Array(line.dropFirst())
        process.standardOutput = output
        process.standardError = errors
        try process.run()
    }

    /// A user who is nobody's, for a peer that may not do what root may. `nil` where that can't be.
    static let asNobody: [String]? = {
        let program = "/usr/bin/setpriv"
        guard geteuid() == 0, FileManager.default.isExecutableFile(atPath: program) else { return nil }
        let line = ["--reuid=65534", "--regid=65534", "--clear-groups"]
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = line + [executable.path]
        process.standardError = FileHandle.nullDevice
        // Without arguments the peer says how it is used.
        guard (try? process.run()) != nil else { return nil }
        process.waitUntilExit()
        return process.terminationStatus == 64 ? [program] + line : nil
    }()

    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
    }

    /// Waits until the process says a word by itself.
    func waitForWord(_ word: String) throws {
        expectBlockingAllowed()
        var said = Data()
        while !said.shows(word) {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw CocoaError(.fileReadUnknown) }
            said += more
        }
    }

    /// What the process printed until it ended, in words.
    func words() -> [String] {
        expectBlockingAllowed()
        let printed = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: printed, as: UTF8.self).split(whereSeparator: \.isWhitespace).map(String.init)
    }

    var complaint: String {
        String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }
}

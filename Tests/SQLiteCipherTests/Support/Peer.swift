import Foundation
import TestSupport

/// The test peer: a process that a test can kill.
struct Peer {
    static let executable: URL = {
        // The products of a build are in one folder: the test bundle and the peer.
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

    init(
        _ path: String, _ kind: Profile, _ mode: JournalMode, _ command: String..., indexFolders: [String]? = nil
    ) throws {
        try self.init(path, kind, mode, under: [], command, indexFolders: indexFolders)
    }

    /// - Parameters:
    ///   - wrapper: a command that runs the peer, such as `strace` and its options.
    ///   - indexFolders: the folders that the peer takes for the system's folders in memory.
    init(
        _ path: String, _ kind: Profile, _ mode: JournalMode, under wrapper: [String], _ command: [String],
        indexFolders: [String]? = nil
    ) throws {
        if let indexFolders {
            let folders = ["INDEX_FOLDERS": indexFolders.joined(separator: ":")]
            process.environment = ProcessInfo.processInfo.environment.merging(folders) { $1 }
        }
        let line = wrapper + [Self.executable.path, path, kind == .gcm ? "gcm" : "sqlcipher", mode.rawValue] + command
        process.executableURL = URL(fileURLWithPath: line[0])
        process.arguments = Array(line.dropFirst())
        process.standardOutput = output
        process.standardError = errors
        try process.run()
    }

    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
    }

    /// Waits until the process prints a line that is only this word.
    ///
    /// - Returns: The words before it. ``words()`` returns those that follow.
    /// - Throws: An error if the process ends first.
    @discardableResult
    func waitForWord(_ word: String) throws -> [String] {
        expectBlockingAllowed()
        var said = Data()
        while !said.shows(word) {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw CocoaError(.fileReadUnknown) }
            said += more
        }
        return Self.words(said)
    }

    /// Returns the words that the process printed until it ended.
    func words() -> [String] {
        expectBlockingAllowed()
        let printed = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Self.words(printed)
    }

    private static func words(_ printed: Data) -> [String] {
        String(decoding: printed, as: UTF8.self).split(whereSeparator: \.isWhitespace).map(String.init)
    }

    var complaint: String {
        String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }
}

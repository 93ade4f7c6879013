import Foundation

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
        process.executableURL = Self.executable
        process.arguments = [path, kind == .gcm ? "gcm" : "sqlcipher", mode.rawValue] + command
        process.standardOutput = output
        process.standardError = errors
        try process.run()
    }

    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
    }

    /// What the process printed until it ended, in words.
    func words() -> [String] {
        let printed = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: printed, as: UTF8.self).split(whereSeparator: \.isWhitespace).map(String.init)
    }

    var complaint: String {
        String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }
}

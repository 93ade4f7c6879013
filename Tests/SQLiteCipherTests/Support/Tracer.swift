import Foundation
import TestSupport
import Testing

@testable import SQLiteCipher

/// `strace`, which records every byte that a process writes and can kill the process at a system call.
enum Tracer {
    static let path = "/usr/bin/strace"

    /// The reason why processes can't be traced here; `nil` if they can.
    static let refusal: String? = {
        guard FileManager.default.isExecutableFile(atPath: path) else { return "strace is not installed" }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = ["-f", "-o", "/dev/null", "/bin/true"]
        process.standardError = FileHandle.nullDevice
        do {
            try process.run()
        } catch {
            return "strace can't be run: \(error)"
        }
        process.waitUntilExit()
        return process.terminationStatus == 0 ? nil : "the system does not let processes be traced"
    }()

    /// The system calls that change a file or a folder.
    static let changes = "pwrite64,ftruncate,fallocate,fsync,fdatasync,unlink,rename"

    /// Kills the process when one of its threads makes its `count`th call of these.
    static func killing(at count: Int, of calls: String = changes) -> [String] {
        [
            path, "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(calls)",
            "-e", "inject=\(calls):signal=SIGKILL:when=\(count)",
        ]
    }

    /// Returns the number of these calls that the busiest thread of a peer makes.
    static func count(
        _ path: String, _ kind: Profile, _ mode: JournalMode, _ command: [String], of calls: String = changes
    ) throws -> Int {
        let trace = path + "-trace"
        defer { unlink(trace) }
        let peer = try Peer(
            path, kind, mode, under: [Self.path, "-f", "-qq", "-s", "0", "-o", trace, "-e", "trace=\(calls)"], command)
        _ = peer.words()
        let lines = String(decoding: try contents(trace), as: UTF8.self).split(separator: "\n")
        // Each line begins with the number of its thread.
        let threads = Dictionary(grouping: lines.filter { $0.contains("(") }) { $0.prefix { $0 != " " } }
        return threads.values.map(\.count).max() ?? 0
    }

    /// Returns the steps to test.
    ///
    /// The long form of a test has all steps. The short form has at most `short` steps, at random places in equal
    /// parts.
    static func steps(_ count: Int, short: Int) -> [Int] {
        guard !isSoak, count > short else { return Array(1...max(1, count)) }
        let stretch = Double(count) / Double(short)
        return (0..<short).map { 1 + Int(Double($0) * stretch + .random(in: 0..<stretch)) }
    }
}

import Foundation
import Tandem
import TandemServerCore
import TandemSyncTestScript
import TandemTesting
import TestSupport
import Testing

/// The parent of the suites that start servers and devices as processes.
@Suite(.startsProcesses, .ownThreads, .timeLimit(.minutes(10))) struct ProcessTests {}

/// A server process with its rows on disk. It can be killed, and restarts at the same address.
final class ServerOnDisk {
    let url: URL
    private let store: String
    private let options: [String]
    private var process: ChildProcess

    struct DoesNotListen: Error { let said: [String] }

    init(in folder: TemporaryFolder, _ options: [String] = []) async throws {
        store = folder.path(of: "server.tandem")
        self.options = options
        process = try Self.start(store, options, port: 0)
        url = try await Self.url(of: process)
    }

    private static func start(_ store: String, _ options: [String], port: Int) throws -> ChildProcess {
        try ChildProcess("tandem-server", ["--port", "\(port)", "--store", store] + options)
    }

    private static func url(of process: ChildProcess) async throws -> URL {
        guard let line = try await process.line("tandem-server listens on "),
            let url = line.split(separator: " ").last.flatMap({ URL(string: String($0)) })
        else { throw DoesNotListen(said: process.lines) }
        return url
    }

    /// Ends the process as `kill -9` does, and restarts it at its address.
    func killAndRestart() async throws {
        try await process.end(SIGKILL)
        process = try Self.start(store, options, port: url.port ?? 0)
        _ = try await Self.url(of: process)
    }

    /// Stops the process, and returns its stored rows.
    func stop() async throws -> [ServerRow] {
        try await process.end(SIGTERM)
        return try rows()
    }

    /// Returns the rows on disk.
    func rows(in tables: String...) throws -> [ServerRow] {
        let core = try ServerCore.onFile(at: store)
        defer { core.store.close() }
        return try (tables.isEmpty ? ["todo", "keeper"] : tables).flatMap { try core.rows(in: $0) }
    }
}

/// Runs a test in its own folder.
func withFolder<T>(_ body: (TemporaryFolder) async throws -> T) async throws -> T {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    return try await body(folder)
}

import Foundation
import HTTPTypes
import Synchronization
import TandemServer

/// The development server in a process of its own.
///
/// Its work and memory therefore do not count as the client's.
final class ServerProcess {
    static let option = "--server"

    /// The server's address.
    var url: URL { process.url }
    private let process: ListeningProcess

    /// Starts a server, and returns when it listens.
    ///
    /// - Parameters:
    ///   - cards: The number of cards.
    ///   - latency: The delay of each request, in milliseconds.
    ///   - age: The age of the cards, in seconds.
    ///   - files: The folder for files.
    init(cards: Int, latency: Int = 0, age: Int = 0, files: String? = nil) throws {
        process = try ListeningProcess(
            URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath(),
            arguments: [Self.option, "\(cards)", "\(latency)", "\(age)"] + [files].compactMap { $0 },
            name: "the server")
    }

    /// Runs the server process: prints its address and serves until its input ends.
    static func runAsChild(_ arguments: [String]) throws {
        let numbers = arguments.prefix(3).compactMap { Int($0) }
        guard numbers.count == 3 else { throw UsageError(problem: "\(option) needs CARDS LATENCY AGE [FILES]") }
        let (count, latency, age) = (numbers[0], numbers[1], numbers[2])
        let files = arguments.dropFirst(3).first
        try blocking {
            var configuration = ServerConfiguration(dialect: .datasync)
            if latency > 0 { configuration.faults = ServerFaults { _, _ in [.latency(.milliseconds(latency))] } }
            let slowness = Mutex(TimeInterval(age))
            configuration.clock = ServerClock(now: { slowness.withLock { Date() - $0 } })
            if let files { configuration.files = ServerFiles(try FileStorage.inFolder(at: files)) }
            let core = try ServerCore.inMemory(configuration: configuration)
            try await WireCards.insert(count, into: core)
            slowness.withLock { $0 = 0 }
            let server = try await TandemServer.start(core)
            FileHandle.standardOutput.write(Data("\(server.url.absoluteString)\n".utf8))
            await Task.detached { _ = FileHandle.standardInput.readDataToEndOfFile() }.value
            try await server.stop()
        }
    }
}

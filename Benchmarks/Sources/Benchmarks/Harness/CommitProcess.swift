import BigInt
import Foundation
import Tandem

/// A process that commits to a store on request, and reports the time of each commit.
final class CommitProcess {
    static let option = "--commits"

    /// The library that the process commits with.
    enum Way: String {
        case tandem
        /// SQLite alone. Nothing but the card changes.
        case sqlite
    }

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// Starts the process, and returns when it has opened the store.
    ///
    /// - Parameters:
    ///   - card: The card whose points each commit changes.
    ///   - way: The library that it commits with.
    init(_ path: String, card: LocalID, way: Way = .tandem) throws {
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [Self.option, path, card.rawValue, way.rawValue]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        _ = try commitTime()
    }

    deinit {
        // The child ends with its input.
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Requests a commit that sets the card's points.
    func commit(points: Int) throws {
        try input.fileHandleForWriting.write(contentsOf: Data("\(points)\n".utf8))
    }

    /// Waits for the process to report the time of the commit by ``CommitClock``, which all processes share.
    func commitTime() throws -> UInt64 {
        var line = Data()
        while line.last != 0x0A {
            let some = output.fileHandleForReading.availableData
            if some.isEmpty { throw UsageError(problem: "the process that commits has ended") }
            line += some
        }
        return UInt64(String(decoding: line.dropLast(), as: UTF8.self)) ?? 0
    }

    /// Runs the committing process.
    static func runAsChild(_ arguments: [String]) throws {
        guard arguments.count == 3, let way = Way(rawValue: arguments[2]) else {
            throw UsageError(problem: "\(option) needs PATH CARD WAY")
        }
        CommitClock.begin
        switch way {
        case .tandem: try commitWithTandem(path: arguments[0], card: LocalID(arguments[1]))
        case .sqlite: try commitWithSQLite(path: arguments[0], card: arguments[1])
        }
    }

    private static func commitWithTandem(path: String, card: LocalID) throws {
        var configuration = Store.Configuration()
        configuration.busyTimeout = 60
        let store = try Store(at: path, models: Card.self, Person.self, configuration: configuration)
        defer { store.close() }
        try serveRequests { points in
            try store.write { tx in _ = try tx.update(Card.self, localID: card) { $0.points = BigInt(points) } }
        }
    }

    private static func commitWithSQLite(path: String, card: String) throws {
        let connection = try RawConnection(path, cacheKiB: 2048)
        defer { connection.close() }
        let statement = try connection.prepare("UPDATE \"Card\" SET \"points\" = ? WHERE \"localID\" = ?")
        defer { statement.finalize() }
        var scratch = Scratch()
        defer { scratch.free() }
        try serveRequests { points in
            scratch.clear()
            statement.bind(1, blob: RawInteger.put(BigInt(points), into: &scratch))
            statement.bind(2, text: scratch.put(card))
            try statement.run()
        }
    }

    /// Commits once for each line of the input, and prints the times of the commits.
    private static func serveRequests(commit: (_ points: Int) throws -> Void) throws {
        CommitClock.attach()
        func say(_ time: UInt64) { FileHandle.standardOutput.write(Data("\(time)\n".utf8)) }
        say(CommitClock.now)
        while let line = readLine() {
            guard let points = Int(line) else { throw UsageError(problem: "not a number: \(line)") }
            try commit(points)
            say(CommitClock.commit)
        }
    }
}

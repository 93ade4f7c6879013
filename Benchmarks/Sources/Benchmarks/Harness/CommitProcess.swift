import BigInt
import Foundation
import Tandem

/// A process that commits to a store on request, and reports the time of each commit.
final class CommitProcess {
    static let option = "--commits"

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// Starts the process, and returns when it has opened the store.
    ///
    /// - Parameter card: The card whose points each commit changes.
    init(_ path: String, card: LocalID) throws {
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [Self.option, path, card.rawValue]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        _ = try answer()
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
    func answer() throws -> UInt64 {
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
        guard arguments.count == 2 else { throw UsageError(problem: "\(option) needs PATH CARD") }
        CommitClock.begin
        var configuration = Store.Configuration()
        configuration.busyTimeout = 60
        let store = try Store(at: arguments[0], models: Card.self, Person.self, configuration: configuration)
        defer { store.close() }
        CommitClock.attach()
        let card = LocalID(arguments[1])
        func say(_ time: UInt64) { FileHandle.standardOutput.write(Data("\(time)\n".utf8)) }
        say(CommitClock.now)
        while let line = readLine() {
            guard let points = Int(line) else { throw UsageError(problem: "not a number: \(line)") }
            try store.write { tx in try tx.update(Card.self, localID: card) { $0.points = BigInt(points) } }
            say(CommitClock.commit)
        }
    }
}

import Foundation
import GRDBSQLite
import HeapSize

/// The costs of pulls over recorded responses, and SQLite's share of them.
final class PullCosts {
    /// The memory of the process at one time, in bytes.
    struct Held: Sendable {
        /// All allocated memory.
        let heap: Int
        /// The part that SQLite has allocated, most of it cached pages.
        let sqlite: Int

        static var now: Held { Held(heap: Int(heap_size()), sqlite: Int(sqlite3_memory_used())) }

        static func - (lhs: Held, rhs: Held) -> Held {
            Held(heap: lhs.heap - rhs.heap, sqlite: lhs.sqlite - rhs.sqlite)
        }
    }

    private let objects: Int
    private var pulls: [Double] = []
    private var replays: [Double] = []
    private var statements = 0
    /// The memory at each request of a pull.
    var held: [Held] = []

    init(objects: Int) { self.objects = objects }

    /// Records a pull.
    ///
    /// - Parameter seconds: The processor time.
    func notePull(seconds: Double) {
        pulls.append(seconds)
    }

    /// Records the cost of the same statements with the same values in SQLite alone.
    func noteReplay(seconds: Double, statements: Int) {
        // The first replay is the warm-up.
        if self.statements > 0 { replays.append(seconds) }
        self.statements = statements
    }

    var notes: [String] { shares + memory }

    /// The maximum of Tandem's own share per object, in seconds.
    private static let mostOwn = 40e-6

    private func micros(_ seconds: Double) -> String { (seconds / Double(objects) * 1_000_000).text(1) }

    private var shares: [String] {
        // Pairs the rounds, which run one after the other.
        let own = zip(pulls, replays).map { $0 - $1 }
        guard let least = own.min() else { return [] }
        let isKept = own.median / Double(objects) <= Self.mostOwn
        return [
            """
            Tandem's share of processor time: \(micros(own.median)) of \(micros(pulls.median)) µs per object (least: \
            \(micros(least)); \(isKept ? "at most 40" : "ABOVE THE LIMIT OF 40")). SQLite's share: \
            \(micros(replays.median)) µs per object for \(statements) statements, executed again with nearly the same \
            values through the C interface. The responses are recorded: there is no server and no socket.
            """
        ]
    }

    private var memory: [String] {
        guard held.count > 20, let first = held.first else { return [] }
        func most(_ pages: ArraySlice<Held>) -> Held? { pages.max { $0.heap < $1.heap } }
        func text(_ bytes: Int) -> String { (Double(bytes) / 1_048_576).text(1) }
        func line(_ some: Held?) -> String {
            guard let some = some.map({ $0 - first }) else { return "?" }
            return
                "\(text(some.heap)) MiB (SQLite \(text(some.sqlite)), the rest "
                + "\(text(some.heap - some.sqlite)))"
        }
        return [
            """
            memory since the first request: at most \(line(most(held[10..<20]))), at pages 10 to 20; at most \
            \(line(most(held[20...]))), from there to page \(held.count)
            """
        ]
    }
}

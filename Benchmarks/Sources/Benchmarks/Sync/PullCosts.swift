import Foundation
import GRDBSQLite
import HeapSize

/// What pulls over recorded answers have cost, and what of it is SQLite's.
final class PullCosts {
    /// What the process holds at one time, in bytes.
    struct Held: Sendable {
        /// All that is allocated.
        let heap: Int
        /// What of it SQLite has allocated, the pages of the file that it keeps above all.
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
    /// What the process held at each request of a pull.
    var held: [Held] = []

    init(objects: Int) { self.objects = objects }

    /// - Parameter seconds: For how long the process has run.
    func notePull(seconds: Double) {
        pulls.append(seconds)
    }

    /// Notes what the same statements with the same values cost SQLite alone.
    func noteReplay(seconds: Double, statements: Int) {
        // The first one is the warm-up.
        if self.statements > 0 { replays.append(seconds) }
        self.statements = statements
    }

    var notes: [String] { shares + memory }

    /// What Tandem itself may take for an object, in seconds.
    private static let mostOwn = 40e-6

    private func micros(_ seconds: Double) -> String { (seconds / Double(objects) * 1_000_000).text(1) }

    private var shares: [String] {
        // Of the rounds, which are run one after the other.
        let own = zip(pulls, replays).map { $0 - $1 }
        guard let least = own.min() else { return [] }
        let isKept = own.median / Double(objects) <= Self.mostOwn
        return [
            """
            own share: \(micros(own.median)) µs an object of \(micros(pulls.median)) (least: \(micros(least)); \
            \(isKept ? "at most 40, as it has to be" : "ABOVE THE 40 IT MAY TAKE")), of processor time, for reading, \
            checking and storing what was pulled; the rest is SQLite's: its \(statements) statements take \
            \(micros(replays.median)) µs an object, run again with nearly the same values by its C interface alone \
            (recorded answers, no server and no socket)
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
                "\(text(some.heap)) MiB, of which SQLite has \(text(some.sqlite)) and all else \(text(some.heap - some.sqlite))"
        }
        return [
            """
            above what the process had allocated at the first request, it had at most \(line(most(held[10..<20]))), at \
            pages 10 to 20; and ever after, to page \(held.count), at most \(line(most(held[20...])))
            """
        ]
    }
}

import Foundation
import Synchronization

/// How far a server's clock is from the local one, as its answers tell.
final class ServerClock: Sendable {
    /// The last measures, by which one odd answer counts for nothing.
    private let offsets = Mutex<[TimeInterval]>([])

    /// Notes a time that a server gave in an answer.
    ///
    /// - Parameters:
    ///   - before: The local time when the request left.
    ///   - after: The local time when its answer came.
    func note(_ date: Date, between before: Date, and after: Date) {
        let middle = before.addingTimeInterval(after.timeIntervalSince(before) / 2)
        offsets.withLock { offsets in
            offsets.append(date.timeIntervalSince(middle))
            if offsets.count > 9 { offsets.removeFirst() }
        }
    }

    /// How many seconds the server is ahead. Answers tell its time by the second, so that less than one is none.
    var offset: TimeInterval {
        offsets.withLock { offsets in
            offsets.isEmpty ? 0 : offsets.sorted()[offsets.count / 2].rounded(.towardZero)
        }
    }

    /// A local time as the server's clock would have shown it.
    func serverTime(of date: Date) -> Date { date.addingTimeInterval(offset) }
}

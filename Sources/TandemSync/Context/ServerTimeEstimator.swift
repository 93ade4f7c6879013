import Foundation
import Synchronization

/// The offset of a server's clock from the local one, measured from its responses.
final class ServerTimeEstimator: Sendable {
    /// The last measurements, so that a single outlier has no effect.
    private let offsets = Mutex<[TimeInterval]>([])

    /// Records the time of a server's response.
    ///
    /// - Parameters:
    ///   - before: The local time when the request was sent.
    ///   - after: The local time when the response arrived.
    func record(_ date: Date, between before: Date, and after: Date) {
        let middle = before.addingTimeInterval(after.timeIntervalSince(before) / 2)
        offsets.withLock { offsets in
            offsets.append(date.timeIntervalSince(middle))
            if offsets.count > 9 { offsets.removeFirst() }
        }
    }

    /// The number of seconds by which the server is ahead. `Date` headers have one-second resolution, so smaller
    /// offsets count as zero.
    var offset: TimeInterval {
        offsets.withLock { offsets in
            offsets.isEmpty ? 0 : offsets.sorted()[offsets.count / 2].rounded(.towardZero)
        }
    }

    /// Returns the time of the server's clock at a local time.
    func serverTime(of date: Date) -> Date { date.addingTimeInterval(offset) }
}

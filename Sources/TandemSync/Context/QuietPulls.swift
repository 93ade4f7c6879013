import Foundation
import Tandem

/// The times of the last pulls that found nothing new. Such a pull makes no commit, so the times are stored in the lock
/// file beside the store.
///
/// The file holds pairs of times and names no table: of an encrypted store it reveals times only. The first time of a
/// pair is the success that the store records for a table. The second time is that of a later pull. A pair counts only
/// while the store records its first time, and for one table only. So a purge, a restored backup and a new store at the
/// same path leave it behind.
struct QuietPulls: Equatable, Sendable {
    /// Later times by recorded ones, in seconds since 2001.
    private var times: [Double: Double] = [:]

    /// Reads the pairs. There are none if the file can't be read or holds anything else.
    init(at path: String) {
        guard let data = FileManager.default.contents(atPath: path), data.count <= 1 << 16, data.count % 16 == 0
        else { return }
        let bytes = Array(data)
        for start in stride(from: 0, to: bytes.count, by: 16) {
            times[Self.time(bytes[start..<start + 8])] = Self.time(bytes[start + 8..<start + 16])
        }
    }

    /// Returns the time at which each table was last fetched to its end.
    ///
    /// - Parameter recorded: The times that the store records.
    func successes(after recorded: [String: Date]) -> [String: Date] {
        let tables = recorded.values.reduce(into: [Double: Int]()) {
            $0[$1.timeIntervalSinceReferenceDate, default: 0] += 1
        }
        return recorded.mapValues { date in
            let time = date.timeIntervalSinceReferenceDate
            guard tables[time] == 1, let later = times[time], later > time, later.isFinite else { return date }
            return Date(timeIntervalSinceReferenceDate: later)
        }
    }

    /// Replaces the pairs with those of the tables as they are now.
    ///
    /// - Parameters:
    ///   - successes: The times at which tables were fetched to their end.
    ///   - recorded: The times that the store records.
    mutating func update(_ successes: [String: Date], after recorded: [String: Date]) {
        let known = self.successes(after: recorded).merging(successes) { max($0, $1) }
        times = [:]
        for (table, date) in recorded {
            guard let later = known[table], later > date else { continue }
            times[date.timeIntervalSinceReferenceDate] = later.timeIntervalSinceReferenceDate
        }
    }

    /// Writes the pairs, if the file exists. It is written in place, as it is a lock. A file that can't be written
    /// keeps older times.
    func write(to path: String) {
        let bytes = times.sorted { $0.key < $1.key }.flatMap { Self.bytes(of: $0.key) + Self.bytes(of: $0.value) }
        let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let count = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        if count == bytes.count { _ = ftruncate(descriptor, off_t(count)) }
    }

    private static func time(_ bytes: ArraySlice<UInt8>) -> Double {
        Double(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }

    private static func bytes(of time: Double) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: time.bitPattern >> UInt64($0)) }
    }
}

extension SyncContext {
    /// Returns the time at which each table was last fetched to its end, by any context.
    ///
    /// - Parameter recorded: The times that the store records.
    func successes(after recorded: [String: Date]) -> [String: Date] {
        guard let path = store.lockPath else { return recorded }
        return QuietPulls(at: path).successes(after: recorded)
    }

    /// Stores the end times of pulls that found nothing new, for the next process. Call it within a sync, which has the
    /// lock.
    func saveQuietPulls() async {
        guard let path = store.lockPath, let recorded = try? await store.read({ try $0.lastSuccesses() }) else {
            return
        }
        let before = QuietPulls(at: path)
        var pulls = before
        pulls.update(statusTracker.status.lastSuccess, after: recorded)
        if pulls != before { pulls.write(to: path) }
    }
}

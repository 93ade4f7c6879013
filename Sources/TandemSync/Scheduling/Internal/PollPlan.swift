import Foundation

/// The plan of the next poll for changes on the server. It uses no clock and no task.
struct PollPlan {
    /// The outcome of a poll.
    enum Outcome: Hashable {
        /// The tag of a table has changed.
        case changed
        case unchanged
        /// The server did not respond, or is not available now.
        case failed
        /// The server does not accept the credentials.
        case unauthenticated
        /// The server has no tags for any of the tables.
        case unsupported
    }

    /// The shortest and the longest interval in seconds; `nil` if the scheduler does not poll.
    private var range: ClosedRange<TimeInterval>?
    private var interval: TimeInterval = 0
    private var due: Date?
    private var isRunning = false
    /// Whether a poll has found tables to pull.
    private var hasPull = false
    /// Whether requests fail until the app resolves a problem, for example until the user signs in.
    private var needsApp = false

    /// The shortest interval in seconds that options can set.
    private static let shortest: TimeInterval = 1

    init(_ range: ClosedRange<Duration>?, at now: Date) {
        guard let range else { return }
        let first = max(Self.shortest, range.lowerBound.seconds)
        self.range = first...max(first, range.upperBound.seconds)
        (interval, due) = (first, now + first)
    }

    // MARK: Due steps

    /// The time of the next poll.
    var nextPoll: Date? { isRunning || hasPull || needsApp ? nil : due }

    /// Whether tables have to be pulled.
    var isPullDue: Bool { hasPull && !needsApp }

    // MARK: Events

    /// Moves the due time by a correction of the clock.
    mutating func move(by step: TimeInterval) { due = due.map { $0 + step } }

    mutating func began() { (isRunning, due) = (true, nil) }

    /// - Parameter hasPull: Whether tables have to be pulled.
    mutating func ended(_ outcome: Outcome, hasPull: Bool, at now: Date) {
        isRunning = false
        guard let range else { return }
        self.hasPull = self.hasPull || hasPull
        switch outcome {
        case .changed: interval = range.lowerBound
        case .unchanged, .failed: interval = min(2 * interval, range.upperBound)
        case .unauthenticated: needsApp = true
        case .unsupported: self.range = nil
        }
        due = self.range == nil ? nil : now + interval
    }

    /// Records that a sync pulls the tables.
    mutating func beganSync() { hasPull = false }

    mutating func endedSync(_ kind: RetryDecision.Kind) {
        switch kind {
        case .fine, .leftOver: needsApp = false
        case .needsApp: needsApp = true
        case .failed: break
        }
    }
}

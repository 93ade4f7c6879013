/// Information about transactions of other processes.
enum ExternalTransactions: Sendable, Equatable {
    /// No other process was in a transaction at the time of the query.
    case none
    /// Another process was in a transaction, possibly only to read.
    case some
    /// The system can't tell.
    case unknown
}

/// The schedule of checks for commits of other processes, after the log file has changed.
///
/// **The lost wake-up.** SQLite writes a transaction's frames to the log, then (with `synchronous=FULL`) waits for the
/// disk. Only then does it publish the commit in shared memory. The system reports the change of the file at the first
/// of these steps, and reports nothing at the last. A single check after the report misses every eighth commit, and
/// also a commit after which the store stays idle. Finding a new version proves nothing either. It may be the version
/// of the previous commit. The process that has just written its frames may not have published its commit yet.
///
/// Therefore a series of checks follows a change, with growing delays, until all commits are certainly seen. That is
/// the case if no other process was in a transaction *before* the check. A writer is in a transaction from before its
/// first frame until after the commit is published. A process that caused the change has then either published it, or
/// never will. Usually this holds at the first check, which ends the series. While another process is in a transaction
/// (it may wait for a slow disk, or only read), the series continues. The interval between checks is ``pause``, and
/// ``longPause`` after ``patience``. A reader that runs for hours then costs almost nothing, and a commit whose flush
/// takes longer is still found. If transactions can't be detected, the series ends with its last delay.
///
/// **Own writes.** They change the file too. An own write that began after a change has waited for the lock that the
/// writer of the change held. It has checked while holding the lock, and its check replaces that of the series. Later
/// writes change the file again.
///
/// This is a pure state machine. Its caller passes the events and the time.
struct PollingSchedule {
    enum Step: Equatable {
        /// Check now, and pass the result to ``checked(_:at:)``.
        case check
        case wait(Duration)
        /// The series has ended. The next change begins another.
        case rest
    }

    /// The time within which a commit of another process is noticed. Except for ``longPause``, no delay below is longer
    /// than a quarter of it. The rest is for threads that wait for a processor.
    static let limit = Duration.milliseconds(100)
    /// The delays before the checks, each measured from the previous check.
    static let delays: [Duration] = [
        .microseconds(150), .milliseconds(1), .milliseconds(2), .milliseconds(5), .milliseconds(20),
        .milliseconds(25), .milliseconds(25), .milliseconds(25),
    ]
    /// The delay of all later checks.
    static let pause = Duration.milliseconds(25)
    /// The interval of checks on systems that can't report changes.
    static let blindPause = Duration.milliseconds(25)
    /// The time after the last change during which ``pause`` applies.
    static let patience = Duration.seconds(10)
    /// The delay of all checks after that. A commit with a slower flush is noticed at most this delay after its end.
    static let longPause = Duration.seconds(1)
    /// The minimum interval between checks, however many changes there are.
    static let spacing = Duration.milliseconds(1)

    /// The number of own writes that had begun when the last change was reported.
    private var mark = 0
    /// The index of the next delay.
    private var index = 0
    private var lastChange = Duration.zero
    private var lastStep: Duration?

    /// Begins a series after a change, if no series is running.
    ///
    /// - Parameter ownWrites: The number of own writes that have begun, read after the change was reported. If a write
    ///   that began after the change is counted, it costs a superfluous check. The opposite error would lose a commit.
    /// - Returns: The time until the first step.
    mutating func begin(ownWrites: Int, at now: Duration) -> Duration {
        mark = ownWrites
        index = 1
        lastChange = now
        guard let lastStep else { return Self.delays[0] }
        return max(Self.delays[0], Self.spacing - (now - lastStep))
    }

    /// Returns the action for the next step, whose time has come.
    ///
    /// - Parameters:
    ///   - hasChanged: Whether the file has changed since the last step.
    ///   - ownWrites: The number of own writes that have begun, read after `hasChanged`.
    mutating func step(hasChanged: Bool, ownWrites: Int, at now: Duration) -> Step {
        let hasOwnWrites = ownWrites != mark
        lastStep = now
        if hasChanged {
            mark = ownWrites
            // The first delay applies only to a change after an idle period.
            index = 1
            lastChange = now
            // The own write may have begun before this change.
            return hasOwnWrites ? .wait(nextDelay(at: now)) : .check
        }
        return hasOwnWrites ? .rest : .check
    }

    /// Records a check.
    ///
    /// - Parameter foreign: The state of other processes' transactions immediately before the check.
    /// - Returns: The time until the next step, or `nil` if the schedule has ended.
    mutating func checked(_ foreign: ExternalTransactions, at now: Duration) -> Duration? {
        switch foreign {
        case .none: nil
        case .some: nextDelay(at: now)
        case .unknown: index < Self.delays.count ? nextDelay(at: now) : nil
        }
    }

    private mutating func nextDelay(at now: Duration) -> Duration {
        guard index < Self.delays.count else {
            return now - lastChange < Self.patience ? Self.pause : Self.longPause
        }
        defer { index += 1 }
        return Self.delays[index]
    }
}

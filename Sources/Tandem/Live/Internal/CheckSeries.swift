/// What is known of transactions that are not this process's.
enum ForeignTransactions: Sendable, Equatable {
    /// No other process was in a transaction when it was asked.
    case none
    /// Another process was in one, if only to read.
    case some
    /// It can't be told.
    case unknown
}

/// When to look for commits of other processes, after the log file has changed.
///
/// **The lost wake-up.** SQLite writes a transaction's frames to the log, then (with `synchronous=FULL`) waits for the
/// disk, and only then publishes the commit in shared memory. The change of the file is told at the first of these
/// steps, and nothing is told at the last. Who looks once, when told, misses a commit in eight, and one after which the
/// store is quiet for good. Finding a new version proves nothing either: it may be that of the commit before, while
/// the one that has just written its frames is still to be published.
///
/// So a series of looks follows a change, with growing delays, until it is certain that all is seen. It is when no
/// other process was in a transaction *before* the look: a writer is in one from before its first frame until after
/// the commit is published. Whoever wrote what raised the change has then published it, or never will. Mostly that is
/// so at the first look, and the series ends with it. As long as another process is in a transaction (it may wait for
/// a slow disk, or only read) the series goes on, with ``pause`` between looks, after ``patience`` with ``longPause``:
/// then a reader that goes on for hours costs next to nothing, and a commit whose flush of the disk takes longer than
/// that is still found. Where transactions can't be told, the series ends with its last delay.
///
/// **Own writes.** They change the file too. An own write that began after a change has waited for the lock that the
/// writer of the change held, and has looked with the lock in its hands: that look stands for the series'. What is
/// written later changes the file again.
///
/// A pure machine: whoever runs it says what happened and what time it is.
struct CheckSeries {
    enum Step: Equatable {
        /// Look now, and say what was found with ``checked(_:at:)``.
        case check
        case wait(Duration)
        /// The series is over. The next change begins another.
        case rest
    }

    /// The time within which a commit of another process is noticed. No pause below is longer than a quarter of it,
    /// save ``longPause``: the rest is for threads that wait for a processor.
    static let limit = Duration.milliseconds(100)
    /// The delays before the looks, each counted from the look before.
    static let delays: [Duration] = [
        .microseconds(150), .milliseconds(1), .milliseconds(2), .milliseconds(5), .milliseconds(20),
        .milliseconds(25), .milliseconds(25), .milliseconds(25),
    ]
    /// The delay of all looks after those.
    static let pause = Duration.milliseconds(25)
    /// How often to look where the system can't tell of changes.
    static let blindPause = Duration.milliseconds(25)
    /// How long after the last change ``pause`` holds.
    static let patience = Duration.seconds(10)
    /// The delay of all looks after that. A commit that takes longer to flush is noticed with its end and this delay.
    static let longPause = Duration.seconds(1)
    /// Looks are at least so far apart, however many changes there are.
    static let spacing = Duration.milliseconds(1)

    /// The number of own writes that had begun when the last change was told of.
    private var mark = 0
    /// Which of the delays comes next.
    private var index = 0
    private var lastChange = Duration.zero
    private var lastStep: Duration?

    /// A change, while no series is under way, begins one.
    ///
    /// - Parameter ownWrites: The number of own writes that have begun, read after the change was told of. One that is
    ///   counted although it began after the change costs a look too many; the other way round would lose a commit.
    /// - Returns: The time until the first step.
    mutating func begin(ownWrites: Int, at now: Duration) -> Duration {
        mark = ownWrites
        index = 1
        lastChange = now
        guard let lastStep else { return Self.delays[0] }
        return max(Self.delays[0], Self.spacing - (now - lastStep))
    }

    /// The time has come for the next step.
    ///
    /// - Parameters:
    ///   - hasChanged: Whether the file has changed since the last step.
    ///   - ownWrites: The number of own writes that have begun, read after `hasChanged`.
    mutating func step(hasChanged: Bool, ownWrites: Int, at now: Duration) -> Step {
        let hasLooked = ownWrites != mark
        lastStep = now
        if hasChanged {
            mark = ownWrites
            // The first delay is for a change after quiet.
            index = 1
            lastChange = now
            // The own write may have begun before this change.
            return hasLooked ? .wait(nextDelay(at: now)) : .check
        }
        return hasLooked ? .rest : .check
    }

    /// A look has been taken.
    ///
    /// - Parameter foreign: What was known of others' transactions just before the look.
    /// - Returns: The time until the next step; `nil` if the series is over.
    mutating func checked(_ foreign: ForeignTransactions, at now: Duration) -> Duration? {
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

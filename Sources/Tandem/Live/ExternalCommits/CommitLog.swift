/// The recorded changes between two states of the store.
///
/// **Proof that nothing is missing.** The ends of all commits between two positions, of any program, are read from the
/// log itself (``LogCommits``). Only one transaction can commit on top of a position. Its entry, if it has one, is in
/// that transaction. So an entry that names the position before a commit is the entry of this commit. It has all
/// changes of the commit.
///
/// If a commit has no such entry, its changes are unknown. There are two causes:
/// - The commit was made by another program, an older version of Tandem, or a process without knowledge of an observer.
/// - Later entries have displaced the entry.
///
/// If the log has begun again in between, the commits before that can't be counted. The changes are then unknown too.
struct CommitLog {
    /// A position up to which the observer knows all commits.
    struct Known: Sendable {
        var position: LogPosition
        /// The number of its own commits after the position.
        var ownCommits = 0
    }

    /// The position before the first recorded commit.
    let start: LogPosition
    /// The changes of each commit of another store, in order.
    let commits: [RecordedChanges]

    /// Reads the changes after a known position.
    ///
    /// - Parameters:
    ///   - known: The known position.
    ///   - end: The end of the last commit. If it is later than the state that the connection reads, the entry of the
    ///     last commit is not found.
    ///   - descriptor: A descriptor of the log file.
    ///   - connection: A connection in a transaction.
    /// - Returns: `nil` if the changes are unknown.
    static func changes(
        after known: Known, upTo end: LogPosition, in descriptor: Int32, on connection: Connection
    ) throws -> CommitLog? {
        guard let ends = LogCommits.ends(after: known.position, upTo: end, in: descriptor),
            ends.count >= known.ownCommits
        else { return nil }
        // The positions on which the other commits are based.
        let bases = ([known.position.frame] + ends)[known.ownCommits..<ends.count]
        guard let first = bases.first else { return CommitLog(start: end, commits: []) }
        let statement = try connection.statement(CommitStatement.read)
        defer { statement.reset() }
        statement.bind(1, to: Int64(bases.count))
        var commits: [RecordedChanges] = []
        for base in bases.reversed() {
            guard try statement.step(), statement.bytes(0).elementsEqual(end.at(base).bytes),
                let changes = RecordedChanges(statement.bytes(1))
            else { return nil }
            commits.append(changes)
        }
        return CommitLog(start: end.at(first), commits: commits.reversed())
    }
}

/// Limits of a live engine. Tests lower them so that few rows reach them.
struct LiveTuning: Sendable {
    /// The maximum number of recorded rows per table and transaction. If more rows change, queries of the table reload,
    /// which costs about the same but does not delay the writer.
    var bulkLimit = 10_000
    /// The maximum number of a part's rows that are looked up one by one. If there are more, reloading the part is
    /// cheaper.
    var joinedLimit = 2_000
    /// The limit of a transaction's work for all live queries before it commits. The remaining queries reload on
    /// another thread. Comparing a row with a query, or recording it for one, costs 1. A statement costs
    /// ``statementWork``.
    var resolvingLimit = 200_000
    /// The cost of a statement in units of ``resolvingLimit``: 5 µs compared with 0.3 µs for a row.
    var statementWork = 16
    /// The minimum number of rows that a limited query keeps beyond its visible rows. 0 disables the reserve.
    var leastReserve = 32
    /// Whether commits are recorded for other processes, and recorded commits of other processes are followed row by
    /// row. Otherwise live queries reload after each of them.
    var recordsCommits = true
    /// The time in nanoseconds after which a writer checks again whether another store observes commits. A commit
    /// before that may not be recorded, and live queries of a new observer then reload.
    var observerInterval: UInt64 = 1_000_000
    /// The minimum length of the lists that two threads read, sort and build.
    var threads = TwoThreads.standard
    /// The number of recent commits that are recorded.
    var recordedCommits = 32
    /// The maximum number of rows that are recorded for a table and a commit. If more rows change, live queries of the
    /// table reload in other processes.
    var recordedRows = 256
    /// The maximum size of a commit's recorded rows in bytes.
    var recordedBytes = 32_768
    /// Whether a debug build stops if changes do not fit the rows of a live list. Otherwise the list recovers, as in a
    /// release build.
    var stopsAtContradictions = true
}

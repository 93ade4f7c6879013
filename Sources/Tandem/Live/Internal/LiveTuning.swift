/// Limits of a live engine, and an injected fault. Tests lower the limits so that few rows reach them.
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
    var sealingLimit = 200_000
    /// The cost of a statement in units of ``sealingLimit``: 5 µs compared with 0.3 µs for a row.
    var statementWork = 16
    /// The minimum number of rows that a limited query keeps beyond its visible rows. 0 disables the reserve.
    var leastReserve = 32
    /// The injected fault. It has no effect in a release build.
    var fault: LiveFault?

    /// Returns whether a fault is injected.
    @inline(__always)
    func has(_ fault: LiveFault) -> Bool {
        #if DEBUG
            return self.fault == fault
        #else
            return false
        #endif
    }
}

/// Bugs that an engine like this one can have: see ``LiveTuning/fault``.
enum LiveFault: String, CaseIterable, Sendable {
    /// The last of several changed rows is not reported.
    case changeDropped
    /// Rows with equal keys are ordered by their rowids.
    case tieBrokenWrongly
    /// A window into which rows must move up is not refilled.
    case windowNotRefilled
    /// For a row that is changed twice in a transaction, the state before the second change counts as the old one.
    case lastImageForFirst
    /// A transaction that is rolled back is reported.
    case rolledBackPublished
    /// An object that reuses the rowid of a removed object is treated as that object.
    case reusedRowForModification
    /// A change behind a reference is ignored.
    case joinedRowIgnored
    /// A change that affects only the sync state is ignored.
    case syncStateIgnored
    /// A subscription that a write left out is notified.
    case quietWriteTold
    /// Changes that accumulated for a slow subscriber are reported against the wrong base.
    case mergedAgainstWrongBase
    /// Commits of other processes are not noticed.
    case foreignCommitMissed
    /// A least or greatest value that was removed is kept.
    case staleExtreme
    /// Values are delivered without demand.
    case demandIgnored
    /// A commit with very many rows is not reported.
    case bulkForgotten
    /// A subscription that begins during a transaction does not reload.
    case lateSubscriberForgotten
    /// A change of properties that are not observed is reported.
    case silentChangeTold
    /// In a subscription with several queries, only the first is updated.
    case combinedTorn
}

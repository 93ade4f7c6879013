/// Limits of a live engine, and a planted fault. Tests lower the limits so that few rows reach them.
struct LiveTuning: Sendable {
    /// Changed rows of one table per transaction that are recorded. If there are more, queries of the table reload their
    /// results, which costs about the same but does not delay the writer.
    var bulkLimit = 10_000
    /// Rows of a part that are looked up one by one. If there are more, reloading the part is cheaper.
    var joinedLimit = 2_000
    /// Bound of a transaction's work for all live queries before it commits. The remaining queries reload their results
    /// on another thread. A row compared with a query costs 1, a statement ``statementWork``.
    var sealingLimit = 200_000
    /// Cost of a statement in units of ``sealingLimit``: 5 µs against 0.3 µs for a row.
    var statementWork = 16
    /// The rows that a limited query keeps beyond those it shows, at least; 0 for none ever.
    var leastReserve = 32
    /// What the engine does wrong. Without effect in a release build.
    var fault: LiveFault?

    /// Whether the engine is to do something wrong.
    @inline(__always)
    func has(_ fault: LiveFault) -> Bool {
        #if DEBUG
            return self.fault == fault
        #else
            return false
        #endif
    }
}

/// Mistakes that an engine like this one can have: see ``LiveTuning/fault``.
enum LiveFault: String, CaseIterable, Sendable {
    /// Of several changed rows the last is not told of.
    case changeDropped
    /// Rows with equal keys are ordered by their numbers.
    case tieBrokenWrongly
    /// A window into which rows must move up is left short.
    case windowNotRefilled
    /// A row that is changed twice in a transaction is taken to have been as it was before the second time.
    case lastImageForFirst
    /// A transaction that is rolled back is told of.
    case rolledBackPublished
    /// An object that has the row number of one that is gone is taken for that one.
    case reusedRowForModification
    /// A change behind a reference is not looked at.
    case joinedRowIgnored
    /// A change of the sync state alone is taken for none.
    case syncStateIgnored
    /// Who asked not to be told of a write is told.
    case quietWriteTold
    /// What changed while the subscriber was slow is told as what changed last.
    case mergedAgainstWrongBase
    /// What other processes do is not noticed.
    case foreignCommitMissed
    /// A least or greatest value that has left stays.
    case staleExtreme
    /// Who has asked for nothing is delivered to.
    case demandIgnored
    /// A commit of very many rows is not told of.
    case bulkForgotten
    /// Who subscribes during a transaction is not told to read again.
    case lateSubscriberForgotten
    /// A change of properties that are not observed is told.
    case silentChangeTold
    /// Of several queries in one subscription only the first is brought forward.
    case combinedTorn
}

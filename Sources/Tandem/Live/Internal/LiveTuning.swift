/// What tests set in an engine: limits so low that few rows reach them, and a fault, to see that it is found.
struct LiveTuning: Sendable {
    /// Past so many changed rows of a table the rows are not noted any more: what watches them reads afresh, which
    /// costs about the same then, and not the writer.
    var bulkLimit = 10_000
    /// Past so many rows of a part it is cheaper to read the part afresh than to ask SQLite of each.
    var joinedLimit = 2_000
    /// The most work that a transaction does for all live queries together before it commits. Past it the queries that
    /// are left read afresh, on another thread. A row shown to a query costs 1, a statement ``statementWork``.
    var sealingLimit = 200_000
    /// What a statement costs, in rows shown to a query: 5 µs against 0.3 µs.
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

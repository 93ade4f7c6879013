/// Bugs that an engine for live queries can have. A ``FaultPlanter`` plants one of them from outside of the engine.
enum LiveFault: String, CaseIterable, Sendable {
    /// A part ignores the last of several changed rows.
    case changeDropped
    /// Rows with equal keys are ordered by their rowids.
    case tieBrokenWrongly
    /// A window into which rows must move up is not refilled.
    case windowNotRefilled
    /// If a row changes twice in a transaction, the state before the second change counts as the old state.
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
    case quietWriteDelivered
    /// Changes that accumulated for a slow subscriber are reported against the wrong base.
    case mergedAgainstWrongBase
    /// Parts do not reload after a commit of another process.
    case foreignCommitMissed
    /// A least or greatest value that was removed is kept.
    case staleExtreme
    /// A request for some values counts as one for all.
    case demandIgnored
    /// A commit with very many rows is not reported.
    case bulkForgotten
    /// A subscription that begins during a transaction does not reload.
    case lateSubscriberForgotten
    /// A change of properties that are not observed is reported.
    case silentChangeDelivered
    /// In a subscription with several queries, only the first is updated.
    case combinedTorn
}

/// A change that a commit makes to a part of a subscription: see ``LivePart``.
enum PartChange: Sendable {
    /// A row's new state, or `nil` if the row is not (or never was) in the part.
    ///
    /// - Parameter isSilent: Whether only unobserved properties changed.
    case row(id: Int64, row: LiveRow?, isSilent: Bool)
    /// An increase or decrease of the number of rows.
    case count(Int)
    /// A value that was removed from an aggregate, and a value that was added to it.
    case value(old: StorageValue?, new: StorageValue?)
}

/// The events of a commit for a subscription.
struct CommitEvent: Sendable {
    /// The commit's number.
    var sequence: UInt64
    /// The changes, by the indices of the parts.
    var changes: [(part: Int, change: PartChange)] = []
    /// Whether the changes are not known row by row, so that the parts must reload.
    var mustReload = false
    /// The position in the log before the first of the commits, if they are those of other processes. A part that was
    /// loaded after it must reload.
    var logStart: LogPosition?
    /// Whether the write left this subscription out of its notifications.
    var isQuiet = false
    /// Whether each part had pending changes before, if that is already known.
    var dirt: [Bool]?
}

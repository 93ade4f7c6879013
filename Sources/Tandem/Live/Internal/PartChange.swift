/// What a commit did to one part of a subscription: see ``LivePart``.
enum PartChange: Sendable {
    /// A row as it is now, or none if it is not among the part's any more (or never was).
    ///
    /// - Parameter isSilent: Whether only properties changed that are not observed.
    case row(Int64, LiveRow?, isSilent: Bool)
    /// So many rows more, or fewer.
    case count(Int)
    /// A value that has left an aggregate, and one that has come to it.
    case value(old: StorageValue?, new: StorageValue?)
}

/// What one commit says to one subscription.
struct LiveNews: Sendable {
    /// The commit's number.
    var sequence: UInt64
    /// What it did, by the parts' indices.
    var changes: [(part: Int, change: PartChange)] = []
    /// Whether what it did is not known row by row: the parts must be read afresh.
    var mustReload = false
    /// Whether the writer asked not to have this subscription told.
    var isQuiet = false
    /// Which parts had something to tell before it, where that was looked at already.
    var dirt: [Bool]?
}

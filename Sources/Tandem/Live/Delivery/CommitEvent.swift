/// The event of a commit for a subscription. Only the thread that owns it accesses it: first the writer, then the
/// subscription's run.
final class CommitEvent {
    /// The changes of a part.
    struct PartChanges {
        /// The part's index in the subscription.
        let part: Int
        var changes: [PartChange]
    }

    /// The commit's number.
    let sequence: UInt64
    /// The position in the log before the first of the commits, if they are those of other processes. A part that was
    /// loaded after it must reload.
    let logStart: LogPosition?
    /// Whether the write left this subscription out of its notifications.
    let isQuiet: Bool
    /// The changed parts.
    private(set) var parts: [PartChanges] = []
    /// Whether the changes are not known row by row, so that the parts must reload.
    var mustReload = false
    /// Whether each part had pending changes before a quiet write. Empty until the event is first applied.
    var dirt: [Bool] = []

    init(sequence: UInt64, logStart: LogPosition?, isQuiet: Bool) {
        self.sequence = sequence
        self.logStart = logStart
        self.isQuiet = isQuiet
    }

    /// Adds a change of a part.
    func add(_ change: PartChange, to part: Int) {
        // For few parts, a linear search is faster than hashing.
        if let place = parts.firstIndex(where: { $0.part == part }) {
            parts[place].changes.append(change)
        } else {
            parts.append(PartChanges(part: part, changes: [change]))
        }
    }
}

import Tandem

// A user may see only some items of a table. The server then hides the tombstones of the others, and does not announce
// that an item was deleted or hidden. An item that becomes visible without a change has an old time. Only the number of
// visible items shows these events.

extension PullRun {
    /// Fetches everything if the server shows another number of items than this device has of them. Follows a pull of
    /// all changes.
    ///
    /// An item that was inserted after the server counted makes the numbers differ, which costs a full pull. A hidden
    /// item and one that becomes visible without a change may make them equal. The next full pull detects both.
    ///
    /// An edit of a hidden item may be refused, and then keeps its object until the user discards it. If the full pull
    /// finds nothing, it is not repeated for the same numbers until another pull finds something.
    ///
    /// - Parameter visibleCount: The number of items that the server shows.
    mutating func compare(_ visibleCount: Int, of queryID: String) async throws {
        // The store can't tell whether a deferred item matches a filter.
        guard query.filter == nil else { return }
        let table = query.table
        let stored = try await context.store.read { try $0.countOfServerItems(in: table) }
        let counts = ItemCounts(visible: visibleCount, stored: stored, reportsEdits: orphanedEdits != nil)
        guard counts.visible != counts.stored else { return recordCounts(nil, of: queryID) }
        let checked = context.checkedCounts.withLock { $0[key(of: queryID)] }
        if let checked, checked.covers(counts), !hasNews { return }
        try await pullAgain(queryID, keepsEdits: false)
        recordCounts(hasNews ? nil : counts, of: queryID)
    }

    /// Whether this pull has inserted or removed objects.
    private var hasNews: Bool { tally.result.inserted > 0 || tally.result.deleted > 0 }

    private func recordCounts(_ counts: ItemCounts?, of queryID: String) {
        context.checkedCounts.withLock { $0[key(of: queryID)] = counts }
    }
}

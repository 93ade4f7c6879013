import Tandem

// A user may see only some items of a table. The server then hides the tombstones of the others, and does not announce
// that an item was deleted or hidden. An item that becomes visible without a change has an old time. Only the number of
// visible items shows these events.

extension PullRun {
    /// Returns whether the server shows another number of items than this device has of them, after a pull of all
    /// changes.
    ///
    /// An item that was inserted after the server counted makes the numbers differ, which costs a full pull. A hidden
    /// item and one that becomes visible without a change may make them equal. The next full pull detects both.
    func differs(from visibleCount: Int) async throws -> Bool {
        // The store can't tell whether a deferred item matches a filter.
        guard query.filter == nil else { return false }
        let table = query.table
        return try await context.store.read { try Self.countOfServerItems(in: table, $0) } != visibleCount
    }

    /// Returns the number of the server's items that a table has: its objects with a server ID, also those with an
    /// operation, and the deferred items without an object.
    private static func countOfServerItems(in table: String, _ local: any LocalReadTransaction) throws -> Int {
        var count = 0
        try local.forEachSyncedRow(in: table, where: nil) { _, _ in count += 1 }
        try local.forEachDeferredItemWithoutOperation(in: table) { item in
            if item.localID == nil { count += 1 }
        }
        guard try local.countOfOperations(in: table) > 0 else { return count }
        var last: PendingOperation.ID?
        while true {
            let operations = try local.operations(after: last, limit: 500)
            for operation in operations where operation.table == table {
                if try local.serverID(of: operation.localID, in: table) != nil { count += 1 }
            }
            last = operations.last?.id
            if operations.count < 500 { return count }
        }
    }
}

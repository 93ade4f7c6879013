import Tandem

extension PullRun {
    /// Tries what was kept of the table's and has no operation: the token has passed it, so that the server will not
    /// send it again.
    ///
    /// All of it in one write: where unique values were passed on or swapped, one item has another's. One that can't be
    /// taken is told of, and stands in no other's way.
    mutating func retryKept() async throws {
        let items = try await readableKept()
        guard !items.isEmpty else { return }
        try Task.checkCancellation()
        let page = PageItems(items[...], forms, query.settings)
        let tally = tally
        self.tally = try await context.store.write { local in
            var next = tally
            try page.receiveTogether(into: local, &next)
            return next
        }
    }

    private mutating func readableKept() async throws -> [RemoteItem] {
        let table = query.table
        let kept = try await context.store.read { local in
            var kept: [KeptItem] = []
            try local.forEachKeptItemWithoutOperation(in: table) { kept.append($0) }
            return kept
        }
        var readable: [RemoteItem] = []
        for item in kept {
            if let item = read(item) { readable.append(item) }
        }
        return readable
    }

    private mutating func read(_ kept: KeptItem) -> RemoteItem? {
        guard let item = ItemForms.item(from: kept.source) else {
            tally.noteUnreadable(kept.serverID, "What was kept of it can't be read by this version.", nil)
            return nil
        }
        do {
            _ = try PageItems.stored(item, forms)
            return item
        } catch {
            tally.noteUnreadable(kept.serverID, (error as? SyncError)?.message ?? "\(error)", error)
            return nil
        }
    }
}

import Tandem

extension PullRun {
    /// Retries the deferred items of the table that have no operation. The token has passed them, so the server does
    /// not send them again.
    ///
    /// All items are stored in one write: if unique values were moved or swapped, an item has another item's old value.
    /// An item that can't be stored is reported and does not block the others.
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

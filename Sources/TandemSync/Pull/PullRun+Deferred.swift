import Tandem

extension PullRun {
    /// Retries the deferred items of the table that have no operation. The token has passed them, so the server does
    /// not send them again.
    ///
    /// All items are stored in one write: if unique values were moved or swapped, an item has another item's old value.
    /// An item that can't be stored is reported and does not block the others.
    mutating func retryDeferred() async throws {
        let items = try await readableDeferred()
        guard !items.isEmpty else { return }
        try Task.checkCancellation()
        let page = PageItems(items[...], coder: coder, settings: query.settings)
        let tally = tally
        self.tally = try await context.store.write { local in
            var next = tally
            try page.receiveTogether(into: local, tally: &next)
            return next
        }
    }

    private mutating func readableDeferred() async throws -> [RemoteItem] {
        let table = query.table
        let deferred = try await context.store.read { local in
            var deferred: [DeferredItem] = []
            try local.forEachDeferredItemWithoutOperation(in: table) { deferred.append($0) }
            return deferred
        }
        var readable: [RemoteItem] = []
        for item in deferred {
            if let item = read(item) { readable.append(item) }
        }
        return readable
    }

    private mutating func read(_ deferred: DeferredItem) -> RemoteItem? {
        guard let item = ItemCoder.item(from: deferred.source) else {
            tally.recordUnreadable(
                deferred.serverID, message: "This version can't read the stored form of the item.", error: nil)
            return nil
        }
        do {
            _ = try PageItems.decode(item, coder: coder)
            return item
        } catch {
            tally.recordUnreadable(
                deferred.serverID, message: (error as? SyncError)?.message ?? "\(error)", error: error)
            return nil
        }
    }
}

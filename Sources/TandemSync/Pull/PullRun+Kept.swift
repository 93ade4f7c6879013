import Tandem

extension PullRun {
    /// Tries what was kept of the table's and has no operation: the token has passed it, so that the server will not
    /// send it again.
    ///
    /// All of it at once: where unique values were passed on or swapped, one item has another's.
    mutating func retryKept() async throws {
        let items = try await readableKept()
        guard !items.isEmpty else { return }
        try Task.checkCancellation()
        if try await receiveTogether(items) { return }
        // One of them can't be taken, and has taken the others along.
        var takeable: [RemoteItem] = []
        for item in items {
            do {
                try await receive(item)
                takeable.append(item)
            } catch let error as SyncError where error.code == .badAnswer {
                tally.noteUnreadable(item.id, error.message, error)
            }
        }
        _ = try await receiveTogether(takeable)
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
            _ = try forms.stored(item)
            return item
        } catch {
            tally.noteUnreadable(kept.serverID, "\(error)", error)
            return nil
        }
    }

    /// Hands items to the store that may stand in each other's way.
    ///
    /// - Returns: `false` if one of them can't be taken: nothing was written.
    private mutating func receiveTogether(_ items: [RemoteItem]) async throws -> Bool {
        let page = try PageItems(items[...], forms, query.settings)
        let tally = tally
        do {
            self.tally = try await context.store.write { local in
                var next = tally
                try page.receiveTogether(into: local, &next)
                return next
            }
            return true
        } catch let error as TandemError where error.code == .invalidValue {
            return false
        }
    }

    private mutating func receive(_ item: RemoteItem) async throws {
        let page = try PageItems([item], forms, query.settings)
        let tally = tally
        self.tally = try await context.store.write { local in
            var next = tally
            try page.receive(into: local, &next)
            return next
        }
    }
}

import Tandem

extension PullRun {
    /// Tries what was kept of the table's and has no operation: the token has passed it, so that the server will not
    /// send it again.
    mutating func retryKept() async throws {
        let table = query.table
        var last: ServerID?
        while true {
            let after = last
            let kept = try await context.store.read {
                try $0.keptItemsWithoutOperation(in: table, after: after, limit: Self.batch)
            }
            guard !kept.isEmpty else { return }
            try Task.checkCancellation()
            last = kept.last?.serverID
            try await receive(kept)
            if kept.count < Self.batch { return }
        }
    }

    private static var batch: Int { 100 }

    private mutating func receive(_ kept: [KeptItem]) async throws {
        var readable: [RemoteItem] = []
        for item in kept {
            guard let found = ItemForms.item(from: item.source) else {
                tally.noteUnreadable(item.serverID, "What was kept of it can't be read by this version.", nil)
                continue
            }
            do {
                _ = try forms.stored(found)
                readable.append(found)
            } catch {
                tally.noteUnreadable(item.serverID, "\(error)", error)
            }
        }
        do {
            try await receive(readable)
        } catch SyncError.Code.badAnswer {
            // One of them can't be taken, and has taken the others along: each by itself.
            for item in readable {
                do {
                    try await receive([item])
                } catch let error as SyncError where error.code == .badAnswer {
                    tally.noteUnreadable(item.id, error.message, error)
                }
            }
        }
    }

    private mutating func receive(_ items: [RemoteItem]) async throws {
        guard !items.isEmpty else { return }
        let page = try PageItems(items[...], forms, query.settings)
        let tally = tally
        self.tally = try await context.store.write { local in
            var next = tally
            try page.receive(into: local, &next)
            return next
        }
    }
}

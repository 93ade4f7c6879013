import Tandem

extension PullRun {
    /// Fetches everything, and sweeps away what the server has no more.
    mutating func pullEverything() async throws {
        var unseen = try await unseenAtFirst()
        var cursor = IDCursor()
        while true {
            let page = try await fetch(
                .id(after: cursor.last), top: context.options.pageSize, includeDeleted: false)
            guard cursor.advance(past: page) else { throw noProgress() }
            try await store(page.items, &unseen)
            note(page.items.count)
            guard page.hasMore else { break }
        }
        try await sweep(unseen)
    }

    /// What this device has and a full pull has not come across yet.
    private struct Unseen {
        /// The objects of the query that are as the server has them, as far as is known: a bit each.
        var rows = RowSet()
        /// The items that are kept for want of room, without an object.
        var kept: Set<ServerID> = []
    }

    private func unseenAtFirst() async throws -> Unseen {
        let (table, filter) = (query.table, query.filter)
        return try await context.store.read { local in
            var unseen = Unseen()
            unseen.rows = try local.syncedRows(in: table, where: filter)
            // Whether a kept item is one of a filter's is not known here.
            guard filter == nil else { return unseen }
            try local.forEachKeptItemWithoutOperation(in: table) { item in
                if item.localID == nil { unseen.kept.insert(item.serverID) }
            }
            return unseen
        }
    }

    private mutating func store(_ items: [RemoteItem], _ unseen: inout Unseen) async throws {
        guard !items.isEmpty else { return }
        let page = try PageItems(items[...], forms, query.settings)
        let (table, tally, looksForRows) = (query.table, tally, !unseen.rows.isEmpty)
        let (next, rows) = try await context.store.write { local in
            var next = tally
            try page.receive(into: local, &next)
            let rows = looksForRows ? try page.ids.compactMap { try local.row(of: $0, in: table) } : []
            return (next, rows)
        }
        self.tally = next
        for row in rows { unseen.rows.remove(row) }
        if !unseen.kept.isEmpty { unseen.kept.subtract(page.ids) }
    }

    /// Takes away what was not seen and is still as the server had it.
    private mutating func sweep(_ unseen: Unseen) async throws {
        var rows = unseen.rows
        let (table, isWhole) = (query.table, query.filter == nil)
        while !rows.isEmpty {
            try Task.checkCancellation()
            let some = rows.take(1000)
            tally.result.deleted += try await context.store.write { local in
                try isWhole ? local.removeSynced(some, in: table) : local.removeUnlisted(some, in: table)
            }
        }
        guard !unseen.kept.isEmpty else { return }
        let gone = unseen.kept
        try await context.store.write { try $0.forgetKept(gone, in: table) }
    }
}

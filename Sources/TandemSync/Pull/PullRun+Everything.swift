import Foundation
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
            noteFound(page)
            note(page.items.count)
            guard page.hasMore else { break }
        }
        try await sweep(unseen)
        // A request for what was not seen would be in vain.
        for (serverID, id) in unseen.edited { pointlessEdits?.note(id, of: serverID, in: query.table) }
    }

    /// The name of the token whose date is that of the last full pull; no pull goes on from it. No app has such a character in
    /// a query ID.
    private static let success = "\u{0}everything"

    /// Writes down when everything was fetched, if there was anything new: a quiet table is not written to.
    func rememberSuccess(at date: Date) async throws {
        let (table, digest, hasChanged) = (query.table, query.digest, tally.result.changes > 0)
        if !hasChanged {
            let known = try await context.store.read { try $0.syncToken(of: Self.success, in: table) }
            guard known == nil else { return }
        }
        try await context.store.write {
            try $0.setSyncToken(SyncToken(digest: digest, lastSuccess: date), of: Self.success, in: table)
        }
    }

    /// What this device has and a full pull has not come across yet.
    private struct Unseen {
        /// The objects of the query that are as the server has them, as far as is known: a bit each.
        var rows = RowSet()
        /// The items that are kept for want of room, without an object.
        var kept: Set<ServerID> = []
        /// The objects of which an edit waits to be sent, where somebody wants to know.
        var edited: [ServerID: Tandem.Operation.ID] = [:]
    }

    private func unseenAtFirst() async throws -> Unseen {
        let (table, filter, looksForEdits) = (query.table, query.filter, pointlessEdits != nil)
        return try await context.store.read { local in
            var unseen = Unseen()
            unseen.rows = try local.syncedRows(in: table, where: filter)
            // Whether a kept item is one of a filter's is not known here.
            guard filter == nil else { return unseen }
            try local.forEachKeptItemWithoutOperation(in: table) { item in
                if item.localID == nil { unseen.kept.insert(item.serverID) }
            }
            // What a filter does not bring may have left it.
            if looksForEdits { unseen.edited = try Self.edits(in: table, local) }
            return unseen
        }
    }

    private mutating func store(_ items: [RemoteItem], _ unseen: inout Unseen) async throws {
        guard !items.isEmpty else { return }
        let page = PageItems(items[...], forms, query.settings)
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
        if !unseen.edited.isEmpty { for id in page.ids { unseen.edited[id] = nil } }
    }

    /// The objects of a table that the server knows and of which an edit waits to be sent.
    private static func edits(
        in table: String, _ local: any LocalReading
    ) throws -> [ServerID: Tandem.Operation.ID] {
        var (edits, last) = ([ServerID: Tandem.Operation.ID](), nil as Tandem.Operation.ID?)
        while true {
            let operations = try local.operations(after: last, limit: 500)
            for operation in operations where operation.table == table && operation.kind == .update {
                if let id = try local.serverID(of: operation.localID, in: table) { edits[id] = operation.id }
            }
            last = operations.last?.id
            if operations.count < 500 { return edits }
        }
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

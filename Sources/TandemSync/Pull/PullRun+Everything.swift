import Foundation
import Tandem

extension PullRun {
    /// Fetches everything, and removes the objects that the server no longer has.
    mutating func pullEverything() async throws {
        let pass = try await fetchEverything()
        guard query.filter == nil else { return try await finish(pass) }
        let (table, owner) = (query.table, ServerHistory.everything)
        let known = try await context.store.read { try ServerHistory.read(of: owner, in: table, local: $0) }
        if !known.isValid(in: pass.history) { keepsEdits = true }
        try await finish(pass)
        guard known != pass.history else { return }
        try await context.store.write { try pass.history.write(of: owner, in: table, local: $0) }
    }

    /// Fetches everything. Resumes an interrupted pull of the same filter.
    ///
    /// - Returns: The pass. The objects that it has not seen are not removed yet.
    mutating func fetchEverything() async throws -> FullPass {
        let (interrupted, restarts) = try await interruptedPull()
        var pass = FullPass(interrupted, restarts: restarts)
        do {
            if let interrupted {
                pass.unseen = try await unseenItems(besides: interrupted.seen)
                if try await resume(&pass, since: interrupted.progress.start) { return pass }
                try await beginAgain(&pass)
            }
            for _ in 0..<Self.passLimit {
                pass.unseen = try await unseenItems()
                do {
                    try await fetchItems(&pass)
                    return pass
                } catch is RecreatedTable {
                    keepsEdits = true
                    try await beginAgain(&pass)
                }
            }
            throw noProgress()
        } catch {
            if !pass.isWorthResuming(after: error) { try? await forgetProgress() }
            throw error
        }
    }

    /// The maximum number of passes of a pull whose table is created again between two pages.
    private static let passLimit = 3

    private mutating func beginAgain(_ pass: inout FullPass) async throws {
        try await forgetProgress()
        (pass, received) = (FullPass(nil, restarts: pass.history.restarts), 0)
    }

    /// The table was removed and created again between two pages.
    struct RecreatedTable: Error {}

    /// A pass over a table's items in the order of their IDs.
    struct FullPass {
        var cursor: IDCursor
        var unseen = Unseen()
        /// The hashes of the IDs of all live items fetched; `nil` in a pass that began with the first item.
        var seen: Set<UInt64>?
        /// The hashes of the IDs of all tombstones fetched.
        var deleted: Set<UInt64> = []
        /// `nil` in a pass that could not be resumed.
        var progress: FullPullProgress?
        /// The hashes of fetched IDs that the store does not have yet.
        var unwritten: [UInt64] = []
        /// Whether the pass has stored progress.
        var hasAdvanced = false
        /// The history of the table that the pages are from.
        var history: ServerHistory
        /// The server's time when the pull began, less the overlap; `nil` before the first page, or if it is unknown.
        var limit: Date?
        /// The time of the newest item that is not newer than `limit`, as far as it is needed.
        var newest: WireTimestamp?

        /// - Parameters:
        ///   - interrupted: The pull to resume; `nil` to begin with the first item.
        ///   - restarts: The number of the table's restarts.
        init(_ interrupted: FullPullProgress.Interrupted?, restarts: UInt64) {
            cursor = IDCursor(after: interrupted?.last)
            (seen, progress) = (interrupted?.seen, interrupted?.progress)
            history = interrupted?.progress.history ?? ServerHistory(restarts: restarts)
            (limit, newest) = (interrupted?.progress.start.date, interrupted?.progress.newest)
        }

        /// Compares the table with that of the earlier pages.
        ///
        /// - Throws: ``RecreatedTable``.
        mutating func check(_ page: RemotePage) throws {
            guard let generation = page.generation else { return }
            guard history.generation == nil || history.generation == generation else { throw RecreatedTable() }
            history.generation = generation
        }
    }

    /// The local objects and items that a full pull has not fetched yet.
    struct Unseen: Sendable {
        /// The objects of the query that have no operation: a bit each.
        var rows = RowSet()
        /// The deferred items without an object.
        var deferred: Set<ServerID> = []
        /// The pending edits, if the caller wants to know which are orphaned.
        var edited: [ServerID: PendingOperation.ID] = [:]
    }

    /// Fetches the items after the cursor.
    mutating func fetchItems(_ pass: inout FullPass) async throws {
        var isFirst = pass.cursor.last == nil
        var ahead: PageAhead?
        while true {
            let top = context.options.pageSize
            let (page, _) = try await fetch(.id(after: pass.cursor.last), top: top, includeDeleted: false, ahead: ahead)
            ahead = nil
            try pass.check(page)
            guard pass.cursor.advance(past: page) else { throw noProgress() }
            if isFirst {
                pass.progress = progress(from: page, history: pass.history)
                pass.limit = pass.progress?.start.date ?? beginning(of: page)
            }
            recordTimes(of: page.items, pass: &pass)
            // A short first page is nearly always the last one, although not every server says so.
            let isResumable = page.hasMore && (!isFirst || page.items.count >= top)
            let requester = requester
            let request =
                page.hasMore
                ? requestAhead(
                    .id(after: pass.cursor.last), top: top, includeDeleted: false, storing: page.items.count) : nil
            async let next = requester.ahead(request)
            try await store(page, pass: &pass, isResumable: isResumable)
            ahead = await next
            guard page.hasMore else { return }
            isFirst = false
        }
    }

    /// Records the time of the newest item that is not newer than the beginning of the pull.
    ///
    /// Changes are requested from the time of an item if they are requested from a stored position. The same applies if
    /// the server has generations: it may reject a time after its newest item. Otherwise the beginning of the pull is
    /// enough.
    func recordTimes(of items: some Sequence<RemoteItem>, pass: inout FullPass) {
        guard query.queryID != nil || pass.history.generation != nil, let limit = pass.limit else { return }
        for time in items.lazy.compactMap(\.updatedAt) where time.date <= limit {
            pass.newest = max(pass.newest ?? time, time)
        }
    }

    private mutating func store(_ page: RemotePage, pass: inout FullPass, isResumable: Bool) async throws {
        if pass.progress != nil || pass.seen != nil {
            let hashes = page.items.map { FullPullProgress.hash($0.id) }
            pass.seen?.formUnion(hashes)
            pass.unwritten += hashes
        }
        pass.progress?.newest = pass.newest
        let (progress, hashes) = (isResumable ? pass.progress : nil, pass.unwritten)
        try await store(page.items[...], unseen: &pass.unseen, progress: progress, hashes: hashes)
        recordFound(page)
        reportProgress(page.items.count)
        guard progress != nil else { return }
        pass.progress?.tokens += 1
        (pass.unwritten, pass.hasAdvanced) = ([], true)
    }

    /// Stores items and the progress of the pull, in one transaction.
    mutating func store(
        _ items: ArraySlice<RemoteItem>, unseen: inout Unseen, progress: FullPullProgress? = nil,
        hashes: [UInt64] = []
    ) async throws {
        guard let last = items.last?.id else { return }
        let page = PageItems(items, coder: coder, settings: query.settings)
        let (table, tally, looksForRows) = (query.table, tally, !unseen.rows.isEmpty)
        let (next, rows) = try await context.store.write { local in
            var next = tally
            try page.store(into: local, tally: &next)
            try progress?.write(hashes, upTo: last, in: table, using: local)
            let rows = looksForRows ? try page.ids.compactMap { try local.row(of: $0, in: table) } : []
            return (next, rows)
        }
        self.tally = next
        for row in rows { unseen.rows.remove(row) }
        if !unseen.deferred.isEmpty { unseen.deferred.subtract(page.ids) }
        if !unseen.edited.isEmpty { for id in page.ids { unseen.edited[id] = nil } }
    }

    /// Ends a pass that has fetched everything.
    mutating func finish(_ pass: FullPass) async throws {
        try await sweep(pass.unseen)
        if !keepsEdits {
            // A request for an unseen object would fail.
            for (serverID, id) in pass.unseen.edited { orphanedEdits?.record(id, of: serverID, in: query.table) }
        }
        if pass.progress?.tokens ?? 0 > 0 { try await forgetProgress() }
    }

    /// Stores the time of the full pull if it found changes. A table without changes is not written.
    ///
    /// No pull continues from this token.
    func rememberSuccess(at date: Date) async throws {
        let (table, digest, hasChanged) = (query.table, query.digest, tally.result.changes > 0)
        let success = ServerHistory.everything
        if !hasChanged {
            let known = try await context.store.read { try $0.syncToken(of: success, in: table) }
            guard known == nil else { return }
        }
        try await context.store.write {
            try $0.setSyncToken(SyncToken(digest: digest, lastSuccess: date), of: success, in: table)
        }
    }

    /// - Parameter seen: The hashes of the IDs that an interrupted pull has fetched.
    private func unseenItems(besides seen: Set<UInt64> = []) async throws -> Unseen {
        let (table, filter, looksForEdits) = (query.table, query.filter, orphanedEdits != nil)
        return try await context.store.read { local in
            func isUnseen(_ id: ServerID) -> Bool { seen.isEmpty || !seen.contains(FullPullProgress.hash(id)) }
            var unseen = Unseen()
            try local.forEachSyncedRow(in: table, where: filter) { row, id in
                if isUnseen(id) { unseen.rows.insert(row) }
            }
            // The store can't tell whether a deferred item matches a filter.
            guard filter == nil else { return unseen }
            try local.forEachDeferredItemWithoutOperation(in: table) { item in
                if item.localID == nil, isUnseen(item.serverID) { unseen.deferred.insert(item.serverID) }
            }
            // A filtered pull does not find an object that no longer matches.
            if looksForEdits { unseen.edited = try Self.edits(in: table, local: local).filter { isUnseen($0.key) } }
            return unseen
        }
    }

    /// Returns the pending edits of a table's objects that the server has stored.
    private static func edits(
        in table: String, local: any LocalReadTransaction
    ) throws -> [ServerID: PendingOperation.ID] {
        var (edits, last) = ([ServerID: PendingOperation.ID](), nil as PendingOperation.ID?)
        while true {
            let operations = try local.operations(after: last, limit: 500)
            for operation in operations where operation.table == table && operation.kind == .update {
                if let id = try local.serverID(of: operation.localID, in: table) { edits[id] = operation.id }
            }
            last = operations.last?.id
            if operations.count < 500 { return edits }
        }
    }

    /// Removes the objects that were not seen and have no local changes.
    private mutating func sweep(_ unseen: Unseen) async throws {
        var rows = unseen.rows
        let (table, isWhole) = (query.table, query.filter == nil)
        while !rows.isEmpty {
            try Task.checkCancellation()
            let some = rows.removeFirst(1000)
            tally.result.deleted += try await context.store.write { local in
                try isWhole ? local.removeSynced(some, in: table) : local.removeUnlisted(some, in: table)
            }
        }
        guard !unseen.deferred.isEmpty else { return }
        let gone = unseen.deferred
        try await context.store.write { try $0.removeDeferred(gone, in: table) }
    }
}

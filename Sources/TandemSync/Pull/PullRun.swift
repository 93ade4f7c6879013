import Foundation
import Tandem

/// A pull, from its first request to its last.
struct PullRun {
    let context: SyncContext
    let query: ResolvedQuery
    let coder: ItemCoder
    var tally: PullTally
    /// The edits whose objects the server no longer has; `nil` if the caller does not need them.
    var orphanedEdits: OrphanedEdits?
    /// Whether the server was restored, or the table created again.
    ///
    /// An object that the server has lost was not deleted by another device. So no edit of it is reported as orphaned.
    var keepsEdits = false
    /// The number of items received, as watchers of the status see it.
    var received = 0
    /// The number of items on the server, if it counts them.
    private var total: Int?
    /// Whether the server has sent a page.
    private var hasPage = false

    init(_ context: SyncContext, query: ResolvedQuery) {
        self.context = context
        self.query = query
        coder = context.coder(of: query.settings)
        tally = PullTally(query.settings.model)
    }

    /// Runs the pull.
    ///
    /// Deferred items are retried first, because the pages may need them. They are retried again at the end if an item
    /// was refused: the blocking value may have been removed.
    mutating func run() async throws -> PullResult {
        reportProgress(0)
        try await retryDeferred()
        if let queryID = query.queryID {
            try await pullChanges(queryID)
        } else {
            try await pullEverything()
        }
        if tally.hasRefused { try await retryDeferred() }
        let now = context.options.clock.now()
        if query.queryID == nil { try await rememberSuccess(at: now) }
        context.statusTracker.recordSuccess(of: query.table, at: now)
        return tally.finished()
    }

    // MARK: Changes

    private mutating func pullChanges(_ queryID: String) async throws {
        var (stored, history, landmark, restarts) = try await position(of: queryID)
        guard history.restarts == restarts else { return try await pullAgain(queryID) }
        // Without a response, the landmark stays until the next look-up.
        var keepsLandmark = false
        if let landmark {
            let hasLost = try await hasLost(landmark, of: queryID)
            if hasLost == true { return try await restart(queryID) }
            keepsLandmark = hasLost == nil
        }
        var cursor = PullCursor(
            // An unreadable position counts as missing: the query is pulled from its start.
            from: stored?.time.flatMap { WireTimestamp($0) }, isSettled: stored?.isSettled ?? false,
            pageSize: context.options.pageSize, overlap: context.options.overlap)
        // Whether the server has rejected the position after the floor.
        var isDoubtful = false
        var ahead: PageAhead?
        var visibleCount: Int?
        while true {
            let top = cursor.top
            let (page, time): (RemotePage, Date?)
            do {
                (page, time) = try await fetch(
                    cursor.order, skip: cursor.skip, top: top, includeDeleted: true, ahead: ahead)
            } catch let error as SyncError where error.isOutOfOrder {
                guard cursor.goBackToFloor() else { throw error }
                ahead = nil
                continue
            } catch let error as SyncError where error.isOutdatedPosition && cursor.order != .updatedAt(from: nil) {
                // A settled floor may be the time of the newest item. The server then has no later time.
                guard cursor.goBackToFloor() else { return try await restart(queryID) }
                isDoubtful = true
                ahead = nil
                continue
            }
            ahead = nil
            if isDoubtful, page.items.first?.updatedAt != cursor.floor {
                // The server has lost the items of the floor.
                return try await restart(queryID)
            }
            isDoubtful = false
            let known = history
            if let generation = page.generation { history.generation = generation }
            guard known.isValid(in: history) else { return try await restart(queryID) }
            recordTimes(of: page)
            visibleCount = page.visibleCount ?? visibleCount
            let items: ArraySlice<RemoteItem>
            switch cursor.advance(past: page, now: time ?? context.options.clock.now()) {
            case .store(let some): items = some
            case .again: continue
            case .stuck: throw noProgress()
            }
            var token = SyncToken(
                digest: query.digest, time: cursor.floor?.text, isSettled: cursor.isSettled,
                lastSuccess: stored?.lastSuccess)
            let newest = self.landmark(of: page, history: history, isPartial: visibleCount != nil)
            let next = keepsLandmark ? landmark : newest ?? landmark
            let isNew = token != stored || history != known || next != landmark
            let isLast = cursor.ends(with: page, top: top)
            if isLast { token.lastSuccess = context.options.clock.now() }
            let requester = requester
            let request =
                isLast
                ? nil
                : requestAhead(
                    cursor.order, skip: cursor.skip, top: cursor.top, includeDeleted: true, storing: items.count)
            async let following = requester.ahead(request)
            let wasWritten = try await write(
                items, token: token, history: history, landmark: next == landmark ? nil : next, of: queryID,
                always: isNew, isLast: isLast)
            recordFound(page)
            reportProgress(items.count)
            ahead = await following
            if wasWritten { (stored, landmark) = (token, next) }
            if isLast { break }
        }
        if let visibleCount { try await compare(visibleCount, of: queryID) }
    }

    /// Writes a page and the query's new position in one transaction.
    ///
    /// - Parameters:
    ///   - items: The new items of the page.
    ///   - history: The history of the table that the position belongs to.
    ///   - landmark: The new landmark of the query, if it has changed.
    ///   - always: Whether the token, the history or the landmark has changed.
    ///   - isLast: Whether the pull ends with this page. Its end time is stored only together with other changes.
    /// - Returns: Whether the token was written.
    private mutating func write(
        _ items: ArraySlice<RemoteItem>, token: SyncToken, history: ServerHistory, landmark: PullLandmark?,
        of queryID: String, always: Bool, isLast: Bool
    ) async throws -> Bool {
        let isNews = tally.result.changes > 0 && isLast
        guard always || !items.isEmpty || isNews else { return false }
        let page = PageItems(items, coder: coder, settings: query.settings)
        let (table, tally) = (query.table, tally)
        let (next, wrote) = try await context.store.write { local in
            var next = tally
            try page.store(into: local, tally: &next)
            let writes = always || (isLast && (isNews || next.result.changes > tally.result.changes))
            if writes {
                try local.setSyncToken(token, of: queryID, in: table)
                try landmark?.write(of: queryID, in: table, local: local)
            }
            if always, history != ServerHistory() { try history.write(of: queryID, in: table, local: local) }
            return (next, writes)
        }
        self.tally = next
        return wrote
    }

    /// Rows dated far past the server's own clock are stored and reported. The token does not pass the clock, so each
    /// pull reads them again.
    private mutating func recordTimes(of page: RemotePage) {
        guard let clock = page.serverDate else { return }
        for item in page.items.reversed() {
            guard let time = item.updatedAt, time.date > clock + 24 * 3600 else { return }
            tally.recordAhead(item.id)
        }
    }

    // MARK: Requests

    /// Fetches a page.
    ///
    /// - Parameter ahead: The response to this request, if it was sent ahead.
    /// - Returns: The page, and the time of its arrival if it was requested ahead.
    mutating func fetch(
        _ order: PageRequest.Order, skip: Int = 0, top: Int, includeDeleted: Bool, wantsCount: Bool = false,
        ahead: PageAhead? = nil
    ) async throws -> (page: RemotePage, time: Date?) {
        try Task.checkCancellation()
        let page: RemotePage
        if let ahead {
            page = try ahead.page.get()
        } else {
            guard tally.result.pages < context.options.pageLimit else {
                throw SyncError.tooManyPages(context.options.pageLimit, of: coder)
            }
            try await context.waitOutPause(for: coder)
            let request = request(
                order, skip: skip, top: top, includeDeleted: includeDeleted, wantsCount: wantsCount)
            tally.result.pages += 1
            page = try await requester.page(request)
        }
        hasPage = true
        total = page.count ?? total
        // Items after an empty page can't be requested, and must not count as deleted.
        if page.items.isEmpty && page.hasMore { throw noProgress() }
        return (page, ahead?.time)
    }

    /// Returns the request for the next page, to be sent while a page is being stored.
    ///
    /// - Parameter count: The number of items of the page that is being stored.
    /// - Returns: `nil` if the next page is to be requested later: see ``SyncContext/Options/itemsBeforePagesAhead``.
    mutating func requestAhead(
        _ order: PageRequest.Order, skip: Int = 0, top: Int, includeDeleted: Bool, storing count: Int
    ) -> PageRequest? {
        guard received + count >= context.options.itemsBeforePagesAhead,
            tally.result.pages < context.options.pageLimit
        else { return nil }
        tally.result.pages += 1
        return request(order, skip: skip, top: top, includeDeleted: includeDeleted, wantsCount: false)
    }

    private func request(
        _ order: PageRequest.Order, skip: Int, top: Int, includeDeleted: Bool, wantsCount: Bool
    ) -> PageRequest {
        let isFirst = !hasPage
        return PageRequest(
            table: query.remoteTable, filter: query.filter?.remote, order: order, skip: skip, top: top,
            includeDeleted: includeDeleted && query.settings.features.softDelete,
            // A count makes the server scan all items.
            wantsCount: wantsCount || isFirst && context.statusTracker.isWatched,
            wantsGeneration: isFirst || order == .id(after: nil))
    }

    /// Returns the key of a query of the table in the context's dictionaries.
    func key(of queryID: String) -> String { "\(query.table) \(queryID)" }

    /// Sends the pull's requests.
    var requester: PageRequester { PageRequester(context: context, coder: coder) }

    /// Removes the found objects from the orphaned edits: an earlier pull of the same sync may have missed them.
    mutating func recordFound(_ page: RemotePage) { orphanedEdits?.forget(page.items.map(\.id), in: query.table) }

    /// Reports newly received items to observers of the status.
    mutating func reportProgress(_ items: Int) {
        received += items
        context.statusTracker.setActivity(.pulling(table: query.table, received: received, total: total))
    }

    func noProgress() -> SyncError {
        SyncError.noProgress(in: coder)
    }
}

extension SyncError {
    /// Whether a page has items from before its position.
    fileprivate var isOutOfOrder: Bool {
        if case .invalidResponse(let response)? = underlying as? RemoteFailure {
            response.code == .outOfOrder
        } else {
            false
        }
    }
}

import Foundation
import Tandem

extension PullRun {
    /// The table's interrupted pull, if it can be resumed, and the number of the table's restarts. Progress that can't
    /// be used is removed.
    func interruptedPull() async throws -> (pull: FullPullProgress.Interrupted?, restarts: UInt64) {
        let (table, digest, now) = (query.table, query.digest, context.options.clock.now())
        let (stored, restarts) = try await context.store.read { local in
            (
                try FullPullProgress.read(in: table, of: digest, at: now, local: local),
                try ServerHistory.restarts(in: table, local: local)
            )
        }
        switch stored {
        case .absent: return (nil, restarts)
        case .interrupted(let pull) where query.settings.features.updatedAt: return (pull, restarts)
        case .interrupted, .unusable:
            try await forgetProgress()
            return (nil, restarts)
        }
    }

    func forgetProgress() async throws {
        let table = query.table
        try await context.store.write { try FullPullProgress.remove(in: table, local: $0) }
    }

    /// The progress of a pull that begins with a page; `nil` if it could not be resumed. Resuming takes `updatedAt` and
    /// the server's clock.
    func progress(from page: RemotePage, history: ServerHistory) -> FullPullProgress? {
        guard query.settings.features.updatedAt, page.items.allSatisfy({ $0.updatedAt != nil }),
            let start = stableTime(of: page)
        else { return nil }
        return FullPullProgress(digest: query.digest, start: start, history: history)
    }

    /// Returns a time before the commits that are not visible yet, if the server does not send its clock. The clock is
    /// not before the newest item.
    func beginning(of page: RemotePage) -> Date? {
        let newest = page.items.lazy.compactMap(\.updatedAt?.date).max()
        return newest.map { min($0, context.options.clock.now()) - max(0, context.options.overlap.seconds) }
    }

    /// The server's time less the overlap: a change that is not committed yet has a later time.
    private func stableTime(of page: RemotePage) -> WireTimestamp? {
        page.serverDate.flatMap { date in
            WireTimestamp(
                date - max(0, context.options.overlap.seconds), fractionDigits: context.remote.format.fractionDigits)
        }
    }

    /// Resumes an interrupted pull: fetches the remaining items, and all changes since the pull began.
    ///
    /// An item that was fetched earlier may have been deleted without a tombstone, or may have left the filter. Only
    /// the number of the server's items shows that. The server counts before the changes are fetched. An item that is
    /// inserted in between makes the numbers differ. A tombstone that comes in between could make them equal, so it
    /// takes another count.
    ///
    /// - Parameter start: The server's time when the pull began, less the overlap.
    /// - Returns: `false` if the pull has to begin again.
    mutating func resume(_ pass: inout FullPass, since start: WireTimestamp) async throws -> Bool {
        do {
            return try await fetchRest(&pass, since: start)
        } catch is RecreatedTable {
            keepsEdits = true
            return false
        } catch let error as SyncError where error.isOutdatedPosition {
            keepsEdits = true
            return false
        }
    }

    private mutating func fetchRest(_ pass: inout FullPass, since start: WireTimestamp) async throws -> Bool {
        guard var count = try await countItems(since: start, pass: &pass) else { return false }
        reportProgress(pass.seen?.count ?? 0)
        try await fetchItems(&pass)
        var (since, triesLeft) = (pass.newest ?? start, 3)
        while true {
            let changes = try await fetchChanges(since: since, pass: &pass)
            if pass.seen?.count == count, !changes.hasTombstones { return true }
            (since, triesLeft) = (pass.newest ?? changes.end, triesLeft - 1)
            guard triesLeft > 0, let next = try await countItems(since: since, pass: &pass) else { return false }
            count = next
        }
    }

    /// The number of the server's items.
    ///
    /// - Returns: `nil` if the server does not count, or if its clock was set back: changes would be missed.
    private mutating func countItems(since start: WireTimestamp, pass: inout FullPass) async throws -> Int? {
        let page = try await fetch(.id(after: nil), top: 1, includeDeleted: false, wantsCount: true).page
        try pass.check(page)
        guard let date = page.serverDate, date >= start.date else { return nil }
        return page.count
    }

    /// Fetches the items that changed since a time, including deleted ones.
    ///
    /// - Returns: The time from which later changes are to be fetched, and whether a tombstone came for the first time.
    private mutating func fetchChanges(
        since start: WireTimestamp, pass: inout FullPass
    ) async throws -> (end: WireTimestamp, hasTombstones: Bool) {
        var cursor = PullCursor(
            from: start, isSettled: false, pageSize: context.options.pageSize, overlap: context.options.overlap)
        var end: WireTimestamp?
        var hasTombstones = false
        while true {
            let top = cursor.top
            let page = try await fetch(cursor.order, skip: cursor.skip, top: top, includeDeleted: true).page
            try pass.check(page)
            end = end ?? stableTime(of: page)
            switch cursor.advance(past: page, now: context.options.clock.now()) {
            case .store(let items):
                try await store(items, unseen: &pass.unseen)
                recordTimes(of: items, pass: &pass)
                for item in items {
                    if pass.recordChange(of: item) { hasTombstones = true }
                }
                recordFound(page)
                reportProgress(items.count)
                if cursor.ends(with: page, top: top) { return (end ?? start, hasTombstones) }
            case .again: continue
            case .stuck: throw noProgress()
            }
        }
    }
}

extension PullRun.FullPass {
    /// Notes an item that has changed.
    ///
    /// - Returns: Whether the item is a tombstone that came for the first time.
    fileprivate mutating func recordChange(of item: RemoteItem) -> Bool {
        let hash = FullPullProgress.hash(item.id)
        guard item.isDeleted else {
            seen?.insert(hash)
            deleted.remove(hash)
            return false
        }
        seen?.remove(hash)
        return deleted.insert(hash).inserted
    }

    /// Returns whether the next pull may resume this one. If not, it would end with the same error each time, and would
    /// never fetch anything before its position.
    func isWorthResuming(after error: any Error) -> Bool {
        if error is PullRun.RecreatedTable { return false }
        guard let error = error as? SyncError else { return true }
        // A full pull has no position that can be outdated.
        if error.isOutdatedPosition { return false }
        switch error.code {
        case .noProgress, .tooManyPages: return false
        case .unreachable, .unauthenticated: return true
        // Only some servers answer 500 for a page that they can't read. Any other such status passes.
        case .later where error.status != 500: return true
        default: return seen == nil || hasAdvanced
        }
    }
}

import Foundation
import Tandem

/// The newest item that an incremental pull of a query has fetched.
///
/// A server that was restored from a backup has an earlier version of the item, or does not have it. The position of
/// the pull does not show this after new writes. A look-up of one item is much cheaper than a full pull.
///
/// The landmark is stored among the sync tokens of the table, which purges, adoption and migrations remove. It exists
/// only for servers with generations: they announce a delete until the table is created again.
struct PullLandmark: Hashable, Sendable {
    let id: ServerID
    let updatedAt: WireTimestamp

    /// Creates the landmark of a page in the order of `updatedAt`. `nil` if the page has no items.
    init?(_ page: RemotePage) {
        guard let last = page.items.last, let time = last.updatedAt else { return nil }
        (id, updatedAt) = (last.id, time)
    }

    /// Returns whether the server still has the item, or a later version of it, or its tombstone.
    func isValid(_ item: RemoteItem?) -> Bool {
        guard let time = item?.updatedAt else { return false }
        return time >= updatedAt
    }

    // MARK: Storing

    /// No app uses this character in a query ID.
    private static func key(of queryID: String) -> String { "\u{0}landmark \(queryID)" }

    private init?(_ token: SyncToken?) {
        guard let token, let time = token.time.flatMap({ WireTimestamp($0) }) else { return nil }
        (id, updatedAt) = (ServerID(String(decoding: token.digest, as: UTF8.self)), time)
    }

    /// Returns the landmark of a query.
    static func read(of queryID: String, in table: String, local: any LocalReadTransaction) throws -> PullLandmark? {
        PullLandmark(try local.syncToken(of: key(of: queryID), in: table))
    }

    /// Stores the landmark of a query in the transaction of the page.
    func write(of queryID: String, in table: String, local: any LocalTransaction) throws {
        try local.setSyncToken(
            SyncToken(digest: Array(id.rawValue.utf8), time: updatedAt.text), of: Self.key(of: queryID), in: table)
    }

    /// Removes the landmark of a query, whose position is not valid any more.
    static func remove(of queryID: String, in table: String, local: any LocalTransaction) throws {
        try local.setSyncToken(nil, of: key(of: queryID), in: table)
    }
}

extension PullRun {
    /// The time after which a landmark is looked up again. A server may be restored while the app runs.
    private static let landmarkInterval: TimeInterval = 3600

    /// Returns the landmark of a page. `nil` if the server has no tombstones or hides them from the user: a missing
    /// item then does not show that the server was restored.
    func landmark(of page: RemotePage, history: ServerHistory, isPartial: Bool) -> PullLandmark? {
        guard history.generation != nil, query.settings.features.softDelete, !isPartial else { return nil }
        return PullLandmark(page)
    }

    /// Returns whether the server has lost the landmark of a query. Looks it up at the first pull of the context, and
    /// then after an hour at the earliest.
    ///
    /// - Returns: `nil` if the server refuses the look-up or can't carry it out, or if its response is not valid.
    /// - Throws: The errors of a request to a server that can't be reached, is busy, or rejects the credentials.
    func hasLost(_ landmark: PullLandmark, of queryID: String) async throws -> Bool? {
        let (key, now) = (key(of: queryID), context.options.clock.now())
        if let last = context.landmarkTimes.withLock({ $0[key] }),
            abs(now.timeIntervalSince(last)) < Self.landmarkInterval
        {
            return false
        }
        try Task.checkCancellation()
        do {
            let item = try await requester.item(landmark.id)
            context.landmarkTimes.withLock { $0[key] = now }
            return !landmark.isValid(item)
        } catch let error as SyncError {
            switch error.code {
            // A server may answer 500 for an item that it can't read. Any other such status passes.
            case .later where error.status == 500 && error.retryAt == nil: return nil
            case .unreachable, .unauthenticated, .later: throw error
            default: return nil
            }
        }
    }
}

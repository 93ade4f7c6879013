import Foundation
import Tandem

extension PullRun {
    /// Returns the stored position of a query, and the history that the position belongs to.
    ///
    /// Also returns the query's landmark, and the number of the table's restarts.
    func position(
        of queryID: String
    ) async throws -> (token: SyncToken?, history: ServerHistory, landmark: PullLandmark?, restarts: UInt64) {
        let table = query.table
        return try await context.store.read { local in
            let restarts = try ServerHistory.restarts(in: table, local: local)
            // Without a position, nothing depends on the former history.
            guard let token = try local.syncToken(of: queryID, in: table) else {
                return (nil, ServerHistory(restarts: restarts), nil, restarts)
            }
            let landmark = try PullLandmark.read(of: queryID, in: table, local: local)
            return (token, try ServerHistory.read(of: queryID, in: table, local: local), landmark, restarts)
        }
    }

    /// Records that the server was restored, or the table created again, and fetches everything.
    ///
    /// The record invalidates the positions of all queries of the table. It survives an interruption: a restored server
    /// may look as before after its next change.
    mutating func restart(_ queryID: String) async throws {
        let table = query.table
        try await context.store.write { try ServerHistory.recordRestart(of: table, local: $0) }
        try await pullAgain(queryID)
    }

    /// Fetches everything for a query whose position is not valid, and stores a new position.
    ///
    /// The position is the time of an item, as all positions are: a server may reject a time after its newest item.
    ///
    /// - Parameter keepsEdits: Whether an edit of an object that the server no longer has is not reported as orphaned.
    mutating func pullAgain(_ queryID: String, keepsEdits: Bool = true) async throws {
        (self.keepsEdits, received) = (keepsEdits, 0)
        let pass = try await fetchEverything()
        try await finish(pass)
        let (table, history) = (query.table, pass.history)
        let token = SyncToken(
            digest: query.digest, time: pass.newest?.text, lastSuccess: context.options.clock.now())
        try await context.store.write { local in
            try local.setSyncToken(token, of: queryID, in: table)
            try history.write(of: queryID, in: table, local: local)
            // The next pull of changes stores another one.
            try PullLandmark.remove(of: queryID, in: table, local: local)
        }
    }
}

extension SyncError {
    /// Whether the server does not know the position of a page.
    var isOutdatedPosition: Bool {
        if case .outdatedPosition? = underlying as? RemoteFailure { true } else { false }
    }
}

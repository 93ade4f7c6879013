import Foundation
import Tandem

extension SyncContext {
    /// Synchronizes this device with the server. Fetches first, without a push before. Then drops edits of objects that
    /// the server has deleted, and reports their values. Then sends the rest.
    ///
    /// For example:
    ///
    /// ```swift
    /// let result = try await sync.synchronize([PullQuery(Card.self, queryID: "allCards")])
    /// print(result.isComplete)
    /// for issue in result.issues { print(issue) }
    /// ```
    ///
    /// A tombstone shows that an object was deleted. So does a full pull without a filter that does not find the
    /// object. The edit is dropped if the table's conflict policy lets the server win. It is also dropped if the policy
    /// merges with the default for deleted objects. Every other policy decides when the edit is sent.
    ///
    /// A table that can't be pulled does not stop the others: the result lists it
    /// (``SyncIssue/failedPull(_:error:)``). If the server asks for a long delay, no more requests are sent. Each
    /// table then fails with ``SyncError/Code/later`` and ``SyncError/retryAt``. Operations that wait for the user
    /// stay unchanged.
    ///
    /// If the server can't be reached for a pull, nothing is sent, and the next sync does everything. If it can't be
    /// reached for the push, the pulled objects stay, and completed operations stay completed. In both cases the error
    /// carries the result so far: ``SyncError/result``.
    ///
    /// - Parameter pulls: The queries to fetch. By default: all synced models, without filters, each with its table's
    ///   name as query ID.
    /// - Throws: ``SyncError/Code/unreachable`` and ``SyncError/Code/unauthenticated``; the error that stopped the
    ///   push, as ``push()`` throws it; `CancellationError`; `TandemError` if the store can't be written.
    @discardableResult
    public func synchronize(_ pulls: [PullQuery]? = nil) async throws -> SyncResult {
        let isExplicit = !ScheduledRun.isAutomatic
        let tables = ScheduledRun.tables
        let result = try await withExclusiveSync {
            let queries = (pulls ?? standardPulls).filter { tables?.contains($0.table) ?? true }
            return try await runSynchronize(queries, isExplicit: isExplicit)
        } then: { synced in
            try await addFiles(after: synced.sent, to: synced.result, isExplicit: isExplicit)
        }
        return try await finish(result)
    }

    /// The queries for all synced models, with the tables' names as query IDs.
    var standardPulls: [PullQuery] {
        store.sentModels.map { model in
            let features = try? settings(of: model.table).features
            return PullQuery(table: model.table, queryID: features?.updatedAt ?? true ? model.table : nil)
        }
    }

    /// Runs a whole sync except for the files. The caller has exclusive access to the store.
    ///
    /// - Parameter isExplicit: Whether the app started the sync explicitly. Operations with a later retry date are then
    ///   sent at once.
    private func runSynchronize(
        _ queries: [PullQuery], isExplicit: Bool
    ) async throws -> (result: SyncResult, sent: SentObjects?) {
        var (result, sent) = (SyncResult(), SentObjects?.none)
        var edits: OrphanedEdits? = OrphanedEdits()
        do {
            for query in queries {
                result.pulls.append(
                    SyncResult.Pull(query: query, outcome: try await pullWithinSync(query, edits: &edits)))
            }
            await saveQuietPulls()
            try await drop(edits ?? OrphanedEdits(), result: &result)
            if try await hasToSend() { sent = try await sendObjects(isExplicit: isExplicit) }
        } catch {
            guard error is SyncError || result.hasGivenUp else { throw error }
            result.stoppedBy = SyncError(stopping: error)
        }
        return (result, sent)
    }

    /// Adds a push to the result of a sync, and uploads the files. Other syncs need not wait for the files.
    private func addFiles(after sent: SentObjects?, to result: SyncResult, isExplicit: Bool) async throws -> SyncResult
    {
        guard let sent else { return result }
        do {
            return result.followed(by: try await sendFiles(after: sent, isExplicit: isExplicit))
        } catch {
            guard error is SyncError || result.hasGivenUp else { throw error }
            return result.followed(by: sent.result.stopped(by: SyncError(stopping: error)))
        }
    }

    private func pullWithinSync(
        _ query: PullQuery, edits: inout OrphanedEdits?
    ) async throws -> Result<PullResult, SyncError> {
        do {
            return .success(try await fetch(query, noting: &edits))
        } catch let error as SyncError where error.code != .unreachable && error.code != .unauthenticated {
            return .failure(error)
        }
    }

    // MARK: -

    /// Drops updates of objects whose tombstones the pulls fetched, or that a full pull did not find. Skips tables
    /// whose policy may keep the edits: the push decides those. Skips operations that wait for the user.
    ///
    /// - Parameter edits: The edits of objects that full pulls did not find.
    private func drop(_ edits: OrphanedEdits, result: inout SyncResult) async throws {
        let tables = Set(try store.sentModels.map(\.table).filter(dropsEdits))
        var last: PendingOperation.ID?
        while true {
            try Task.checkCancellation()
            let after = last
            let (operations, pointless) = try await store.read { local in
                let operations = try local.operations(after: after, limit: 500)
                return (
                    operations,
                    try operations.filter {
                        try tables.contains($0.table) && Self.tombstone(of: $0, edits: edits, in: local) != nil
                    }
                )
            }
            if !pointless.isEmpty {
                result.dropped += try await store.write { local in
                    try pointless.compactMap { try Self.drop($0.id, edits: edits, in: local) }
                }
            }
            last = operations.last?.id
            if operations.count < 500 { return }
        }
    }

    private func dropsEdits(of table: String) throws -> Bool {
        switch try settings(of: table).conflicts {
        case .merge(_, .report), .merge(_, .server), .serverWins: true
        default: false
        }
    }

    /// Returns a tombstone if the object of an edit was deleted on the server; `nil` if nothing shows that.
    private static func tombstone(
        of operation: PendingOperation, edits: OrphanedEdits, in local: any LocalReadTransaction
    ) throws -> ServerItem? {
        guard operation.kind == .update, operation.state == .pending || operation.state == .attempted,
            // The edit of an object that this device deleted and restores is still needed.
            try !local.mayHaveDeleted(operation.id)
        else { return nil }
        let kept = try local.deferredItem(of: operation.id)
        if let kept, kept.isDeleted {
            var tombstone = ServerItem(
                serverID: kept.serverID, version: kept.version, updatedAt: kept.updatedAt, isDeleted: true,
                source: kept.source)
            tombstone.wasDeferred = true
            return tombstone
        }
        return edits.serverID(of: operation.id).map { ServerItem(serverID: $0, isDeleted: true) }
    }

    private static func drop(
        _ id: PendingOperation.ID, edits: OrphanedEdits, in local: any LocalTransaction
    ) throws -> LostEdit? {
        // The operation may have changed since it was read.
        guard let operation = try local.operation(withID: id),
            let tombstone = try tombstone(of: operation, edits: edits, in: local)
        else { return nil }
        let object = try local.object(operation.localID, in: operation.table)
        let values = try local.discard(id, for: tombstone)
        return LostEdit(
            model: operation.model, localID: operation.localID, serverID: tombstone.serverID, values: values,
            object: object?.values ?? [:], isDeletedOnServer: true)
    }
}

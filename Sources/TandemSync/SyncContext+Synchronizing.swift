import Foundation
import Tandem

extension SyncContext {
    /// Synchronizes this device with the server: fetches first, without a push before; drops edits of objects that the
    /// server has deleted, and reports their values; then sends the rest.
    ///
    /// For example:
    ///
    /// ```swift
    /// let result = try await sync.synchronize([PullQuery(Card.self, queryID: "allCards")])
    /// print(result.isComplete)
    /// for issue in result.issues { print(issue) }
    /// ```
    ///
    /// That an object is gone its tombstone tells, or a full pull without a filter that does not find it. An edit is
    /// dropped where the table's conflict policy merges and has no other wish for deleted objects, or where the server
    /// wins. Every other policy decides by itself, when the edit is sent.
    ///
    /// A table that can't be pulled does not stop the others: the result lists it (``SyncIssue/failedPull(_:_:)``). If
    /// the server wants to be left alone for long, nothing more is asked, and each table fails with
    /// ``SyncError/Code/later`` and ``SyncError/retryAt``. An operation that waits for the user goes on waiting.
    ///
    /// If the server can't be reached for a pull, nothing is sent, and the next sync does all. If it can't be reached
    /// for the push, what was pulled stays, and what was sent is sent. In both cases the error carries what was done
    /// before: ``SyncError/result``.
    ///
    /// - Parameter pulls: What to fetch; if not said, all models that are sent, without filters, each with its table's
    ///   name as query ID.
    /// - Throws: ``SyncError/Code/unreachable`` and ``SyncError/Code/unauthenticated``; what stopped the push, as
    ///   ``push()`` throws it; `CancellationError`; `TandemError` if the store can't be written.
    @discardableResult
    public func synchronize(_ pulls: [PullQuery]? = nil) async throws -> SyncResult {
        let isExplicit = !ScheduledRun.isAutomatic
        let result = try await exclusively {
            try await runSynchronize(pulls ?? standardPulls, isExplicit: isExplicit)
        } then: { synced in
            try await addFiles(after: synced.sent, to: synced.result, isExplicit: isExplicit)
        }
        return try await finish(result)
    }

    /// Everything, by the tables' names.
    var standardPulls: [PullQuery] {
        store.sentModels.map { model in
            let features = try? settings(of: model.table).features
            return PullQuery(table: model.table, queryID: features?.updatedAt ?? true ? model.table : nil)
        }
    }

    /// A whole sync but for the files, within one that has the store to itself.
    ///
    /// - Parameter isExplicit: Whether somebody has asked for it: what was to be sent again at a later time is then sent
    ///   at once.
    private func runSynchronize(
        _ queries: [PullQuery], isExplicit: Bool
    ) async throws -> (result: SyncResult, sent: SentObjects?) {
        var (result, sent) = (SyncResult(), SentObjects?.none)
        var edits: PointlessEdits? = PointlessEdits()
        do {
            for query in queries {
                result.pulls.append(SyncResult.Pull(query: query, outcome: try await pullWithinSync(query, &edits)))
            }
            await keepQuietPulls()
            try await drop(edits ?? PointlessEdits(), &result)
            if try await hasToSend() { sent = try await sendObjects(isExplicit: isExplicit) }
        } catch {
            guard error is SyncError || result.hasGivenUp else { throw error }
            result.stoppedBy = SyncError(stopping: error)
        }
        return (result, sent)
    }

    /// Adds a push to the result of a sync, and sends the files, for which other syncs need not wait.
    private func addFiles(after sent: SentObjects?, to result: SyncResult, isExplicit: Bool) async throws -> SyncResult
    {
        guard let sent else { return result }
        var result = result
        do {
            result.add(try await sendFiles(after: sent, isExplicit: isExplicit))
        } catch {
            guard error is SyncError || result.hasGivenUp else { throw error }
            result.add(sent.result.stopped(by: SyncError(stopping: error)))
        }
        return result
    }

    private func pullWithinSync(
        _ query: PullQuery, _ edits: inout PointlessEdits?
    ) async throws -> Result<PullResult, SyncError> {
        do {
            return .success(try await fetch(query, noting: &edits))
        } catch let error as SyncError where error.code != .unreachable && error.code != .unauthenticated {
            return .failure(error)
        }
    }

    // MARK: -

    /// Drops updates of objects whose tombstones the pulls have brought, or that a whole pull has not found, where no
    /// policy wants to keep them: they are left to the push then. What waits for the user is the user's.
    ///
    /// - Parameter edits: Those of what was not found.
    private func drop(_ edits: PointlessEdits, _ result: inout SyncResult) async throws {
        let tables = Set(try store.sentModels.map(\.table).filter(dropsEdits))
        var last: Operation.ID?
        while true {
            try Task.checkCancellation()
            let after = last
            let (operations, pointless) = try await store.read { local in
                let operations = try local.operations(after: after, limit: 500)
                return (
                    operations,
                    try operations.filter {
                        try tables.contains($0.table) && Self.tombstone(of: $0, edits, local) != nil
                    }
                )
            }
            if !pointless.isEmpty {
                result.dropped += try await store.write { local in
                    try pointless.compactMap { try Self.drop($0.id, edits, local) }
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

    /// What tells that the object of an edit is gone; `nil` if nothing does.
    private static func tombstone(
        of operation: Operation, _ edits: PointlessEdits, _ local: any LocalReading
    ) throws -> ServerItem? {
        guard operation.kind == .update, operation.state == .pending || operation.state == .attempted,
            // What was deleted from here, and is brought back, is not pointless.
            try !local.mayHaveDeleted(operation.id)
        else { return nil }
        let kept = try local.keptItem(of: operation.id)
        if let kept, kept.isDeleted {
            var tombstone = ServerItem(
                serverID: kept.serverID, version: kept.version, updatedAt: kept.updatedAt, isDeleted: true,
                source: kept.source)
            tombstone.wasKept = true
            return tombstone
        }
        return edits.serverID(of: operation.id).map { ServerItem(serverID: $0, isDeleted: true) }
    }

    private static func drop(
        _ id: Operation.ID, _ edits: PointlessEdits, _ local: any LocalWriting
    ) throws -> LostEdit? {
        // It may have changed since it was looked at.
        guard let operation = try local.operation(withID: id),
            let tombstone = try tombstone(of: operation, edits, local)
        else { return nil }
        let object = try local.object(operation.localID, in: operation.table)
        let values = try local.discard(id, for: tombstone)
        return LostEdit(
            model: operation.model, localID: operation.localID, serverID: tombstone.serverID, values: values,
            object: object?.values ?? [:], isDeletedOnServer: true)
    }
}

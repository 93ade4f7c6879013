import Foundation
import Tandem

extension SyncContext {
    /// Brings this device and the server into step: fetches first, without a push before; drops edits of objects that
    /// the server has deleted, and tells of them with their values; then sends the rest.
    ///
    /// For example:
    ///
    /// ```swift
    /// let result = try await sync.synchronize([PullQuery(Card.self, queryID: "allCards")])
    /// for edit in result.dropped { print("\(edit.model) \(edit.localID) is gone, and with it", edit.values) }
    /// ```
    ///
    /// That an object is gone its tombstone tells, or a full pull without a filter that does not find it. An edit is
    /// dropped where the table's conflict policy merges and has no other wish for deleted objects, or where the server
    /// wins. Every other policy decides by itself, when the edit is sent.
    ///
    /// A table that can't be pulled is told in the result, and does not stop the others, unless the server wants to be left
    /// alone for long: then nothing more is asked, and the result says so of each table (``SyncError/Code/later``,
    /// ``SyncError/retryAt``). An operation that waits for the user goes on waiting.
    ///
    /// - Parameter pulls: What to fetch; if not said, all models that are sent, without filters, each with its table's
    ///   name as query ID.
    /// - Throws: ``SyncError/Code/unreachable`` and ``SyncError/Code/unauthenticated``; `CancellationError`; `TandemError`
    ///   if the store can't be written. Once edits were dropped the result is returned with that in
    ///   ``SyncResult/pushError``, so that they are not lost.
    @discardableResult
    public func synchronize(_ pulls: [PullQuery]? = nil) async throws -> SyncResult {
        let isExplicit = !ScheduledRun.isAutomatic
        return try await exclusively {
            try await runSynchronize(pulls ?? standardPulls, isExplicit: isExplicit)
        } then: { synced in
            try await addFiles(after: synced.sent, to: synced.result, isExplicit: isExplicit)
        }
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
        for query in queries {
            result.pulls.append(SyncResult.Pull(query: query, outcome: try await pullWithinSync(query, &edits)))
        }
        do {
            try await drop(edits ?? PointlessEdits(), &result)
            if try await hasToSend() { sent = try await sendObjects(isExplicit: isExplicit) }
        } catch {
            guard !result.dropped.isEmpty else { throw error }
            result.pushError = SyncError(stopping: error)
        }
        return (result, sent)
    }

    /// Sends the files of a sync, which does not need the store to itself any more.
    private func addFiles(after sent: SentObjects?, to result: SyncResult, isExplicit: Bool) async throws -> SyncResult
    {
        guard let sent else { return result }
        var result = result
        do {
            result.push = try await sendFiles(after: sent, isExplicit: isExplicit)
        } catch {
            guard !result.dropped.isEmpty else { throw error }
            result.pushError = SyncError(stopping: error)
        }
        return result
    }

    private func pullWithinSync(
        _ query: PullQuery, _ edits: inout PointlessEdits?
    ) async throws -> Result<PullResult, SyncError> {
        do {
            return .success(try await runPull(query, pushesFirst: false, noting: &edits))
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
    ) throws -> DroppedEdit? {
        // It may have changed since it was looked at.
        guard let operation = try local.operation(withID: id),
            let tombstone = try tombstone(of: operation, edits, local)
        else { return nil }
        let values = try local.discard(id, for: tombstone)
        return DroppedEdit(
            model: operation.model, localID: operation.localID, serverID: tombstone.serverID, values: values)
    }
}

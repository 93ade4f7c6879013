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
    /// An edit is dropped where the table's conflict policy merges and has no other wish for deleted objects, or where
    /// the server wins. Every other policy decides by itself, when the edit is sent.
    ///
    /// A table that can't be pulled is told in the result, and does not stop the others. An operation that waits for the
    /// user goes on waiting.
    ///
    /// - Parameter pulls: What to fetch; if not said, all models that are sent, without filters, each with its table's
    ///   name as query ID.
    /// - Throws: ``SyncError/Code/unreachable`` and ``SyncError/Code/unauthenticated``; `CancellationError`; `TandemError`
    ///   if the store can't be written. Once edits were dropped the result is returned with that in
    ///   ``SyncResult/pushError``, so that they are not lost.
    @discardableResult
    public func synchronize(_ pulls: [PullQuery]? = nil) async throws -> SyncResult {
        try await exclusively {
            try await runSynchronize(pulls ?? standardPulls, isExplicit: !ScheduledRun.isAutomatic)
        }
    }

    /// Everything, by the tables' names.
    var standardPulls: [PullQuery] {
        store.sentModels.map { model in
            let features = try? settings(of: model.table).features
            return PullQuery(table: model.table, queryID: features?.updatedAt ?? true ? model.table : nil)
        }
    }

    /// A whole sync, within one that has the store to itself.
    ///
    /// - Parameter isExplicit: Whether somebody has asked for it: what was to be sent again at a later time is then sent
    ///   at once.
    func runSynchronize(_ queries: [PullQuery], isExplicit: Bool) async throws -> SyncResult {
        var result = SyncResult()
        for query in queries {
            result.pulls.append(SyncResult.Pull(query: query, outcome: try await pullWithinSync(query)))
        }
        do {
            try await dropPointlessEdits(&result)
            if try await store.read({ try $0.countOfOperations() }) > 0 {
                result.push = try await runPush(isExplicit: isExplicit)
            }
        } catch {
            guard !result.dropped.isEmpty else { throw error }
            result.pushError = SyncError(stopping: error)
        }
        return result
    }

    private func pullWithinSync(_ query: PullQuery) async throws -> Result<PullResult, SyncError> {
        do {
            return .success(try await runPull(query, pushesFirst: false))
        } catch let error as SyncError where error.code != .unreachable && error.code != .unauthenticated {
            return .failure(error)
        }
    }

    // MARK: -

    /// Drops updates of objects whose tombstones the pulls have brought, where no policy wants to keep them: they are
    /// left to the push then. What waits for the user is the user's.
    private func dropPointlessEdits(_ result: inout SyncResult) async throws {
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
                        try tables.contains($0.table) && Self.tombstone(of: $0, local) != nil
                    }
                )
            }
            if !pointless.isEmpty {
                result.dropped += try await store.write { local in
                    try pointless.compactMap { try Self.drop($0.id, local) }
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

    private static func tombstone(of operation: Operation, _ local: any LocalReading) throws -> KeptItem? {
        guard operation.kind == .update, operation.state == .pending || operation.state == .attempted,
            // What was deleted from here, and is brought back, is not pointless.
            try !local.mayHaveDeleted(operation.id),
            let kept = try local.keptItem(of: operation.id), kept.isDeleted
        else { return nil }
        return kept
    }

    private static func drop(_ id: Operation.ID, _ local: any LocalWriting) throws -> DroppedEdit? {
        // It may have changed since it was looked at.
        guard let operation = try local.operation(withID: id), let kept = try tombstone(of: operation, local) else {
            return nil
        }
        var tombstone = ServerItem(
            serverID: kept.serverID, version: kept.version, updatedAt: kept.updatedAt, isDeleted: true,
            source: kept.source)
        tombstone.wasKept = true
        let values = try local.discard(id, for: tombstone)
        return DroppedEdit(
            model: operation.model, localID: operation.localID, serverID: kept.serverID, values: values)
    }
}

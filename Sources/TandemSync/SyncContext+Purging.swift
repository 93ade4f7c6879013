import Tandem

extension SyncContext {
    /// Drops a model's local objects and their sync tokens: the next pull begins from scratch. The server does not
    /// receive a request. References from other models stay unresolved until the objects are pulled again.
    ///
    /// The method waits for uploads of this process. For uploads of another process it waits for ``Options/patience``,
    /// then throws ``SyncError/Code/busy``.
    ///
    /// - Parameters:
    ///   - model: The model to purge.
    ///   - force: Whether to give up unsent changes. Objects that the server never knew are then lost.
    /// - Returns: The number of removed objects.
    /// - Throws: ``SyncError/Code/pendingOperations`` if there are unsent changes and `force` is `false`; `TandemError`
    ///   with the code `deleteDenied` if references prevent a forced removal of an object that the server never knew.
    ///   Nothing is changed then.
    @discardableResult
    public func purge<M: Model>(_ model: M.Type, force: Bool = false) async throws -> Int {
        try await purge(PullQuery(model), force: force)
    }

    /// Drops the local objects of a model that match a filter.
    ///
    /// For example:
    ///
    /// ```swift
    /// try await sync.purge(ToDo.self, queryID: "unfinished") { !$0.isDone }
    /// ```
    ///
    /// - Parameters:
    ///   - model: The model to purge.
    ///   - queryID: The query whose next pull begins from scratch. Other queries keep their positions: they fetch a
    ///     purged object again only after it changes on the server. Without a query ID, all queries of the model begin
    ///     from scratch.
    ///   - filter: A filter of the local objects. The limits of a pull's filter apply.
    ///   - force: Whether to give up unsent changes of these objects.
    /// - Returns: The number of removed objects.
    /// - Throws: ``SyncError/Code/pendingOperations`` if the table has unsent changes and `force` is `false`;
    ///   ``SyncError/Code/unsupportedFilter``; `TandemError` with the code `deleteDenied` if references prevent a
    ///   forced removal of an object that the server never knew. Nothing is changed then.
    @discardableResult
    public func purge<M: Model>(
        _ model: M.Type, queryID: String? = nil, force: Bool = false,
        where filter: (M.Columns) -> some PredicateExpression<M>
    ) async throws -> Int {
        try await purge(PullQuery(model, queryID: queryID, where: filter), force: force)
    }

    private func purge(_ query: PullQuery, force: Bool) async throws -> Int {
        try await withExclusiveSync(isExchange: false, stoppingUploads: true) {
            let filter = try await localFilter(of: query)
            let name = try settings(of: query.table).model.wireName
            return try await store.write { try Self.purge(query, filter: filter, name: name, force: force, in: $0) }
        }
    }

    /// Drops a query's objects, within a transaction.
    ///
    /// - Parameters:
    ///   - filter: The query's filter.
    ///   - name: The table's name on the server.
    static func purge(
        _ query: PullQuery, filter: LocalFilter?, name: String, force: Bool, in local: any LocalTransaction
    ) throws -> Int {
        let table = query.table
        var count = 0
        if try local.countOfOperations(in: table) > 0 {
            guard force else {
                throw SyncError(
                    .pendingOperations, message: "The table has changes that were not sent.",
                    advice: "Push them, or force the purge to discard them.", table: name)
            }
            count += try local.dropOperations(in: [table], where: filter)
        }
        if !force, try local.countOfPendingFiles(in: table) > 0 {
            throw SyncError(
                .pendingOperations, message: "The table has files that were not uploaded.",
                advice: "Push them, or force the purge to discard them.", table: name)
        }
        count += try removeAllSynced(in: table, where: filter, local: local)
        // The removal has turned pending uploads into operations.
        if force, try local.countOfOperations(in: table) > 0 {
            count += try local.dropOperations(in: [table], where: filter)
        }
        guard filter == nil else {
            if let queryID = query.queryID {
                try local.setSyncToken(nil, of: queryID, in: table)
                // A resumed pull would not fetch the purged objects again.
                try FullPullProgress.remove(in: table, local: local)
            } else {
                try local.removeSyncTokens(of: table)
            }
            return count
        }
        try local.removeSyncTokens(of: table)
        // A deferred item would later be older than the server's current item.
        var deferred: [ServerID] = []
        try local.forEachDeferredItemWithoutOperation(in: table) { deferred.append($0.serverID) }
        try local.removeDeferred(deferred, in: table)
        return count
    }

    /// Removes the objects of a table that the server has, except those with an operation.
    ///
    /// - Returns: The number of removed objects.
    static func removeAllSynced(
        in table: String, where filter: LocalFilter?, local: any LocalTransaction
    ) throws -> Int {
        var count = 0
        var rows = try local.syncedRows(in: table, where: filter)
        while !rows.isEmpty { count += try local.removeSynced(rows.removeFirst(1000), in: table) }
        return count
    }
}

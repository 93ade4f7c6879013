import Tandem

extension SyncContext {
    /// Drops a model's objects here, and all that is remembered of how far they were pulled: the next pull begins anew.
    /// The server is not told, and objects of other models that refer to them wait for them to come back.
    ///
    /// It waits for uploads of this process. For uploads of another process it waits for ``Options/patience``, then throws
    /// ``SyncError/Code/busy``.
    ///
    /// - Parameters:
    ///   - model: Whose objects go.
    ///   - force: Whether to give up what was not sent. Objects that the server never knew are then lost.
    /// - Returns: How many objects went.
    /// - Throws: ``SyncError/Code/pendingOperations`` if something was not sent and it is not forced; `TandemError` with
    ///   the code `deleteDenied` if it is forced, and an object that the server never knew can't go, because of what
    ///   refers to it. Nothing is changed then.
    @discardableResult
    public func purge<M: Model>(_ model: M.Type, force: Bool = false) async throws -> Int {
        try await purge(PullQuery(model), force: force)
    }

    /// Drops those of a model's objects here for which a filter holds.
    ///
    /// For example:
    ///
    /// ```swift
    /// try await sync.purge(ToDo.self, queryID: "unfinished") { !$0.isDone }
    /// ```
    ///
    /// - Parameters:
    ///   - model: Whose objects go.
    ///   - queryID: The query that is to be pulled from its start again. The places of others stay: what they have
    ///     fetched of these objects comes back when it changes there. Without one all the model's queries are pulled from
    ///     their start.
    ///   - filter: As the objects are here. It may ask only what a pull's filter may.
    ///   - force: Whether to give up what was not sent of these objects.
    /// - Returns: How many objects went.
    /// - Throws: ``SyncError/Code/pendingOperations`` if something of the table was not sent and it is not forced;
    ///   ``SyncError/Code/unsupportedFilter``; `TandemError` with the code `deleteDenied` if it is forced, and an object
    ///   that the server never knew can't go, because of what refers to it. Nothing is changed then.
    @discardableResult
    public func purge<M: Model>(
        _ model: M.Type, queryID: String? = nil, force: Bool = false,
        where filter: (M.Columns) -> some PredicateExpression<M>
    ) async throws -> Int {
        try await purge(PullQuery(model, queryID: queryID, where: filter), force: force)
    }

    private func purge(_ query: PullQuery, force: Bool) async throws -> Int {
        try await exclusively(isExchange: false, stoppingUploads: true) {
            let filter = try await localFilter(of: query)
            let name = try settings(of: query.table).model.wireName
            return try await store.write { try Self.purge(query, filter, name, force: force, in: $0) }
        }
    }

    /// Drops a query's objects, within a transaction.
    ///
    /// - Parameters:
    ///   - filter: The query's filter.
    ///   - name: The table's name on the server.
    static func purge(
        _ query: PullQuery, _ filter: LocalFilter?, _ name: String, force: Bool, in local: any LocalWriting
    ) throws -> Int {
        let table = query.table
        var count = 0
        if try local.countOfOperations(in: table) > 0 {
            guard force else {
                throw SyncError(
                    .pendingOperations, "The table has changes that were not sent.",
                    advice: "Push them, or force the purge to give them up.", table: name)
            }
            count += try local.dropOperations(in: [table], where: filter)
        }
        if !force, let files = local as? any FileReading, try files.countOfPendingFiles(in: table) > 0 {
            throw SyncError(
                .pendingOperations, "The table has files that were not uploaded.",
                advice: "Push them, or force the purge to give them up.", table: name)
        }
        count += try removeAllSynced(in: table, where: filter, local)
        // What waited to be uploaded has become operations.
        if force, try local.countOfOperations(in: table) > 0 {
            count += try local.dropOperations(in: [table], where: filter)
        }
        guard filter == nil else {
            if let queryID = query.queryID {
                try local.setSyncToken(nil, of: queryID, in: table)
                // A resumed pull would not fetch the purged objects again.
                try FullPullProgress.remove(in: table, local)
            } else {
                try local.removeSyncTokens(of: table)
            }
            return count
        }
        try local.removeSyncTokens(of: table)
        // What was kept for want of room would come back older than what the server has by then.
        var kept: [ServerID] = []
        try local.forEachKeptItemWithoutOperation(in: table) { kept.append($0.serverID) }
        try local.forgetKept(kept, in: table)
        return count
    }

    /// Takes away what the server has of a table, but what has an operation.
    ///
    /// - Returns: How many objects went.
    static func removeAllSynced(
        in table: String, where filter: LocalFilter?, _ local: any LocalWriting
    ) throws -> Int {
        var count = 0
        var rows = try local.syncedRows(in: table, where: filter)
        while !rows.isEmpty { count += try local.removeSynced(rows.take(1000), in: table) }
        return count
    }
}

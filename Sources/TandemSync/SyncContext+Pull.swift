import Tandem

extension SyncContext {
    /// Fetches the changes on the server.
    ///
    /// With a query ID, the store remembers how far the pull came, and the next pull continues there. Deleted objects
    /// are removed. Each page is committed with its position, so that an interrupted pull continues where it stopped.
    /// Without a query ID, each pull fetches everything and removes objects that the server no longer has. The next
    /// pull resumes such a pull if it was interrupted: see <doc:HowSyncWorks>.
    ///
    /// If the table has changes to send, the whole queue is pushed first. Failed operations do not stop the pull,
    /// unless the server can't be reached or rejects the user's credentials. An object with unsent changes keeps its
    /// values: the server's item is stored separately.
    ///
    /// For example:
    ///
    /// ```swift
    /// let result = try await sync.pull(Card.self, queryID: "allCards")
    /// print(result.inserted, result.updated, result.deleted)
    /// ```
    ///
    /// An incremental pull does not find objects that were deleted without a tombstone. An occasional full pull finds
    /// them.
    ///
    /// - Parameters:
    ///   - model: The model whose objects are fetched.
    ///   - queryID: The name under which the next pull continues; `nil` to fetch everything.
    /// - Throws: The error that stopped the pull, or the push before it: ``SyncError``, which carries the result of the
    ///   push (``SyncError/result``); `CancellationError`, at the latest at the next page; `TandemError` if the store
    ///   can't be written. The earlier pages stay. ``SyncError/Code/cancelled`` and ``SyncError/Code/store`` replace
    ///   these if the push has lost edits (``SyncResult/lostEdits``), so that the result reaches the app.
    @discardableResult
    public func pull<M: Model>(_ model: M.Type, queryID: String? = nil) async throws -> SyncResult {
        try await pull(PullQuery(model, queryID: queryID))
    }

    /// Fetches the changes of the objects that match a filter.
    ///
    /// For example:
    ///
    /// ```swift
    /// try await sync.pull(ToDo.self, queryID: "unfinished") { !$0.isDone }
    /// ```
    ///
    /// The server returns the objects that match the filter now. It does not announce an object that no longer matches,
    /// for example because another device finished the to-do. Such an object stays here until a full pull of the
    /// filter, or a purge.
    ///
    /// - Parameters:
    ///   - model: The model to fetch.
    ///   - queryID: The name under which the next pull continues where this one ended; `nil` to fetch everything each
    ///     time.
    ///   - filter: A filter of the model's own properties only. A query ID keeps its filter: a time taken from the
    ///     clock makes a different filter each time.
    /// - Throws: ``SyncError/Code/unsupportedFilter`` and ``SyncError/Code/otherFilter``, before any request, and the
    ///   errors of ``pull(_:queryID:)``.
    @discardableResult
    public func pull<M: Model>(
        _ model: M.Type, queryID: String? = nil, where filter: (M.Columns) -> some PredicateExpression<M>
    ) async throws -> SyncResult {
        try await pull(PullQuery(model, queryID: queryID, where: filter))
    }

    /// Fetches the changes of a query.
    ///
    /// - Parameter query: The model, the filter and the query ID.
    /// - Throws: The errors of ``pull(_:queryID:)``.
    @discardableResult
    public func pull(_ query: PullQuery) async throws -> SyncResult {
        try await finish(try await withExclusiveSync { try await runPull(query, pushesFirst: true) })
    }

    /// Pulls within a sync that has exclusive access to the store.
    ///
    /// - Parameter pushesFirst: Whether to push first if the table has changes to send.
    func runPull(_ query: PullQuery, pushesFirst: Bool) async throws -> SyncResult {
        let resolved = try await resolve(query, isPreliminary: pushesFirst)
        var result = SyncResult()
        if pushesFirst, try await hasOperations(in: query.table) {
            result = try await runPush(isExplicit: false)
            if let error = result.stoppedBy {
                // A server that fails on some objects may still answer a pull of the table.
                guard error.mayConcernObjects else { return result }
                (result.pushStop, result.stoppedBy) = (error, nil)
            }
        }
        do {
            var edits: OrphanedEdits?
            let pull = try await fetch(query, as: resolved, noting: &edits)
            result.pulls = [SyncResult.Pull(query: query, outcome: .success(pull))]
            await saveQuietPulls()
        } catch {
            guard error is SyncError || result.hasGivenUp else { throw error }
            result.stoppedBy = SyncError(stopping: error)
        }
        return result
    }

    /// Fetches the changes of a query, within a sync that has exclusive access to the store.
    ///
    /// - Parameters:
    ///   - resolved: The query in the server's terms; `nil` if it is not resolved yet.
    ///   - edits: Receives the edits whose objects the server no longer has; `nil` if a full pull records none.
    func fetch(
        _ query: PullQuery, as resolved: ResolvedQuery? = nil, noting edits: inout OrphanedEdits?
    ) async throws -> PullResult {
        var known = resolved
        if known == nil { known = try await resolve(query) }
        guard let known else { return PullResult() }
        var run = PullRun(self, query: known)
        run.orphanedEdits = edits
        defer { edits = run.orphanedEdits }
        return try await run.run()
    }

    private func hasOperations(in table: String) async throws -> Bool {
        try await store.read { try $0.countOfOperations(in: table) } > 0
    }
}

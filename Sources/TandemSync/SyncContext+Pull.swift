import Tandem

extension SyncContext {
    /// Fetches what changed on the server.
    ///
    /// With a query ID it is remembered how far the pull came, and the next one goes on there: deleted objects go, and
    /// each page is kept with its place, so that a pull that is interrupted goes on where it was. Without one everything
    /// is fetched each time, and what the server has no more goes too. If such a pull is interrupted, the next one resumes
    /// it: see <doc:HowSyncWorks>.
    ///
    /// If the table has changes to send, the whole queue is pushed first. What of it fails does not stop the pull,
    /// unless the server can't be reached or does not accept who is calling. An object whose changes could not be sent
    /// is left as it is: what the server holds of it is kept beside it.
    ///
    /// For example:
    ///
    /// ```swift
    /// let result = try await sync.pull(Card.self, queryID: "allCards")
    /// print(result.inserted, result.updated, result.deleted)
    /// ```
    ///
    /// An incremental pull is not told of what is deleted without a tombstone: a full pull now and then finds it.
    ///
    /// - Throws: What stopped the pull, or the push before it: ``SyncError``, which carries what the push had done
    ///   (``SyncError/result``); `CancellationError`, at the latest at the next page; `TandemError` if the store can't
    ///   be written. The pages before stay. ``SyncError/Code/cancelled`` and ``SyncError/Code/store`` replace these if
    ///   the push has lost edits (``SyncResult/lostEdits``), so that the result reaches the app.
    @discardableResult
    public func pull<M: Model>(_ model: M.Type, queryID: String? = nil) async throws -> SyncResult {
        try await pull(PullQuery(model, queryID: queryID))
    }

    /// Fetches what changed among the objects for which a filter holds.
    ///
    /// For example:
    ///
    /// ```swift
    /// try await sync.pull(ToDo.self, queryID: "unfinished") { !$0.isDone }
    /// ```
    ///
    /// The server is asked for what the filter holds for now. An object that it held for once and does no more, because
    /// another device has finished the to-do, is not announced: it stays as it is here until a full pull of the filter,
    /// or a purge.
    ///
    /// - Parameters:
    ///   - model: What is fetched.
    ///   - queryID: The name by which the next pull goes on where this one ended; `nil` to fetch everything each time.
    ///   - filter: It may ask of the model's own properties only, and it is the query ID's for good: times in it that go
    ///     with the clock make another filter of it each time.
    /// - Throws: ``SyncError/Code/unsupportedFilter`` and ``SyncError/Code/otherFilter``, before any request, and what
    ///   ``pull(_:queryID:)`` throws.
    @discardableResult
    public func pull<M: Model>(
        _ model: M.Type, queryID: String? = nil, where filter: (M.Columns) -> some PredicateExpression<M>
    ) async throws -> SyncResult {
        try await pull(PullQuery(model, queryID: queryID, where: filter))
    }

    /// Fetches what changed for a query.
    @discardableResult
    public func pull(_ query: PullQuery) async throws -> SyncResult {
        try await finish(try await exclusively { try await runPull(query, pushesFirst: true) })
    }

    /// Pulls within a sync that has the store to itself.
    ///
    /// - Parameter pushesFirst: Whether to push first if the table has changes to send.
    func runPull(_ query: PullQuery, pushesFirst: Bool) async throws -> SyncResult {
        let resolved = try await resolve(query, isPreliminary: pushesFirst)
        var result = SyncResult()
        if pushesFirst, try await hasOperations(in: query.table) {
            result.add(try await runPush(isExplicit: false))
            if let error = result.stoppedBy {
                // A server that stumbles over objects may let the table be fetched.
                guard error.mayConcernObjects else { return result }
                (result.pushStop, result.stoppedBy) = (error, nil)
            }
        }
        do {
            var edits: PointlessEdits?
            let pull = try await fetch(query, as: resolved, noting: &edits)
            result.pulls = [SyncResult.Pull(query: query, outcome: .success(pull))]
            await keepQuietPulls()
        } catch {
            guard error is SyncError || result.hasGivenUp else { throw error }
            result.stoppedBy = SyncError(stopping: error)
        }
        return result
    }

    /// Fetches what changed for a query, within a sync that has the store to itself.
    ///
    /// - Parameters:
    ///   - resolved: The query in the server's terms; `nil` if it is not known yet.
    ///   - edits: Where a full pull notes the edits whose objects the server has no more; `nil` if it notes none.
    func fetch(
        _ query: PullQuery, as resolved: ResolvedQuery? = nil, noting edits: inout PointlessEdits?
    ) async throws -> PullResult {
        var known = resolved
        if known == nil { known = try await resolve(query) }
        guard let known else { return PullResult() }
        var run = PullRun(self, known)
        run.pointlessEdits = edits
        defer { edits = run.pointlessEdits }
        return try await run.run()
    }

    private func hasOperations(in table: String) async throws -> Bool {
        try await store.read { try $0.countOfOperations(in: table) } > 0
    }
}

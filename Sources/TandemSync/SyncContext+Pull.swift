import Tandem

extension SyncContext {
    /// Fetches what changed on the server.
    ///
    /// With a query ID it is remembered how far the pull came, and the next one goes on there: deleted objects go, and
    /// each page is kept with its place, so that a pull that is interrupted goes on where it was. Without one everything
    /// is fetched each time, and what the server has no more goes too. If such a pull is interrupted, the next one resumes
    /// it: see <doc:HowSyncWorks>.
    ///
    /// If the table has changes to send, the whole queue is pushed first; what of it fails does not stop the pull. An
    /// object whose changes could not be sent is left as it is: what the server holds of it is kept beside it.
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
    /// - Throws: ``SyncError``; `CancellationError`, at the latest at the next page; `TandemError` if the store can't be
    ///   written. The pages before stay. Once the push has given values up for the server's, the result is returned with
    ///   that in ``PullResult/stoppedBy``, so that they are not lost.
    @discardableResult
    public func pull<M: Model>(_ model: M.Type, queryID: String? = nil) async throws -> PullResult {
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
    ) async throws -> PullResult {
        try await pull(PullQuery(model, queryID: queryID, where: filter))
    }

    /// Fetches what changed for a query.
    @discardableResult
    public func pull(_ query: PullQuery) async throws -> PullResult {
        try await exclusively { try await runPull(query, pushesFirst: true) }
    }

    /// A pull within a sync that has the store to itself.
    func runPull(_ query: PullQuery, pushesFirst: Bool) async throws -> PullResult {
        var edits: PointlessEdits?
        return try await runPull(query, pushesFirst: pushesFirst, noting: &edits)
    }

    /// A pull within a sync that has the store to itself.
    ///
    /// - Parameter edits: Where a whole pull notes the edits whose objects the server has no more; `nil` if nobody wants to
    ///   know.
    func runPull(
        _ query: PullQuery, pushesFirst: Bool, noting edits: inout PointlessEdits?
    ) async throws -> PullResult {
        let resolved = try await resolve(query, isPreliminary: pushesFirst)
        var sent: (result: PushResult?, error: SyncError?) = (nil, nil)
        if pushesFirst, try await hasOperations(in: query.table) { sent = try await pushBeforePull() }
        var result = PullResult()
        do {
            try await fetch(query, resolved, into: &result, noting: &edits)
        } catch {
            guard sent.result?.hasGivenUp ?? false else { throw error }
            result.stoppedBy = SyncError(stopping: error)
        }
        (result.push, result.pushError) = sent
        return result
    }

    /// - Parameter result: What has been done, if it throws too.
    private func fetch(
        _ query: PullQuery, _ known: ResolvedQuery?, into result: inout PullResult, noting edits: inout PointlessEdits?
    ) async throws {
        var resolved = known
        if resolved == nil { resolved = try await resolve(query) }
        guard let resolved else { return }
        var run = PullRun(self, resolved)
        run.pointlessEdits = edits
        defer {
            result = run.tally.finished()
            edits = run.pointlessEdits
        }
        _ = try await run.run()
    }

    private func hasOperations(in table: String) async throws -> Bool {
        try await store.read { try $0.countOfOperations(in: table) } > 0
    }

    /// Whatever stands in the way of sending is in the result; a server that can't be reached is met by the pull as well.
    private func pushBeforePull() async throws -> (PushResult?, SyncError?) {
        do {
            return (try await runPush(isExplicit: false), nil)
        } catch let error as SyncError {
            return (nil, error)
        }
    }
}

import Tandem

/// What a whole sync has done.
public struct SyncResult: Sendable {
    /// One of its pulls.
    public struct Pull: Sendable {
        /// What was asked for.
        public let query: PullQuery
        /// What it has brought, or why it failed. The others went on.
        public let outcome: Result<PullResult, SyncError>

        /// What became of a query, for a ``SyncResult`` of the app's own.
        public init(query: PullQuery, outcome: Result<PullResult, SyncError>) {
            self.query = query
            self.outcome = outcome
        }
    }

    /// The pulls, in the order in which they were asked for.
    public internal(set) var pulls: [Pull] = []
    /// The edits that were dropped, because the server has deleted their objects.
    public internal(set) var dropped: [DroppedEdit] = []
    /// What became of what was to be sent; `nil` if there was nothing.
    public internal(set) var push: PushResult?
    /// Why there is no result of the push, where edits were dropped before: else it is thrown.
    public internal(set) var pushError: SyncError?

    /// What a sync has done that the app has put together itself, as in a closure given to a ``SyncScheduler``, which
    /// learns from it when to sync again.
    ///
    /// For example:
    ///
    /// ```swift
    /// let scheduler = SyncScheduler(sync) { sync in
    ///     let cards = PullQuery(Card.self, queryID: "cards")
    ///     let push = try await sync.push()
    ///     guard push.stoppedBy == nil else { return SyncResult(push: push) }
    ///     return SyncResult(pulls: [.init(query: cards, outcome: .success(try await sync.pull(cards)))], push: push)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - pulls: What was fetched; none, if not said.
    ///   - dropped: The edits that were given up.
    ///   - push: What became of what was to be sent.
    ///   - pushError: Why there is no result of the push, if it failed.
    public init(
        pulls: [Pull] = [], dropped: [DroppedEdit] = [], push: PushResult? = nil, pushError: SyncError? = nil
    ) {
        self.pulls = pulls
        self.dropped = dropped
        self.push = push
        self.pushError = pushError
    }

    /// Whether all pulls came to their end, and all that was due was sent. What waits for the user since an earlier push
    /// is not sent by itself, and not counted: ``SyncContext/failedOperations()`` has it.
    public var isComplete: Bool {
        pulls.allSatisfy { if case .success(let pull) = $0.outcome { pull.refusedRows.isEmpty } else { false } }
            && push?.isComplete ?? true && pushError == nil
    }
}

/// An edit that was not sent, because the server has deleted its object.
public struct DroppedEdit: Sendable {
    /// The object's model, by its name in Swift.
    public let model: String
    /// The object, which is gone.
    public let localID: LocalID
    /// Its key on the server.
    public let serverID: ServerID
    /// What was changed here, by the properties' names, in the stored form.
    public let values: [String: StorageValue]

    /// An edit that was given up, for a ``SyncResult`` of the app's own.
    public init(model: String, localID: LocalID, serverID: ServerID, values: [String: StorageValue]) {
        self.model = model
        self.localID = localID
        self.serverID = serverID
        self.values = values
    }
}

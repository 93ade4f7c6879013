import Foundation
import Tandem

/// The result of a push, a pull or a whole sync.
///
/// ``isComplete`` says whether the sync succeeded. ``issues`` lists everything that the user should know. For example:
///
/// ```swift
/// let result = try await sync.synchronize()
/// for issue in result.issues { print(issue) }
/// ```
///
/// A sync that is stopped before its end throws. The error then carries the result so far: ``SyncError/result``.
///
/// The counts of ``received`` are members of the result as well: `result.inserted` is `result.received.inserted`.
@dynamicMemberLookup
public struct SyncResult: Sendable {
    /// The result of a fetched query.
    public struct Pull: Sendable {
        /// The query.
        public let query: PullQuery
        /// The query's result or error. The other queries continued.
        public let outcome: Result<PullResult, SyncError>

        /// Creates the result of a query, for a ``SyncResult`` of the app's own.
        ///
        /// - Parameters:
        ///   - query: The query.
        ///   - outcome: The counts of objects, or the reason why the query failed.
        public init(query: PullQuery, outcome: Result<PullResult, SyncError>) {
            self.query = query
            self.outcome = outcome
        }
    }

    /// The result of a due operation.
    public struct Entry: Sendable, Identifiable {
        /// The operation's ID in the queue.
        public let id: PendingOperation.ID
        /// The kind of change.
        public let kind: PendingOperation.Kind
        /// The object's table in the store.
        public let table: String
        /// The object.
        public let localID: LocalID
        /// The outcome of the operation.
        public let outcome: Outcome
        /// The edit that was dropped because the conflict policy prefers the server's values; `nil` if none was.
        public internal(set) var lost: LostEdit?

        /// Creates the result of an operation, for a ``SyncResult`` of the app's own.
        ///
        /// - Parameters:
        ///   - id: The operation's ID in the queue.
        ///   - kind: The kind of change.
        ///   - table: The model's table in the store.
        ///   - localID: The object's local ID.
        ///   - outcome: The outcome of the operation.
        ///   - lost: The edit that was dropped for the server's values, if any.
        public init(
            id: PendingOperation.ID, kind: PendingOperation.Kind, table: String, localID: LocalID, outcome: Outcome,
            lost: LostEdit? = nil
        ) {
            self.id = id
            self.kind = kind
            self.table = table
            self.localID = localID
            self.outcome = outcome
            self.lost = lost
        }
    }

    /// The outcome of an operation. More kinds may be added: keep a `default` in a `switch`.
    public enum Outcome: Sendable {
        /// The server has carried it out.
        case done
        /// The server had the change already: an earlier response was lost, or another client made the same change.
        case adopted
        /// The server has carried it out after this number of merges with other clients' changes.
        case merged(rounds: Int)
        /// The server's side replaced the change. See ``Entry/lost``.
        case tookServers
        /// The server refused it. It waits for the user, or for a new change.
        case refused(SyncError)
        /// Another client has changed the object too, and the policy leaves the decision to the user. The operation
        /// waits for it.
        case conflict(SyncError)
        /// The operation failed in this push. A later push sends it again, not before the given time if there is one.
        /// Or it failed in an earlier push, and this push skipped it because too many others failed again.
        case retryLater(SyncError, at: Date?)
        /// The operation is held and not sent until it is released.
        case held
        /// The object refers to another one that the server does not have and whose own operation is blocked.
        case waiting(for: LocalID, table: String)
        /// The sent change is done. A change made meanwhile waits for the next push.
        case stillPending
        /// The push stopped before it reached the operation.
        case notReached
    }

    /// The queries, in the order in which they were fetched.
    public internal(set) var pulls: [Pull]
    /// The operations, in the order of the queue. Operations that were collapsed away meanwhile are left out, unless
    /// some of their values were given up before.
    public internal(set) var entries: [Entry]
    /// The files, in the order in which they were to be uploaded.
    public internal(set) var uploads: [FileUpload]
    /// The operations that wait for the user when the sync ends, in the order of the queue, whenever they failed.
    public internal(set) var failedOperations: [TableOperationError] = []
    /// The edits that were dropped before the push, because the server has deleted their objects.
    var dropped: [LostEdit]
    /// The time when the first deferred operation or file is due that is not listed here.
    var nextDue: Date?
    /// The error that stopped the sync. The sync then throws this error with the result.
    ///
    /// Also set if the server responded for none of at least five objects: it seems to be down.
    var stoppedBy: SyncError?
    /// The error that stopped the push before a pull, if the pull continued.
    var pushStop: SyncError?

    /// Creates a result that the app has assembled itself, for a ``SyncScheduler`` or a test.
    ///
    /// - Parameters:
    ///   - pulls: The queries that were fetched.
    ///   - entries: The operations.
    ///   - uploads: The files.
    ///   - lostEdits: The changes that were dropped for the server's, in addition to those in `entries`.
    public init(
        pulls: [Pull] = [], entries: [Entry] = [], uploads: [FileUpload] = [], lostEdits: [LostEdit] = []
    ) {
        self.pulls = pulls
        self.entries = entries
        self.uploads = uploads
        dropped = lostEdits
    }

    /// The combined result of all queries.
    public var received: PullResult {
        pulls.reduce(PullResult()) { sum, pull in
            guard case .success(let result) = pull.outcome else { return sum }
            return sum + result
        }
    }

    /// A count of ``received``.
    public subscript<Value>(dynamicMember member: KeyPath<PullResult, Value>) -> Value {
        received[keyPath: member]
    }

    /// The changes that were dropped for the server's: the server deleted the objects, or the conflict policy prefers
    /// its values.
    public var lostEdits: [LostEdit] { dropped + entries.compactMap(\.lost) }

    /// Returns the combined result of two consecutive syncs.
    ///
    /// For example:
    ///
    /// ```swift
    /// let scheduler = SyncScheduler(sync) { sync in
    ///     try await sync.push().followed(by: sync.pull(Card.self, queryID: "cards"))
    /// }
    /// ```
    ///
    /// - Parameter later: The result of the later sync.
    public func followed(by later: SyncResult) -> SyncResult {
        var result = later
        result.pulls = pulls + later.pulls
        result.entries = entries.followed(by: later.entries)
        // The later push lists every file that is still to be sent.
        result.uploads = uploads.filter { $0.isFinished || later.uploads.isEmpty } + later.uploads
        result.dropped = dropped + later.dropped
        result.nextDue = [nextDue, later.nextDue].compactMap { $0 }.min()
        result.pushStop = later.pushStop ?? pushStop
        return result
    }
}

extension SyncResult {
    /// Creates the result of a push of objects, or of deletes of files.
    init(entries: [Entry] = [], stoppedBy: SyncError?, nextDue: Date? = nil) {
        self.init(entries: entries)
        (self.stoppedBy, self.nextDue) = (stoppedBy, nextDue)
    }

    /// Whether an edit was dropped that only this result records.
    var hasGivenUp: Bool { !lostEdits.isEmpty }
}

extension [SyncResult.Entry] {
    /// Returns the operations of two consecutive pushes. The later push replaces the unfinished entries of the earlier
    /// one.
    func followed(by later: Self) -> Self {
        let ids = Set(later.map(\.id))
        var lost: [PendingOperation.ID: LostEdit] = [:]
        let kept = filter { entry in
            guard ids.contains(entry.id), !entry.outcome.isFinished else { return true }
            lost[entry.id] = entry.lost
            return false
        }
        return kept
            + later.map { entry -> SyncResult.Entry in
                guard let earlier = lost[entry.id] else { return entry }
                var entry = entry
                entry.lost = entry.lost.map(earlier.followed(by:)) ?? earlier
                return entry
            }
    }
}

extension SyncResult.Outcome {
    /// Whether the operation has nothing left to send.
    public var isFinished: Bool {
        switch self {
        case .done, .adopted, .merged, .tookServers: true
        case .refused, .conflict, .retryLater, .held, .waiting, .stillPending, .notReached: false
        }
    }

    /// The error of an operation that was not carried out, if any.
    public var error: SyncError? {
        switch self {
        case .refused(let error), .conflict(let error), .retryLater(let error, _): error
        default: nil
        }
    }
}

extension SyncResult.Pull {
    /// The error of the query; `nil` if it succeeded.
    var failure: SyncError? {
        if case .failure(let error) = outcome { error } else { nil }
    }
}

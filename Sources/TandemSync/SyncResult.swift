import Foundation
import Tandem

/// The result of a push, a pull or a whole sync.
///
/// ``isComplete`` answers whether it worked. ``issues`` lists everything that the user should know. For example:
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
    /// One of the queries that were fetched.
    public struct Pull: Sendable {
        /// The query.
        public let query: PullQuery
        /// What it has brought, or why it failed. The other queries went on.
        public let outcome: Result<PullResult, SyncError>

        /// Creates the result of a query, for a ``SyncResult`` of the app's own.
        public init(query: PullQuery, outcome: Result<PullResult, SyncError>) {
            self.query = query
            self.outcome = outcome
        }
    }

    /// One of the operations that were due.
    public struct Entry: Sendable, Identifiable {
        /// The operation's ID in the queue.
        public let id: Tandem.Operation.ID
        /// The kind of change.
        public let kind: Tandem.Operation.Kind
        /// The object's table in the store.
        public let table: String
        /// The object.
        public let localID: LocalID
        /// How the operation ended.
        public let outcome: Outcome
        /// What was given up for the server's values, because the conflict policy prefers them; `nil` if nothing was.
        public internal(set) var lost: LostEdit?

        /// Creates the result of an operation, for a ``SyncResult`` of the app's own.
        public init(
            id: Tandem.Operation.ID, kind: Tandem.Operation.Kind, table: String, localID: LocalID, outcome: Outcome,
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

    /// How an operation ended. More ways may be added: keep a `default` in a `switch`.
    public enum Outcome: Sendable {
        /// The server has carried it out.
        case done
        /// The server held it already: an earlier answer was lost, or somebody else has made the same change.
        case adopted
        /// The server has carried it out, after it was merged with the changes of others so many times.
        case merged(rounds: Int)
        /// The server's side was taken in place of it. See ``Entry/lost``.
        case tookServers
        /// The server refused it. It waits for the user, or for a new change.
        case refused(SyncError)
        /// Others have changed the object too, and the policy leaves the choice to the user. It waits for that.
        case conflict(SyncError)
        /// It failed this time. A later push sends it again, not before that time if there is one. Or it failed in an
        /// earlier push, and was passed over because too many others failed again.
        case retryLater(SyncError, at: Date?)
        /// It is left unsent until it is released.
        case held
        /// It refers to an object that the server does not have, and whose own operation is in the way.
        case waiting(for: LocalID, table: String)
        /// What was sent is done. What was changed meanwhile waits for the next push.
        case stillPending
        /// The push stopped before its turn came.
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
    /// When the first operation or file is due that was put off and that is not listed here.
    var nextDue: Date?
    /// Why the sync stopped before its end. The sync then throws this error with the result.
    var stoppedBy: SyncError?
    /// Why the push before a pull stopped before its end, if the pull went on.
    var pushStop: SyncError?

    /// Creates a result that the app has put together itself, for a ``SyncScheduler`` or a test.
    ///
    /// - Parameters:
    ///   - pulls: The queries that were fetched.
    ///   - entries: The operations.
    ///   - uploads: The files.
    ///   - lostEdits: The changes that gave way to the server's, beside those of `entries`.
    public init(
        pulls: [Pull] = [], entries: [Entry] = [], uploads: [FileUpload] = [], lostEdits: [LostEdit] = []
    ) {
        self.pulls = pulls
        self.entries = entries
        self.uploads = uploads
        dropped = lostEdits
    }

    /// What all queries have brought together.
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

    /// The changes that gave way to the server's: its objects were deleted, or the conflict policy prefers its values.
    public var lostEdits: [LostEdit] { dropped + entries.compactMap(\.lost) }

    /// Returns what two syncs have done, one after the other.
    ///
    /// For example:
    ///
    /// ```swift
    /// let scheduler = SyncScheduler(sync) { sync in
    ///     try await sync.push().followed(by: sync.pull(Card.self, queryID: "cards"))
    /// }
    /// ```
    public func followed(by later: SyncResult) -> SyncResult {
        var result = later
        result.pulls = pulls + later.pulls
        result.entries = entries.followed(by: later.entries)
        // The later push lists every file that is still to be sent.
        result.uploads = uploads.filter { $0.isSettled || later.uploads.isEmpty } + later.uploads
        result.dropped = dropped + later.dropped
        result.nextDue = [nextDue, later.nextDue].compactMap { $0 }.min()
        result.pushStop = later.pushStop ?? pushStop
        return result
    }
}

extension SyncResult {
    init(_ push: PushResult) {
        self.init()
        add(push)
    }

    /// Adds what a push did.
    mutating func add(_ push: PushResult) {
        entries += push.entries
        uploads += push.uploads
        (nextDue, stoppedBy) = (push.nextDue, push.stoppedBy)
    }

    /// Whether a change was given up that is recorded in this result only.
    var hasGivenUp: Bool { !lostEdits.isEmpty }
}

extension [SyncResult.Entry] {
    /// Returns the operations of two pushes, one after the other. The later push replaces what was left to it.
    func followed(by later: Self) -> Self {
        let ids = Set(later.map(\.id))
        var lost: [Tandem.Operation.ID: LostEdit] = [:]
        let kept = filter { entry in
            guard ids.contains(entry.id), !entry.outcome.isSettled else { return true }
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
    /// Whether nothing of the operation is left to be sent.
    public var isSettled: Bool {
        switch self {
        case .done, .adopted, .merged, .tookServers: true
        case .refused, .conflict, .retryLater, .held, .waiting, .stillPending, .notReached: false
        }
    }

    /// Why the operation was not carried out, if there is an error.
    public var error: SyncError? {
        switch self {
        case .refused(let error), .conflict(let error), .retryLater(let error, _): error
        default: nil
        }
    }
}

extension SyncResult.Pull {
    /// Why the query failed; `nil` if it did not.
    var failure: SyncError? {
        if case .failure(let error) = outcome { error } else { nil }
    }
}

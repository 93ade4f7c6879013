import Foundation
import Tandem

/// What a push did, operation by operation.
public struct PushResult: Sendable {
    /// What became of one operation.
    public struct Entry: Sendable, Identifiable {
        /// The operation, as it was called in the queue.
        public let id: Tandem.Operation.ID
        /// What it was to do.
        public let kind: Tandem.Operation.Kind
        /// The object's table in the store.
        public let table: String
        /// The object.
        public let localID: LocalID
        /// What became of it.
        public let outcome: Outcome
        /// The values that were given up for the server's, by the properties' names in Swift, as they were stored: the
        /// conflict policy wanted it so.
        public let lost: [String: StorageValue]

        /// What became of one operation, for a ``PushResult`` of the app's own.
        public init(
            id: Tandem.Operation.ID, kind: Tandem.Operation.Kind, table: String, localID: LocalID, outcome: Outcome,
            lost: [String: StorageValue] = [:]
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
        /// The server has carried it out, after it was put together with the changes of others so many times.
        case merged(rounds: Int)
        /// The server's side was taken in place of it. See ``Entry/lost``.
        case tookServers
        /// The server will not have it. It waits for the user, or for a new change.
        case refused(SyncError)
        /// Others have changed the object too, and the policy leaves the choice to the user. It waits for that.
        case conflict(SyncError)
        /// It did not work this time: a later push sends it again, not before that time if there is one. Or it failed in
        /// an earlier push, and was passed over because too many others did so again.
        case retryLater(SyncError, at: Date?)
        /// It is left unsent until it is released.
        case held
        /// It refers to an object that the server does not have, and whose own operation is in the way.
        case waiting(for: LocalID, table: String)
        /// What was sent is done; what was changed meanwhile waits for the next push.
        case stillPending
        /// The push stopped before its turn came.
        case notReached
    }

    /// The operations, in the order of the queue. What was collapsed away meanwhile is not among them, unless some of its
    /// values were given up before.
    public let entries: [Entry]
    /// The files, in the order in which they were to be uploaded.
    public let uploads: [FileUpload]
    /// Why the push stopped before its end; `nil` if it went through the queue.
    ///
    /// It is there as well if the server has answered for none of five objects or more: it seems to be down.
    ///
    /// Among the reasons are ``SyncError/Code/cancelled`` and ``SyncError/Code/store``, which a push throws as they are
    /// if it has given no values up (``Entry/lost``).
    public let stoppedBy: SyncError?
    /// When the first of those may be sent that were not due, and that are not among the entries.
    let nextDue: Date?

    /// What a push did, for a ``SyncResult`` of the app's own, or a test.
    ///
    /// - Parameters:
    ///   - entries: What became of each operation; none, if not said.
    ///   - uploads: What became of each file; none, if not said.
    ///   - stoppedBy: Why it stopped before its end; `nil` if it went through the queue.
    public init(entries: [Entry] = [], uploads: [FileUpload] = [], stoppedBy: SyncError? = nil) {
        self.init(entries: entries, uploads: uploads, stoppedBy: stoppedBy, nextDue: nil)
    }

    init(entries: [Entry], uploads: [FileUpload] = [], stoppedBy: SyncError?, nextDue: Date?) {
        self.entries = entries
        self.uploads = uploads
        self.stoppedBy = stoppedBy
        self.nextDue = nextDue
    }

    /// Whether all that was due is on the server now, files included. What waits for the user since an earlier push is not due:
    /// ``SyncContext/failedOperations()`` has it.
    public var isComplete: Bool {
        stoppedBy == nil && entries.allSatisfy(\.outcome.isSettled) && uploads.allSatisfy(\.isSettled)
    }

    /// Whether something that was changed here is in this result alone.
    var hasGivenUp: Bool { entries.contains { !$0.lost.isEmpty } }

    /// The operations that need the user, in the order of the queue.
    public var refused: [Entry] {
        entries.filter {
            switch $0.outcome {
            case .refused, .conflict: true
            default: false
            }
        }
    }
}

extension PushResult.Outcome {
    /// Whether nothing of the operation is left to be sent.
    public var isSettled: Bool {
        switch self {
        case .done, .adopted, .merged, .tookServers: true
        case .refused, .conflict, .retryLater, .held, .waiting, .stillPending, .notReached: false
        }
    }

    /// Why the operation was not carried out, where there is an error.
    public var error: SyncError? {
        switch self {
        case .refused(let error), .conflict(let error), .retryLater(let error, _): error
        default: nil
        }
    }
}

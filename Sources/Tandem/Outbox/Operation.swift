import Foundation

/// A pending change of one object, to be sent to the server: at most one for each object.
///
/// See <doc:TheOperationQueue>.
public struct Operation: Hashable, Sendable, Identifiable {
    /// The operation's place in the queue, by the object's first change; never used again.
    public typealias ID = Int64

    /// What is to be done on the server.
    public enum Kind: Int, Hashable, Sendable, CustomStringConvertible {
        case insert = 1
        case update = 2
        case delete = 3

        public var description: String {
            switch self {
            case .insert: "insert"
            case .update: "update"
            case .delete: "delete"
            }
        }
    }

    /// How far it has come.
    public enum State: Int, Hashable, Sendable, CustomStringConvertible {
        /// Waits to be sent.
        case pending = 0
        /// Is being sent, or was when the process ended: the server may have it.
        case attempted = 1
        /// Was refused, and waits for the user or for a new change.
        case failed = 2
        /// Is left unsent, whatever changes, until the user says otherwise. An attempt that was under way may still
        /// arrive.
        case held = 3

        public var description: String {
            switch self {
            case .pending: "pending"
            case .attempted: "attempted"
            case .failed: "failed"
            case .held: "held"
            }
        }
    }

    public let id: ID
    /// The object's model, by its name in Swift; the table's name if the store was opened without the model.
    public let model: String
    /// The object's table.
    public let table: String
    public let localID: LocalID
    public let kind: Kind
    public let state: State
    /// The local time of the last change: a microsecond after the change before, where the clock says the same.
    public let changedAt: Date
    /// How often it was sent.
    public let attempts: Int
    /// The properties changed, by their names in Swift, each with the value that the server last sent. For an insert
    /// there are none: all are new. For a delete these are of the update that it replaced. ``Model/value(of:in:)``
    /// reads a value as its property's type.
    public let base: [String: StorageValue]
    /// The properties in the attempt under way, each with its base. In an insert's there are none: all are new.
    public let sent: [String: StorageValue]
    /// What the delete took the place of.
    public let replaced: Kind?
    /// Why it failed, or why it is not known whether it did.
    public let error: OperationError?
    /// When it is to be sent again by itself, at the earliest; `nil` for at any time.
    public let retryAt: Date?

    package init(
        id: ID, model: String, table: String, localID: LocalID, kind: Kind, state: State, changedAt: Date,
        attempts: Int = 0, base: [String: StorageValue] = [:], sent: [String: StorageValue] = [:],
        replaced: Kind? = nil, error: OperationError? = nil, retryAt: Date? = nil
    ) {
        self.id = id
        self.model = model
        self.table = table
        self.localID = localID
        self.kind = kind
        self.state = state
        self.changedAt = changedAt
        self.attempts = attempts
        self.base = base
        self.sent = sent
        self.replaced = replaced
        self.error = error
        self.retryAt = retryAt
    }

    /// The operation as it is: what a choice of the user's is about.
    public var version: Version { Version(id: id, changedAt: changedAt) }

    /// An operation as it was when it was shown to the user. Each further change of its object makes another version.
    public struct Version: Hashable, Sendable {
        /// The operation.
        public let id: ID
        /// When its object was changed last, as ``Operation/changedAt``. No two changes of an operation have the same.
        public let changedAt: Date

        /// A version that was written down elsewhere.
        public init(id: ID, changedAt: Date) {
            self.id = id
            self.changedAt = changedAt
        }
    }

    /// The time of a change that follows another one of the same operation: the clock's, but never the one before,
    /// also if the clock stands still.
    package static func timeOfChange(after last: Date, at now: Date) -> Date {
        let ahead = last.timeIntervalSince(now)
        return ahead >= 0 && ahead < clockStep ? last + leastStep : now
    }

    /// A clock that is set back by less than this, in seconds, is taken for one that stands still.
    static let clockStep = 0.001
    /// Distance of the next change's time in that case, in seconds. A `Date` of this century resolves a tenth of it.
    static let leastStep = 0.000_001

    /// The properties changed, by their names in Swift, sorted.
    public var changedProperties: [String] { base.keys.sorted() }
}

/// Why an operation failed.
public struct OperationError: Hashable, Sendable {
    /// The server's status, if it gave one.
    public let status: Int?
    /// What it said, or what happened, in a sentence.
    public let message: String
    /// When, by the local clock.
    public let at: Date
    /// What the server holds, if it sent it along.
    public let serverItem: Data?

    public init(status: Int? = nil, message: String, at: Date, serverItem: Data? = nil) {
        self.status = status
        self.message = message
        self.at = at
        self.serverItem = serverItem
    }
}

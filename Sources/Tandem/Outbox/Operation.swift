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
    /// The local time of the last change.
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

    /// Creates an operation: for those who write a local store of their own.
    public init(
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

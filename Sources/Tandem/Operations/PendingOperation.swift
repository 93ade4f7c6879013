import Foundation

/// A pending change of one object, to be sent to the server. Each object has at most one operation.
///
/// See <doc:TheOperationQueue>.
public struct PendingOperation: Hashable, Sendable, Identifiable {
    /// The operation's position in the queue, in the order of the objects' first changes. It is never reused.
    public typealias ID = Int64

    /// The request to send to the server.
    public enum Kind: Int, Hashable, Sendable, CustomStringConvertible {
        /// Inserts a new object.
        case insert = 1
        /// Updates the changed properties of an object.
        case update = 2
        /// Deletes an object.
        case delete = 3

        /// The kind's name.
        public var description: String {
            switch self {
            case .insert: "insert"
            case .update: "update"
            case .delete: "delete"
            }
        }
    }

    /// The progress of an operation.
    public enum State: Int, Hashable, Sendable, CustomStringConvertible {
        /// The operation waits to be sent. If an earlier attempt failed, ``PendingOperation/error`` has the reason. The
        /// server may have received such an attempt: sync remembers that, and looks the object up if needed.
        case pending = 0
        /// The operation is being sent, or was when the process ended. The server may have received it.
        case attempted = 1
        /// The server rejected the operation. It waits for the user or for a new change.
        case failed = 2
        /// The operation stays unsent, whatever changes, until the user releases it. An attempt that was under way may
        /// still arrive.
        case held = 3

        /// The state's name.
        public var description: String {
            switch self {
            case .pending: "pending"
            case .attempted: "attempted"
            case .failed: "failed"
            case .held: "held"
            }
        }
    }

    /// The operation's position in the queue.
    public let id: ID
    /// The name in Swift of the object's model, or the table's name if the store was opened without the model.
    public let model: String
    /// The object's table.
    public let table: String
    /// The object's local ID.
    public let localID: LocalID
    /// The request to send to the server.
    public let kind: Kind
    /// The progress of the operation.
    public let state: State
    /// The local time of the last change. It is a microsecond after the previous change if the clock shows the same
    /// time.
    public let changedAt: Date
    /// The number of attempts.
    public let attempts: Int
    /// The changed properties, by their names in Swift, each with the value that the server last sent. An insert has
    /// none: all values are new. A delete has those of the update that it replaced.
    /// ``Model/value(of:in:)-(_,[String:StorageValue])`` reads a value as its property's type.
    public let base: [String: StorageValue]
    /// The properties in the current attempt, each with its base. An insert has none: all values are new.
    public let sent: [String: StorageValue]
    /// The kind of the operation that the delete replaced.
    public let replaced: Kind?
    /// The reason for the failure, or for the unknown outcome.
    public let error: OperationError?
    /// The earliest time of the next automatic retry, or `nil` for any time.
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

    /// The operation's current version. A decision of the user refers to it.
    public var version: Version { Version(id: id, changedAt: changedAt) }

    /// An operation at the time that it was shown to the user. Each further change of its object makes another version.
    public struct Version: Hashable, Sendable {
        /// The operation's ID.
        public let id: ID
        /// The time of the object's last change, as ``PendingOperation/changedAt``. It differs between any two changes
        /// of an operation.
        public let changedAt: Date

        /// Creates a version from stored parts.
        ///
        /// - Parameters:
        ///   - id: The operation's ID.
        ///   - changedAt: The time of the last change that the operation contains.
        public init(id: ID, changedAt: Date) {
            self.id = id
            self.changedAt = changedAt
        }
    }

    /// A clock that steps back by less than this, in seconds, counts as not advancing. A change's time is then the
    /// previous change's time plus ``leastStep``, so that it is later in any case.
    static let clockStep = 0.001
    /// The step to the next change's time in that case, in seconds. A `Date` of this century resolves a tenth of it.
    static let leastStep = 0.000_001

    /// The names in Swift of the changed properties, sorted.
    public var changedProperties: [String] { base.keys.sorted() }
}

/// The reason for an operation's failure.
public struct OperationError: Hashable, Sendable {
    /// The server's status, if it sent one.
    public let status: Int?
    /// The server's message, or a description of the error, as one sentence.
    public let message: String
    /// The time of the failure by the local clock.
    public let at: Date
    /// The server's item, if the response contained it.
    public let serverItem: Data?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - status: The HTTP status, if there was a response.
    ///   - message: The reason, as a sentence for the user.
    ///   - at: The time of the failure, by the local clock.
    ///   - serverItem: The server's item as the response had it, if any.
    public init(status: Int? = nil, message: String, at: Date, serverItem: Data? = nil) {
        self.status = status
        self.message = message
        self.at = at
        self.serverItem = serverItem
    }
}

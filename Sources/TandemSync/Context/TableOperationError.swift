import Foundation
import Tandem

/// An operation that waits for the user.
///
/// Either the server refused it, or both sides have changed its object. In the second case, the policy or the app
/// leaves the decision to the user.
public struct TableOperationError: Error, Hashable, Sendable, Identifiable {
    /// The operation, with its table, object and kind. Its `error` has the reason of the failure.
    public let operation: PendingOperation
    /// The server's values of the object, by the properties' names in Swift, as they would be stored. References use
    /// server IDs. Empty if the server deleted the object; `nil` if its values are not known. For a typed object, see
    /// ``SyncContext/conflict(of:on:)``.
    public let serverValues: [String: StorageValue]?
    /// Whether the server has deleted the object.
    public let isDeletedOnServer: Bool

    /// The operation's ID in the queue.
    public var id: PendingOperation.ID { operation.id }
    /// The version of the operation. Pass it to ``SyncContext/keepMine(_:)`` and the other decisions.
    public var version: PendingOperation.Version { operation.version }
    /// The server's message, or a description of the failure, as one sentence.
    public var message: String { operation.error?.message ?? "" }
    /// The server's status, if it gave one.
    public var status: Int? { operation.error?.status }
    /// Whether both sides have changed the object. The user can then keep either side.
    public var isConflict: Bool { serverValues != nil }
}

extension TableOperationError: CustomStringConvertible {
    /// A text for logs and messages.
    public var description: String { "\(operation.kind) of \(operation.model) \(operation.localID): \(message)" }
}

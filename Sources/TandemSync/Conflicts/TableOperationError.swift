import Foundation
import Tandem

/// An operation that waits for the user: the server refused it, or both sides have changed its object and the conflict
/// policy, or the app, leaves the choice to the user.
public struct TableOperationError: Error, Hashable, Sendable, Identifiable {
    /// The operation: its table and its object, what was to be done, and in its `error` why it failed.
    public let operation: Tandem.Operation
    /// What the server holds of the object, by the properties' names in Swift, as it would be stored with references by
    /// server IDs; empty if it is deleted there, `nil` if nothing is known of it. As an object of the model:
    /// ``SyncContext/conflict(of:on:)``.
    public let serverValues: [String: StorageValue]?
    /// Whether the server has deleted the object.
    public let isDeletedOnServer: Bool

    public var id: Tandem.Operation.ID { operation.id }
    /// The operation as it is here: what ``SyncContext/keepMine(_:)`` and the other choices name.
    public var version: Tandem.Operation.Version { operation.version }
    /// What the server said, or what happened, in a sentence.
    public var message: String { operation.error?.message ?? "" }
    /// The server's status, if it gave one.
    public var status: Int? { operation.error?.status }
    /// Whether both sides have changed the object: then the user can keep the one or the other.
    public var isConflict: Bool { serverValues != nil }
}

extension TableOperationError: CustomStringConvertible {
    public var description: String { "\(operation.kind) of \(operation.model) \(operation.localID): \(message)" }
}

import Foundation
import Tandem

/// An operation that the app can check before it is sent.
public struct OutgoingOperation<M: Model>: Sendable {
    /// The operation's ID in the queue.
    public let id: PendingOperation.ID
    /// The kind of change.
    public let kind: PendingOperation.Kind
    /// The object, or the remaining values of a deleted one. Local-only properties have their defaults.
    public let object: M
    /// The changed properties, by their names in Swift; all properties of an insert.
    public let changed: Set<String>
    /// The number of earlier attempts.
    public let attempts: Int
}

/// The app's decision about an operation before it is sent.
public enum SendDecision<M: Model>: Sendable {
    /// Sends the operation unchanged.
    case send
    /// Writes the values that differ from the checked object, and sends them with the operation.
    ///
    /// Locally, this is a change of the app. A deleted object is deleted nevertheless.
    case sendChanged(M)
    /// Holds the operation back until it is retried: ``SyncContext/retry(_:)``.
    case hold
}

extension SyncTable {
    /// Sets a closure that checks each operation of the table before it is sent.
    ///
    /// For example:
    ///
    /// ```swift
    /// try sync.table(Card.self).setBeforeSend { operation in
    ///     operation.object.shop.isEmpty ? .hold : .send
    /// }
    /// ```
    ///
    /// If the object is edited during the check, the closure is called again, so that no unchecked value is sent. After
    /// three calls in a row, the operation waits for the next push. A closure that edits the object in each call
    /// therefore prevents the send. Return ``SendDecision/sendChanged(_:)`` instead.
    ///
    /// - Parameter check: The push calls this closure before each send, and waits for it. The closure may write to
    ///   other objects of the store, and must not begin a sync. If it throws, the operation waits for the next push.
    public func setBeforeSend(
        _ check: @escaping @Sendable (OutgoingOperation<M>) async throws -> SendDecision<M>
    ) {
        context.change(M.self) { settings in
            settings.beforeSend = { object in
                let operation = object.operation
                let shown = try ModelValues.object(
                    M.self, values: object.localValues(of: M.__definition), localID: operation.localID,
                    serverID: object.serverID, version: object.version, updatedAt: nil)
                let decision = try await check(
                    OutgoingOperation(
                        id: operation.id, kind: operation.kind, object: shown, changed: object.changed,
                        attempts: operation.attempts))
                switch decision {
                case .send: return .send
                case .sendChanged(let object): return .write(ModelValues.changes(of: object, from: shown))
                case .hold: return .hold
                }
            }
        }
    }
}

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
    /// Writes the values that differ from the checked object here, as a change of the app, and sends them with the
    /// operation. A deleted object is deleted nevertheless.
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

/// A ``SendDecision`` without its model's type.
enum SendVerdict: Sendable {
    case send
    /// The properties to write.
    case write([String: StorageValue])
    case hold
}

extension OutgoingObject {
    /// Returns the object's values with references by local IDs.
    func localValues(of model: ModelDefinition) -> [String: StorageValue] {
        var values = values
        for property in model.properties where property.kind.isReference && values[property.name] != nil {
            let ids = references.filter { $0.property == property.name }.map(\.localID)
            if case .references = property.kind {
                values[property.name] = ModelValues.list(ids)
            } else {
                values[property.name] = ids.first.map { .text($0.rawValue) } ?? .null
            }
        }
        return values
    }
}

extension ModelValues {
    /// Returns the values that differ from the checked object. Values that the app has not changed may have newer
    /// edits.
    static func changes<M: Model>(of object: M, from shown: M) -> [String: StorageValue] {
        let before = values(of: shown)
        return values(of: object).filter { before[$0] != $1 }
    }
}

extension PushRun {
    /// The maximum number of consecutive checks of an operation that is edited meanwhile.
    private static let checkLimit = 3

    /// Lets the app check an operation.
    func askApp(_ id: PendingOperation.ID) async throws -> Step {
        guard let table = state.withLock({ $0.queue[id]?.table }) else { return .skip }
        let settings = try context.settings(of: table)
        guard let check = settings.beforeSend else { return .prepare }
        state.withLock { $0.queue[id]?.checked = nil }
        for _ in 0..<Self.checkLimit {
            let next = try await askOnce(id, settings: settings, check: check)
            if case .check = next { continue }
            return next
        }
        // The last edit was not checked, and is not sent.
        return .end(.stillPending)
    }

    /// Lets the app check an operation. If the object was edited meanwhile, it must be checked again.
    private func askOnce(
        _ id: PendingOperation.ID, settings: TableSettings,
        check: @Sendable (OutgoingObject) async throws -> SendVerdict
    ) async throws -> Step {
        let (found, otherwise) = try await sendable(id, settings: settings)
        guard let object = found else { return otherwise }
        let verdict: SendVerdict
        do {
            verdict = try await check(object)
        } catch {
            if error is CancellationError, Task.isCancelled { throw error }
            return .end(try await leaveUnsent(id, error: hookError(error, settings: settings)))
        }
        let shown = object.localValues(of: settings.model)
        do {
            return try await store.write { store in
                guard let now = try store.outgoing(id) else { return .skip }
                if case .hold = verdict {
                    try store.hold(id)
                    return .end(.held)
                }
                // Values that the app has not checked are not sent.
                guard now.operation.kind == object.operation.kind, now.localValues(of: settings.model) == shown else {
                    return .check
                }
                switch verdict {
                case .send, .hold: self.recordChecked(now, model: settings.model)
                case .write(let values):
                    self.recordChecked(now, model: settings.model)
                    guard now.operation.kind != .delete, !values.isEmpty else { return .prepare }
                    try store.change(now.operation.localID, in: now.operation.table, to: values)
                    if let written = try store.outgoing(id) { self.recordChecked(written, model: settings.model) }
                }
                return .prepare
            }
        } catch let error as TandemError {
            guard case .write = verdict else { throw error }
            return .end(try await leaveUnsent(id, error: hookError(error, settings: settings)))
        }
    }

    /// Records the values that the app has checked. The app may edit them while it checks the rest of a batch.
    private func recordChecked(_ object: OutgoingObject, model: ModelDefinition) {
        // An operation that goes alone is sent at once.
        guard state.withLock({ ($0.batchLimit ?? 1) > 1 }) else { return }
        let (kind, values) = (object.operation.kind, object.localValues(of: model))
        state.withLock { $0.queue[object.operation.id]?.checked = (kind, values) }
    }

    /// Returns whether an object differs from the one that the app has checked.
    func isUnchecked(_ object: OutgoingObject) throws -> Bool {
        let operation = object.operation
        let checked = state.withLock { state in
            defer { state.queue[operation.id]?.checked = nil }
            return state.queue[operation.id]?.checked
        }
        guard let (kind, values) = checked else { return false }
        return try kind != operation.kind
            || values != object.localValues(of: context.settings(of: operation.table).model)
    }

    /// Returns the object of an operation if it can be sent now, otherwise the next step. A waiting operation is
    /// checked later.
    private func sendable(
        _ id: PendingOperation.ID, settings: TableSettings
    ) async throws -> (object: OutgoingObject?, otherwise: Step) {
        try await store.write { store in
            guard let object = try store.outgoing(id), try self.undecided(object, in: store) == nil,
                object.operation.state == .pending || object.operation.state == .attempted
            else { return (nil, .prepare) }
            switch try self.sendOrder(of: object, settings: settings, in: store).step {
            case nil: return (object, .prepare)
            case .wait?: return (nil, .wait)
            default: return (nil, .prepare)
            }
        }
    }

    private func hookError(_ error: any Error, settings: TableSettings) -> SyncError {
        SyncError(
            .hook, message: "The app's look at the operation failed: \(SyncError.words(of: error))",
            table: settings.model.wireName,
            underlying: error)
    }
}

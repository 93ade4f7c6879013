import Foundation
import Tandem

/// An operation that is about to be sent, as the app is shown it.
public struct OutgoingOperation<M: Model>: Sendable {
    /// Its place in the queue.
    public let id: Tandem.Operation.ID
    /// What is to be done on the server.
    public let kind: Tandem.Operation.Kind
    /// The object. Of one that is deleted what is left; properties that are never sent have their defaults.
    public let object: M
    /// The properties changed, by their names in Swift; of an insert all.
    public let changed: Set<String>
    /// How often it was sent before.
    public let attempts: Int
}

/// What the app says to an operation that is about to be sent.
public enum SendDecision<M: Model>: Sendable {
    /// It is sent as it is.
    case send
    /// The values that differ from what was shown are written here first, as a change of the app's, and sent with it. An
    /// object that was deleted is deleted all the same.
    case sendChanged(M)
    /// It is left unsent until it is retried: ``SyncContext/retry(_:)``.
    case hold
}

extension SyncTable {
    /// Has the app look at each operation of the table before it is sent.
    ///
    /// For example:
    ///
    /// ```swift
    /// try sync.table(Card.self).setBeforeSend { operation in
    ///     operation.object.shop.isEmpty ? .hold : .send
    /// }
    /// ```
    ///
    /// If the object is edited while the app looks, it is shown again, so that nothing is sent unseen: three times in a
    /// row, then the operation is left to the next push. A closure that edits the object itself each time it looks
    /// therefore never has it sent: it returns ``SendDecision/sendChanged(_:)`` instead.
    ///
    /// - Parameter look: Called in the push, which waits for it, each time before an operation is sent; it may write to
    ///   other objects of the store, and must not begin a sync. What it throws leaves the operation to the next push.
    public func setBeforeSend(
        _ look: @escaping @Sendable (OutgoingOperation<M>) async throws -> SendDecision<M>
    ) {
        context.change(M.self) { settings in
            settings.beforeSend = { object in
                let operation = object.operation
                let shown = try ModelValues.object(
                    M.self, object.localValues(of: M.__definition), localID: operation.localID,
                    serverID: object.serverID, version: object.version, updatedAt: nil)
                let decision = try await look(
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
    /// These properties are written.
    case write([String: StorageValue])
    case hold
}

extension OutgoingObject {
    /// The object's values with references by local IDs.
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
    /// The values that differ from those of an object as it was shown: what the app has left as it is may be something
    /// else by now.
    static func changes<M: Model>(of object: M, from shown: M) -> [String: StorageValue] {
        let before = values(of: shown)
        return values(of: object).filter { before[$0] != $1 }
    }
}

extension PushRun {
    /// How often an operation is shown to the app in a row, if it is edited meanwhile.
    private static let lookLimit = 3

    /// Shows an operation to the app. `nil` if it may go on.
    func askApp(_ id: Operation.ID) async throws -> Progress? {
        guard let table = state.withLock({ $0.queue[id]?.table }) else { return .gone }
        let settings = try context.settings(of: table)
        guard let look = settings.beforeSend else { return nil }
        for _ in 0..<Self.lookLimit {
            switch try await askOnce(id, settings, look) {
            case .mayGo: return nil
            case .ended(let progress): return progress
            case .edited: continue
            }
        }
        // Its last edit was not shown, and is not sent.
        return .over(.stillPending)
    }

    private enum Looked: Sendable {
        case mayGo
        case ended(Progress)
        /// What the app was shown was edited while it looked.
        case edited
    }

    private func askOnce(
        _ id: Operation.ID, _ settings: TableSettings,
        _ look: @Sendable (OutgoingObject) async throws -> SendVerdict
    ) async throws -> Looked {
        let object: OutgoingObject
        switch try await sendable(id, settings) {
        case .parked: return .ended(.parked)
        case .other: return .mayGo
        case .ready(let found): object = found
        }
        let verdict: SendVerdict
        do {
            verdict = try await look(object)
        } catch {
            if error is CancellationError, Task.isCancelled { throw error }
            return .ended(.over(try await leaveUnsent(id, hookError(error, settings))))
        }
        let shown = object.localValues(of: settings.model)
        do {
            return try await store.write { store in
                guard let now = try store.outgoing(id) else { return .ended(.gone) }
                if case .hold = verdict {
                    try store.hold(id)
                    return .ended(.over(.held))
                }
                // Nothing is sent that the app has not seen.
                guard now.operation.kind == object.operation.kind, now.localValues(of: settings.model) == shown else {
                    return .edited
                }
                switch verdict {
                case .send, .hold: return .mayGo
                case .write(let values):
                    guard now.operation.kind != .delete, !values.isEmpty else { return .mayGo }
                    try store.change(now.operation.localID, in: now.operation.table, to: values)
                    return .mayGo
                }
            }
        } catch let error as TandemError {
            guard case .write = verdict else { throw error }
            return .ended(.over(try await leaveUnsent(id, hookError(error, settings))))
        }
    }

    private enum Look: Sendable {
        case ready(OutgoingObject)
        case parked
        /// It is not sent now.
        case other
    }

    /// The object of an operation if it would be sent now: what has to wait is shown when its turn has come.
    private func sendable(_ id: Operation.ID, _ settings: TableSettings) async throws -> Look {
        try await store.write { store in
            guard let object = try store.outgoing(id), try self.unmet(object, store) == nil,
                object.operation.state == .pending || object.operation.state == .attempted
            else { return .other }
            switch try self.place(of: object, settings, store) {
            case .free: return .ready(object)
            case .parked: return .parked
            case .waiting: return .other
            }
        }
    }

    private func hookError(_ error: any Error, _ settings: TableSettings) -> SyncError {
        SyncError(
            .hook, "The app's look at the operation failed: \(SyncError.words(of: error))",
            table: settings.model.wireName,
            underlying: error)
    }
}

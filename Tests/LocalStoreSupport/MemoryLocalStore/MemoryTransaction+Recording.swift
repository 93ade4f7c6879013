import Foundation
import Tandem

// The effect of the app's changes on operations. Each object has at most one operation.

extension MemoryTransaction {
    func recordInsert(_ object: MemoryObject) { queue(.insert, object, [:]) }

    private func queue(_ kind: PendingOperation.Kind, _ object: MemoryObject, _ changes: [String: StorageValue]) {
        state.queue(kind, object, changes, at: now)
        touched.insert(object.table)
    }

    /// Queues an update, or merges it into the existing operation.
    ///
    /// - Parameter bases: The changed properties, each with its previous value.
    func recordUpdate(_ object: MemoryObject, _ bases: [String: StorageValue]) {
        guard var operation = state.operation(of: object) else {
            // An object without a server ID whose operation is lost is new to the server.
            let isNew = object.serverID == nil
            return queue(isNew ? .insert : .update, object, isNew ? [:] : bases)
        }
        // A new object is sent whole, so its changes are only recorded during an attempt.
        if operation.kind == .update || operation.sent != nil { operation.changes.merge(bases) { old, _ in old } }
        save(operation)
    }

    /// Queues a delete.
    ///
    /// - Returns: Whether the object must stay hidden until the server has acknowledged the delete.
    func recordDelete(_ object: MemoryObject) -> Bool {
        guard var operation = state.operation(of: object) else {
            guard object.serverID != nil else { return false }
            queue(.delete, object, [:])
            return true
        }
        if operation.kind == .insert && operation.attemptedKinds.isEmpty {
            drop(operation)
            return false
        }
        operation.replaced = operation.kind
        operation.kind = .delete
        save(operation)
        return true
    }

    /// Undoes a delete.
    func recordUndelete(_ object: MemoryObject, _ model: MemoryModel) {
        guard var operation = state.operation(of: object), operation.kind == .delete else { return }
        if let replaced = operation.replaced {
            operation.kind = replaced
            operation.replaced = nil
        } else if operation.attemptedKinds.isEmpty {
            return drop(operation)
        } else {
            // The delete was sent, and may have been carried out. The whole object is sent again.
            operation.kind = .update
            operation.changes.merge(allBases(of: object, model)) { old, _ in old }
        }
        save(operation)
    }

    /// Returns all exchanged properties, with their values as bases.
    func allBases(of object: MemoryObject, _ model: MemoryModel) -> [String: StorageValue] {
        let whole = object.whole(model)
        return Dictionary(uniqueKeysWithValues: model.sent.map { ($0.property.name, whole[$0.place]) })
    }

    /// Stores an operation after a change by the app. It becomes pending, and its failure is cleared.
    private func save(_ operation: MemoryOperation) {
        var operation = operation
        if operation.state == .failed {
            operation.state = .pending
            operation.error = nil
        }
        operation.changedAt = Self.timeOfChange(after: operation.changedAt, at: now)
        put(operation)
    }

    /// Returns the time for a change that follows another change of the same operation. It is the clock's time, but
    /// always later than the previous change, even if the clock does not advance.
    private static func timeOfChange(after last: Date, at now: Date) -> Date {
        let ahead = last.timeIntervalSince(now)
        return ahead >= 0 && ahead < 0.001 ? last + 0.000_001 : now
    }
}

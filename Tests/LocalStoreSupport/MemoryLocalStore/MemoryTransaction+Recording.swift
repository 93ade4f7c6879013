import Foundation
import Tandem

// What a change of the app's makes of the operation that is there. One operation for each object.

extension MemoryTransaction {
    func recordInsert(_ object: MemoryObject) { queue(.insert, object, [:]) }

    private func queue(_ kind: Operation.Kind, _ object: MemoryObject, _ changes: [String: StorageValue]) {
        state.queue(kind, object, changes, at: now)
        touched.insert(object.table)
    }

    /// Queues an update, or joins it to the operation that is there.
    ///
    /// - Parameter bases: What changed, each with what it was before.
    func recordUpdate(_ object: MemoryObject, _ bases: [String: StorageValue]) {
        guard var operation = state.operation(of: object) else {
            // One that the server never had, and whose operation is lost, is new there.
            let isNew = object.serverID == nil
            return queue(isNew ? .insert : .update, object, isNew ? [:] : bases)
        }
        // What is new is sent whole, so that nothing need be remembered of it until it is under way.
        if operation.kind == .update || operation.sent != nil { operation.changes.merge(bases) { old, _ in old } }
        save(operation)
    }

    /// Queues a delete.
    ///
    /// - Returns: Whether the object must stay, hidden, until the server has acknowledged it.
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

    /// Takes a delete back.
    func recordUndelete(_ object: MemoryObject, _ model: MemoryModel) {
        guard var operation = state.operation(of: object), operation.kind == .delete else { return }
        if let replaced = operation.replaced {
            operation.kind = replaced
            operation.replaced = nil
        } else if operation.attemptedKinds.isEmpty {
            return drop(operation)
        } else {
            // The delete was sent, and the server may have carried it out: everything is sent again.
            operation.kind = .update
            operation.changes.merge(allBases(of: object, model)) { old, _ in old }
        }
        save(operation)
    }

    /// All properties that are sent, with their values as bases.
    func allBases(of object: MemoryObject, _ model: MemoryModel) -> [String: StorageValue] {
        let whole = object.whole(model)
        return Dictionary(uniqueKeysWithValues: model.sent.map { ($0.property.name, whole[$0.place]) })
    }

    /// After a change of the app's an operation waits to be sent, and what it failed of is over.
    private func save(_ operation: MemoryOperation) {
        var operation = operation
        if operation.state == .failed {
            operation.state = .pending
            operation.error = nil
        }
        operation.changedAt = Operation.timeOfChange(after: operation.changedAt, at: now)
        put(operation)
    }
}

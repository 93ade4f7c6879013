import Foundation
import Tandem
import TandemSync

extension MemoryTransaction {
    func beginAttempt(
        _ outgoing: OutgoingObject, leavingOut: Set<String>, rounding: WireRounding
    ) throws -> PendingOperation {
        let id = outgoing.operation.id
        return try together {
            let (found, object, model) = try storedOperation(id)
            var operation = found
            guard operation.state != .held else {
                throw TandemError(.staleOperation, message: "The operation \(id) is held.", advice: "Release it first.")
            }
            let isInsert = operation.kind == .insert
            // The changes of an attempt with a lost response are sent again.
            var sent = isInsert ? [:] : operation.bases
            if isInsert {
                // Values omitted from an attempt without response may be empty on the server.
                for (name, value) in operation.changes where operation.sent?[name] != nil {
                    if value == .null || value == .references([]) { operation.attempted.record(value, of: name) }
                }
            }
            // An earlier attempt was not reported as failed, so its outcome is unknown.
            operation.attempted.markMayHaveExecuted()
            let left = isInsert ? emptyReferences(leavingOut, model) : [:]
            // A delete includes the values that a lost insert may create on the server.
            let isOfLost = operation.kind == .delete && object.serverID == nil
            if operation.kind != .delete || isOfLost {
                let whole = object.whole(model)
                for (place, property) in model.sent {
                    if left[property.name] != nil {
                        sent[property.name] = whole[place]
                    } else if isInsert || isOfLost || sent[property.name] != nil {
                        let form = wire(whole[place], at: place, model)
                        do {
                            operation.attempted.record(try rounding(property, form), of: property.name)
                        } catch  where isOfLost {
                            // Values that can't be encoded do not prevent the delete, which is then sent without
                            // values.
                        }
                    }
                }
            }
            operation.state = .attempted
            operation.attempts += 1
            (operation.sent, operation.sentKind, operation.changes) = (sent, operation.kind, left)
            operation.kindsBefore = operation.attemptedKinds
            operation.attemptedKinds.insert(AttemptedKinds(operation.kind))
            (operation.retryAt, operation.error) = (nil, nil)
            put(operation)
            return operation.described(model)
        }
    }

    /// Returns the references that an insert omits, with the values that the server will have.
    private func emptyReferences(_ names: Set<String>, _ model: MemoryModel) -> [String: StorageValue] {
        var empty: [String: StorageValue] = [:]
        for link in model.links {
            let property = model.properties[link.place]
            guard names.contains(property.name), !property.isLocalOnly else { continue }
            empty[property.name] = link.isToMany ? .references([]) : .null
        }
        return empty
    }

    // MARK: Failures

    func fail(_ id: PendingOperation.ID, with error: OperationError, retry: Bool) throws {
        try checkUsable()
        let (found, object, model) = try storedOperation(id)
        var operation = found
        putBack(&operation, as: stateAfterFailing(operation, object, model, retry: retry))
        operation.error = error
        put(operation)
    }

    func fail(
        _ id: PendingOperation.ID, attempt: Int, with error: OperationError, retry: Bool, retryAt: Date?
    ) throws -> Bool {
        try checkUsable()
        return try undoAttempt(id, attempt: attempt, retry: retry) { operation in
            (operation.error, operation.retryAt) = (error, retry ? retryAt : nil)
        }
    }

    func withdraw(
        _ id: PendingOperation.ID, attempt: Int, restoring error: OperationError?, retryAt: Date?
    ) throws -> Bool {
        try checkUsable()
        return try undoAttempt(id, attempt: attempt, retry: true) { operation in
            operation.attempts -= 1
            (operation.error, operation.retryAt) = (error, retryAt)
        }
    }

    /// Undoes the effects of an attempt that was not carried out, and changes the operation if it is still there.
    ///
    /// - Returns: `false`, without a change, if the attempt is no longer the current one.
    private func undoAttempt(
        _ id: PendingOperation.ID, attempt: Int, retry: Bool, _ change: (inout MemoryOperation) -> Void
    ) throws -> Bool {
        guard let (found, object, model) = try underWay(id, attempt: attempt) else { return false }
        var operation = found
        let next = stateAfterFailing(operation, object, model, retry: retry)
        operation.attemptedKinds = operation.kindsBefore
        // Removes an object that was never sent to the server and was deleted during the attempt.
        if operation.replaced == .insert, operation.attemptedKinds.isEmpty, object.serverID == nil {
            drop(operation)
            erase(object)
            return true
        }
        putBack(&operation, as: next)
        operation.attempted.forgetCurrent()
        change(&operation)
        put(operation)
        return true
    }

    func markOutcomeUnknown(
        _ id: PendingOperation.ID, attempt: Int, error: OperationError, retryAt: Date?
    ) throws -> Bool {
        try checkUsable()
        guard var operation = try underWay(id, attempt: attempt)?.operation else { return false }
        // From now on, no response can report that the attempt was not carried out.
        operation.attempted.markMayHaveExecuted()
        operation.kindsBefore = operation.attemptedKinds
        operation.error = error
        operation.retryAt = retryAt
        put(operation)
        return true
    }

    /// Returns the state of an operation after an attempt that was not carried out. Changes during the attempt were not
    /// refused.
    private func stateAfterFailing(
        _ operation: MemoryOperation, _ object: MemoryObject, _ model: MemoryModel, retry: Bool
    ) -> PendingOperation.State {
        if operation.state == .held { return .held }
        if retry { return .pending }
        guard operation.sent != nil else { return .failed }
        return operation.sentKind != operation.kind || hasNewChanges(operation, object, model) ? .pending : .failed
    }

    /// Returns whether something changed during an attempt. A reference omitted from an insert counts only if its value
    /// differs.
    private func hasNewChanges(_ operation: MemoryOperation, _ object: MemoryObject, _ model: MemoryModel) -> Bool {
        guard operation.sentKind == .insert, let left = operation.sent else { return !operation.changes.isEmpty }
        let whole = named(object.whole(model), model)
        return operation.changes.keys.contains { left[$0] == nil || left[$0] != whole[$0] }
    }

    /// Ends an attempt that was not carried out. Its changes become pending again.
    private func putBack(_ operation: inout MemoryOperation, as next: PendingOperation.State) {
        operation.state = next
        // A new object is sent whole, so its changes need no record.
        operation.changes = operation.isWhole ? [:] : operation.bases
        (operation.sent, operation.sentKind, operation.retryAt) = (nil, nil, nil)
        operation.kindsBefore = []
    }

    // MARK: User decisions

    func hold(_ id: PendingOperation.ID) throws {
        try checkUsable()
        var operation = try storedOperation(id).operation
        (operation.state, operation.retryAt) = (.held, nil)
        put(operation)
    }

    func release(_ id: PendingOperation.ID) throws {
        try checkUsable()
        var operation = try storedOperation(id).operation
        guard operation.state == .failed || operation.state == .held else { return }
        // An attempt that was in flight when the operation was held may still have been carried out.
        operation.state = operation.sent == nil ? .pending : .attempted
        (operation.retryAt, operation.error) = (nil, nil)
        put(operation)
    }
}

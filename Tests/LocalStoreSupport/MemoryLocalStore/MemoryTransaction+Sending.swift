import Foundation
import Tandem
import TandemSync

extension MemoryTransaction {
    func beginAttempt(_ id: Operation.ID, leavingOut: Set<String>, rounding: WireRounding) throws -> Operation {
        try together {
            let (found, object, model) = try stored(id)
            var operation = found
            guard operation.state != .held else {
                throw TandemError(.staleOperation, "The operation \(id) is held.", advice: "Release it first.")
            }
            let isInsert = operation.kind == .insert
            // What an attempt whose answer was lost had taken along is taken along again.
            var sent = isInsert ? [:] : operation.bases
            if isInsert {
                // What an attempt without an answer has left out may be there without it.
                for (name, value) in operation.changes where operation.sent?[name] != nil {
                    if value == .null || value == .references([]) { operation.attempted.note(value, of: name) }
                }
            }
            // Whatever became of an earlier one, it was not said to have failed.
            operation.attempted.settle()
            let left = isInsert ? emptyReferences(leavingOut, model) : [:]
            // What an insert may make whose answer was lost is deleted by sending that once more.
            let isOfLost = operation.kind == .delete && object.serverID == nil
            if operation.kind != .delete || isOfLost {
                let whole = object.whole(model)
                for (place, property) in model.sent {
                    if left[property.name] != nil {
                        sent[property.name] = whole[place]
                    } else if isInsert || isOfLost || sent[property.name] != nil {
                        let form = wire(whole[place], at: place, model)
                        do {
                            operation.attempted.note(try rounding(property, form), of: property.name)
                        } catch  where isOfLost {
                            // What can't be sent keeps no delete back: that goes without values then.
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

    /// References that an insert leaves out, with what the server will hold of them.
    private func emptyReferences(_ names: Set<String>, _ model: MemoryModel) -> [String: StorageValue] {
        var empty: [String: StorageValue] = [:]
        for link in model.links {
            let property = model.properties[link.place]
            guard names.contains(property.name), !property.isLocalOnly else { continue }
            empty[property.name] = link.isToMany ? .references([]) : .null
        }
        return empty
    }

    // MARK: Failing

    func fail(_ id: Operation.ID, _ error: OperationError, retry: Bool) throws {
        try checkUsable()
        let (found, object, model) = try stored(id)
        var operation = found
        putBack(&operation, as: stateAfterFailing(operation, object, model, retry: retry))
        operation.error = error
        put(operation)
    }

    func fail(
        _ id: Operation.ID, attempt: Int, _ error: OperationError, retry: Bool, retryAt: Date?
    ) throws -> Bool {
        try checkUsable()
        guard let (found, object, model) = try underWay(id, attempt: attempt) else { return false }
        var operation = found
        let next = stateAfterFailing(operation, object, model, retry: retry)
        operation.attemptedKinds = operation.kindsBefore
        // What the server has then never been sent, and was deleted meanwhile, is gone.
        if operation.replaced == .insert, operation.attemptedKinds.isEmpty, object.serverID == nil {
            drop(operation)
            erase(object)
            return true
        }
        putBack(&operation, as: next)
        operation.attempted.forgetCurrent()
        operation.error = error
        operation.retryAt = retry ? retryAt : nil
        put(operation)
        return true
    }

    func leaveUncertain(_ id: Operation.ID, attempt: Int, _ error: OperationError, retryAt: Date?) throws -> Bool {
        try checkUsable()
        guard var operation = try underWay(id, attempt: attempt)?.operation else { return false }
        // From now on nobody can say that it was not carried out.
        operation.attempted.settle()
        operation.kindsBefore = operation.attemptedKinds
        operation.error = error
        operation.retryAt = retryAt
        put(operation)
        return true
    }

    /// What an operation is in after an attempt that was not carried out. A change made meanwhile was not refused.
    private func stateAfterFailing(
        _ operation: MemoryOperation, _ object: MemoryObject, _ model: MemoryModel, retry: Bool
    ) -> Operation.State {
        if operation.state == .held { return .held }
        if retry { return .pending }
        guard operation.sent != nil else { return .failed }
        return operation.sentKind != operation.kind || hasNewChanges(operation, object, model) ? .pending : .failed
    }

    /// Whether something was changed while an attempt was under way. What an insert has left out was not, if it is as it
    /// was then.
    private func hasNewChanges(_ operation: MemoryOperation, _ object: MemoryObject, _ model: MemoryModel) -> Bool {
        guard operation.sentKind == .insert, let left = operation.sent else { return !operation.changes.isEmpty }
        let whole = named(object.whole(model), model)
        return operation.changes.keys.contains { left[$0] == nil || left[$0] != whole[$0] }
    }

    /// Ends an attempt that was not carried out: what it had taken along is to be sent again.
    private func putBack(_ operation: inout MemoryOperation, as next: Operation.State) {
        operation.state = next
        // What is new is sent whole, whatever has changed of it meanwhile.
        operation.changes = operation.isWhole ? [:] : operation.bases
        (operation.sent, operation.sentKind, operation.retryAt) = (nil, nil, nil)
        operation.kindsBefore = []
    }

    // MARK: The user's

    func hold(_ id: Operation.ID) throws {
        try checkUsable()
        var operation = try stored(id).operation
        (operation.state, operation.retryAt) = (.held, nil)
        put(operation)
    }

    func release(_ id: Operation.ID) throws {
        try checkUsable()
        var operation = try stored(id).operation
        guard operation.state == .failed || operation.state == .held else { return }
        // An attempt that was under way when it was held is still one that the server may have carried out.
        operation.state = operation.sent == nil ? .pending : .attempted
        (operation.retryAt, operation.error) = (nil, nil)
        put(operation)
    }
}

@testable import Tandem

extension StoreOracle {
    mutating func begin(_ id: ID) throws {
        guard var op = objects[id]?.op else { return }
        if op.state == .held { throw Refusal(.staleOperation) }
        op.sent = op.kind == .insert ? [:] : op.bases
        op.changes = [:]
        op.state = .attempted
        op.attempts += 1
        op.sentKind = op.kind
        objects[id]!.op = op
        noteAttempt(of: id)
    }

    mutating func acknowledge(_ id: ID) throws {
        guard let op = objects[id]?.op, op.sent != nil else { throw Refusal(.staleOperation) }
        if op.sentKind == .delete {
            acknowledgeDelete(id, op)
            return
        }
        complete(id, op)
        if kept[id]?.isDeleted == true { kept[id] = nil }
    }

    mutating func acknowledgeDelete(_ id: ID, _ op: Op) {
        if op.kind == .delete {
            kept[id] = nil
            erase(id)
        } else {
            objects[id]!.op = Op(kind: .insert, state: op.stateAfterResponse, attempts: op.attempts, queued: op.queued)
            objects[id]!.hasServerID = false
        }
    }

    mutating func complete(_ id: ID, _ op: Op) {
        var op = op
        let isNew = !objects[id]!.hasServerID
        objects[id]!.hasServerID = true
        if op.kind == op.sentKind && op.changes.isEmpty {
            objects[id]!.op = nil
        } else {
            op.replaced = op.kind == .delete && !op.changes.isEmpty ? .update : nil
            op.kind = op.kind == .delete ? .delete : .update
            objects[id]!.op = Op(
                kind: op.kind, state: op.stateAfterResponse, attempts: op.attempts, changes: op.changes,
                replaced: op.replaced, queued: op.queued)
        }
        if isNew && !objects[id]!.isDeleted { arrive(id) }
    }

    mutating func fail(_ id: ID, retry: Bool) {
        guard var op = objects[id]?.op else { return }
        let isHeld = op.state == .held
        let isOvertaken = op.sent != nil && (!op.changes.isEmpty || op.sentKind != op.kind)
        op.changes = op.kind == .insert || op.replaced == .insert ? [:] : op.bases
        (op.state, op.sent, op.sentKind) = (isHeld ? .held : retry || isOvertaken ? .pending : .failed, nil, nil)
        op.before = []
        op.hasError = true
        objects[id]!.op = op
    }

    /// Removes an attempt as if it had never been made.
    mutating func failAttempt(_ id: ID, retry: Bool) {
        guard var op = objects[id]?.op, op.sent != nil else { return }
        (op.kinds, op.current) = (op.before, [:])
        objects[id]!.op = op
        if op.replaced == .insert, op.kinds.isEmpty, !objects[id]!.hasServerID { return erase(id) }
        fail(id, retry: retry)
    }
}

extension StoreOracle.Op {
    var bases: [String: StorageValue] {
        ((sentKind == .insert ? nil : sent) ?? [:]).merging(changes) { first, _ in first }
    }

    var stateAfterResponse: PendingOperation.State { state == .held && sent != nil ? .held : .pending }
}

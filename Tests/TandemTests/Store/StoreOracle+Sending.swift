@testable import Tandem

extension StoreOracle {
    mutating func begin(_ id: ID) throws {
        guard var op = objects[id]?.op else { return }
        if op.state == .held { throw Refusal(.staleOperation) }
        op.sent = (op.sent ?? [:]).merging(op.changes) { first, _ in first }
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
        settle(id, op)
        if kept[id]?.isDeleted == true { kept[id] = nil }
    }

    mutating func acknowledgeDelete(_ id: ID, _ op: Op) {
        if op.kind == .delete {
            kept[id] = nil
            erase(id)
        } else {
            objects[id]!.op = Op(kind: .insert, attempts: op.attempts, queued: op.queued)
            objects[id]!.hasServerID = false
        }
    }

    mutating func settle(_ id: ID, _ op: Op) {
        var op = op
        let isNew = !objects[id]!.hasServerID
        objects[id]!.hasServerID = true
        if op.kind == op.sentKind && op.changes.isEmpty {
            objects[id]!.op = nil
        } else {
            op.replaced = op.kind == .delete && !op.changes.isEmpty ? .update : nil
            op.kind = op.kind == .delete ? .delete : .update
            (op.state, op.sent, op.sentKind, op.kinds, op.attempted) = (.pending, nil, nil, [], [:])
            op.hasError = false
            objects[id]!.op = op
        }
        if isNew && !objects[id]!.isDeleted { arrive(id) }
    }

    mutating func fail(_ id: ID, retry: Bool) {
        guard var op = objects[id]?.op else { return }
        let isHeld = op.state == .held
        let isOvertaken = op.sent != nil && (!op.changes.isEmpty || op.sentKind != op.kind)
        op.changes = (op.sent ?? [:]).merging(op.changes) { first, _ in first }
        if op.kind == .insert || op.replaced == .insert { op.changes = [:] }
        (op.state, op.sent, op.sentKind) = (isHeld ? .held : retry || isOvertaken ? .pending : .failed, nil, nil)
        op.hasError = true
        objects[id]!.op = op
    }
}

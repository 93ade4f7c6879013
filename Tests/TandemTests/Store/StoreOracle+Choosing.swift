@testable import Tandem

/// Decisions of the user or of a policy about an operation.
extension StoreOracle {
    mutating func hold(_ id: ID) { objects[id]?.op?.state = .held }

    mutating func release(_ id: ID) {
        guard let op = objects[id]?.op, op.state == .failed || op.state == .held else { return }
        objects[id]!.op!.state = op.sent == nil ? .pending : .attempted
        objects[id]!.op!.hasError = false
    }

    mutating func discard(_ id: ID) throws {
        guard let object = objects[id], let op = object.op else { return }
        guard object.hasServerID else {
            if !op.kinds.isEmpty && op.state != .failed {
                release(id)
                return try delete(id)
            }
            if object.isDeleted { return erase(id) }
            objects[id]!.op = Op(kind: .insert, queued: op.queued)
            return try delete(id)
        }
        if kept[id]?.isDeleted == true { return goAsServerSays(id) }
        let bases = op.bases
        objects[id]!.op = nil
        var node = Node(localID: id)
        node.setValues(bases)
        try change(id, node, only: Set(bases.keys), keeps: false, isServer: true)
        if object.isDeleted { try show(id) }
    }

    mutating func rebase(_ id: ID, onto node: Node?, _ servers: Set<String>) throws -> RebaseOutcome? {
        guard let object = objects[id], let op = object.op else { return nil }
        let old = op.bases
        let isNew = !object.hasServerID
        kept[id] = nil
        guard let node else {
            if op.kind == .delete {
                erase(id)
                return .adopted
            }
            restart(id, .update, old.merging(wholeValues(object)) { first, _ in first }, [.delete])
            become(id, isNew)
            kept[id] = Deferred(reason: .pending, hasObject: true, isDeleted: true)
            return .pending
        }
        let values = Self.values(node)
        let here = wholeValues(object)
        let isInsert = op.kind == .insert || op.replaced == .insert
        let changed = values.filter { name, value in
            let isChanged =
                old[name].map { old in
                    let sent = (op.attempted[name] ?? []) + (op.current[name].map { [$0] } ?? [])
                    return old != here[name] || sent.contains { $0 != here[name] }
                } ?? false
            return (isInsert || isChanged) && here[name] != value
        }
        if op.kind == .delete {
            // Changes made before the delete return with the object.
            let mine = op.replaced == nil ? [:] : changed
            try change(id, node, only: Set(values.keys).subtracting(mine.keys), keeps: false, isServer: true)
            restart(id, .delete, mine, [])
            if !mine.isEmpty { objects[id]!.op?.replaced = .update }
            objects[id]!.hasServerID = true
            return .pending
        }
        let mine = changed.filter { !servers.contains($0.key) }
        try change(id, node, only: Set(values.keys).subtracting(mine.keys), keeps: false, isServer: true)
        if mine.isEmpty { objects[id]!.op = nil } else { restart(id, .update, mine, []) }
        become(id, isNew)
        return mine.isEmpty ? .adopted : .pending
    }

    private mutating func become(_ id: ID, _ isNew: Bool) {
        objects[id]!.hasServerID = true
        if isNew { arrive(id) }
    }

    private mutating func restart(
        _ id: ID, _ kind: PendingOperation.Kind, _ changes: [String: StorageValue], _ kinds: Set<PendingOperation.Kind>
    ) {
        guard let op = objects[id]!.op else { return }
        objects[id]!.op = Op(
            kind: kind, state: op.stateAfterResponse, attempts: op.attempts, changes: changes, kinds: kinds,
            queued: op.queued)
    }
}

extension Node {
    /// Sets properties from their stored values.
    fileprivate mutating func setValues(_ values: [String: StorageValue]) {
        func text(_ name: String) -> String? { if case .text(let text)? = values[name] { text } else { nil } }
        func reference(_ name: String) -> Reference<Node>? { text(name).map { Reference(localID: LocalID($0)) } }
        func list(_ name: String) -> [Reference<Node>] {
            ((try? LinkList.parse(text(name) ?? "[]")) ?? []).map { Reference(localID: $0) }
        }
        (name, code) = (text("name"), text("code"))
        if case .integer(let number)? = values["count"] { count = Int(number) }
        (next, parent, keeper) = (reference("next"), reference("parent"), reference("keeper"))
        (friends, owners, anchors) = (list("friends"), list("owners"), list("anchors"))
    }
}

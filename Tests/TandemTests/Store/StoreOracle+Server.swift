@testable import Tandem

/// The effects of synchronization on a store: attempts, responses with values, items of a server.
extension StoreOracle {
    /// A server's item that was set aside.
    struct Deferred: Equatable {
        var reason: DeferredItem.Reason
        var hasObject: Bool
        var isDeleted: Bool
    }

    /// Returns a node's values as a server sends them.
    static func values(_ node: Node) -> [String: StorageValue] {
        var values: [String: StorageValue] = [
            "name": node.name.map { .text($0) } ?? .null, "code": node.code.map { .text($0) } ?? .null,
            "code1": .integer(0), "code2": .null, "count": .integer(Int64(node.count)),
        ]
        for link in toOne { values[link] = node.ids(link).first.map { .text($0.rawValue) } ?? .null }
        for link in toMany { values[link] = .text(LinkList.text(node.ids(link))) }
        return values
    }

    /// Returns the values of an object as it would be sent.
    func wholeValues(_ object: Object) -> [String: StorageValue] {
        var values: [String: StorageValue] = [
            "name": object.name.map { .text($0) } ?? .null, "code": object.code.map { .text($0) } ?? .null,
            "code1": .integer(0), "code2": .null, "count": .integer(Int64(object.count)),
        ]
        for (name, link) in object.links { values[name] = whole(name, link) }
        return values
    }

    mutating func noteAttempt(of id: ID) {
        guard let object = objects[id], var op = object.op else { return }
        op.before = op.kinds
        op.kinds.insert(op.kind)
        op.hasError = false
        op.recordAttemptedValues()
        // A delete is sent once more for the object that a lost insert may create.
        let isOfLost = op.kind == .delete && !object.hasServerID
        let isWhole = op.kind == .insert || isOfLost
        if isWhole || op.kind != .delete {
            op.current = wholeValues(object).filter { isWhole || op.sent?[$0.key] != nil }
        }
        objects[id]!.op = op
    }

    mutating func markOutcomeUnknown(_ id: ID) {
        guard var op = objects[id]?.op, op.sent != nil else { return }
        op.hasError = true
        op.before = op.kinds
        op.recordAttemptedValues()
        objects[id]!.op = op
    }

    mutating func acknowledge(_ id: ID, _ attempt: Int, with node: Node) -> ResponseOutcome {
        guard var op = objects[id]?.op, op.sent != nil, op.attempts == attempt else { return .stale }
        if op.sentKind == .delete {
            acknowledgeDelete(id, op)
            return op.kind == .delete ? .done : .stillPending
        }
        let here = wholeValues(objects[id]!)
        var changes = op.changes
        for (name, value) in Self.values(node) where changes[name] != nil {
            changes[name] = value == here[name] ? nil : value
        }
        do {
            try change(
                id, node, only: Set(here.keys).subtracting(changes.keys), keeps: false, isServer: true)
            op.changes = changes
            kept[id] = nil
        } catch {
            kept[id] = Deferred(reason: .refused, hasObject: true, isDeleted: false)
            complete(id, op)
            return .refusedHere
        }
        complete(id, op)
        return objects[id]!.op == nil ? .done : .stillPending
    }

    /// Receives a server's item.
    mutating func take(_ node: Node, _ isDeleted: Bool) {
        let id = node.localID
        guard let there = objects[id], there.hasServerID || there.op != nil else {
            kept[id] = nil
            if isDeleted { return }
            guard !hasClash(node.code, id) else {
                kept[id] = Deferred(reason: .refused, hasObject: false, isDeleted: false)
                return
            }
            var node = node
            node.note = ""
            add(node, nil)
            objects[id]!.hasServerID = true
            return
        }
        if there.op != nil {
            kept[id] = Deferred(reason: .pending, hasObject: true, isDeleted: isDeleted)
            return
        }
        if isDeleted { return goAsServerSays(id) }
        do {
            try change(id, node, only: nil, keeps: false, isServer: true)
            kept[id] = nil
        } catch {
            kept[id] = Deferred(reason: .refused, hasObject: true, isDeleted: false)
        }
    }

    mutating func goAsServerSays(_ id: ID) {
        kept[id] = nil
        erase(id)
        for key in Array(objects.keys) where !objects[key]!.isDeleted {
            for name in Self.links { objects[key]!.links[name]!.detach { $0 == id } }
        }
    }

    /// Erases a row. A server's item that was kept for it becomes a candidate for a new object.
    mutating func erase(_ id: ID) {
        objects[id] = nil
        guard kept[id]?.hasObject == true else { return }
        if kept[id]!.isDeleted { kept[id] = nil } else { kept[id]!.hasObject = false }
    }
}

extension StoreOracle.Op {
    /// Records that the values of the attempt in flight may have arrived.
    mutating func recordAttemptedValues() {
        for (name, value) in current {
            let sent = attempted[name, default: []].filter { $0 != value } + [value]
            attempted[name] = sent.suffix(AttemptedValues.limit)
        }
        current = [:]
    }
}

import Tandem
import TandemSync

extension MemoryTransaction {
    func sides(of id: Operation.ID, against item: ServerItem, rounding: WireRounding) throws -> ConflictSides {
        try checkUsable()
        let (operation, object, model) = try stored(id)
        let here = object.whole(model)
        var (base, local, server): ([String: StorageValue], [String: StorageValue], [String: StorageValue])
        (base, local, server) = ([:], [:], [:])
        var (changedHere, changedThere): (Set<String>, Set<String>) = ([], [])
        for (place, property) in model.sent {
            let name = property.name
            local[name] = here[place]
            let old = operation.base(of: name)
            base[name] = operation.isWhole ? nil : old
            // Over a tombstone all that the operation names is to be sent again.
            guard !item.isDeleted else {
                if operation.isWhole || old != nil { changedHere.insert(name) }
                continue
            }
            // What is again as it was before the change, and was never sent, is no change any more.
            let isChanged =
                operation.isWhole
                || old.map {
                    operation.attempted.names(name)
                        || $0 != here[place] && self.local($0, at: place, model) != here[place]
                } ?? false
            guard let value = item.values[name] else {
                if isChanged { changedHere.insert(name) }
                continue
            }
            let there = self.local(value, at: place, model)
            server[name] = there
            // What the wire has no form for is surely not there: it is to be refused when it is sent, and not here.
            let isHeldThere =
                there == here[place] || (try? rounding(property, wire(here[place], at: place, model))) == value
            if isChanged && !isHeldThere { changedHere.insert(name) }
            let isOurs =
                isHeldThere || operation.attempted.contains(value, of: name)
                || (old.map { $0 == there || self.local($0, at: place, model) == there } ?? false)
            if !isOurs { changedThere.insert(name) }
        }
        return ConflictSides(
            kind: operation.kind, base: base, local: local, server: item.isDeleted ? nil : server,
            changedHere: changedHere, changedThere: changedThere)
    }

    func rebase(
        _ id: Operation.ID, onto item: ServerItem, takingServers: Set<String>, rounding: WireRounding
    ) throws -> RebaseOutcome {
        try together {
            let (_, found, model) = try stored(id)
            let object = try uniteWithHolder(of: item.serverID, found, model)
            let sides = try sides(of: id, against: item, rounding: rounding)
            let operation = try stored(id).operation
            dropKept(knowing: item, of: object)
            guard operation.kind != .delete else { return try rebaseDelete(operation, onto: item, object, model) }
            guard !item.isDeleted else {
                try makeUndelete(operation, object, over: item, model)
                return .pending
            }
            let kept = sides.changedHere.subtracting(takingServers)
            var changes: [String: StorageValue] = [:]
            for name in kept { changes[name] = sides.server?[name] ?? operation.base(of: name) ?? .null }
            try take(
                item, object, model, values(of: item, model).filter { !kept.contains(model.properties[$0.key].name) })
            if changes.isEmpty {
                drop(operation)
                return .adopted
            }
            restart(operation, as: .update, changes, sent: [])
            return .pending
        }
    }

    private func rebaseDelete(
        _ operation: MemoryOperation, onto item: ServerItem, _ object: MemoryObject, _ model: MemoryModel
    ) throws -> RebaseOutcome {
        guard !item.isDeleted else {
            drop(operation)
            erase(object)
            return .adopted
        }
        // An undelete shows what the server holds.
        try take(item, object, model, values(of: item, model))
        restart(operation, as: .delete, [:], sent: [])
        return .pending
    }

    /// Has an object sent whole over a tombstone of its ID.
    ///
    /// - Parameter item: The tombstone; `nil` if nothing is known of it but that it is there.
    func makeUndelete(
        _ operation: MemoryOperation, _ object: MemoryObject, over item: ServerItem?, _ model: MemoryModel
    ) throws {
        let changes = operation.bases.merging(allBases(of: object, model)) { old, _ in old }
        // Whoever gives the operation up must not be left with an object that the server has deleted.
        if let item, item.isDeleted { keep(item, of: object, in: object.table, .pending) }
        var new = object
        new.serverID = item?.serverID ?? object.serverID
        new.version = item?.version
        try state.write(new)
        try resolveNews(of: object, new.serverID)
        // That it was deleted there is known as long as the queue knows that a delete may have arrived.
        restart(operation, as: .update, changes, sent: .delete)
    }

    /// Writes what a server holds of an object into it, with its state.
    func take(
        _ item: ServerItem, _ object: MemoryObject, _ model: MemoryModel, _ values: [Int: StorageValue]
    ) throws {
        var new = object
        new.serverID = item.serverID
        new.version = item.version
        new.createdAt = item.createdAt ?? object.createdAt
        new.updatedAt = item.updatedAt
        try state.write(new)
        try overwrite(new, values, model)
        try keepExtras(item.extras, of: new)
        try resolveNews(of: object, item.serverID)
    }

    /// References that wait for an object by a server ID that it did not have lead to it.
    private func resolveNews(of object: MemoryObject, _ serverID: ServerID?) throws {
        guard object.serverID != serverID, !object.isDeleted else { return }
        try resolveWaiting(for: object.localID, serverID, in: object.table)
    }

    /// Has an operation sent anew: what was sent for it has been answered.
    private func restart(
        _ operation: MemoryOperation, as kind: Operation.Kind, _ changes: [String: StorageValue], sent: AttemptedKinds
    ) {
        var operation = operation
        operation.state = operation.stateAfterAnswer
        operation.forgetAttempts()
        (operation.kind, operation.changes, operation.replaced) = (kind, changes, nil)
        operation.attemptedKinds = sent
        put(operation)
    }
}

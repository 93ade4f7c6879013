import Tandem
import TandemSync

extension MemoryTransaction {
    func sides(of id: PendingOperation.ID, against item: ServerItem, rounding: WireRounding) throws -> ConflictSides {
        try checkUsable()
        let (operation, object, model) = try storedOperation(id)
        let here = object.whole(model)
        var (base, local, server): ([String: StorageValue], [String: StorageValue], [String: StorageValue])
        (base, local, server) = ([:], [:], [:])
        var (changedHere, changedThere): (Set<String>, Set<String>) = ([], [])
        // An item with the known version has no foreign changes. Neither do values that an undelete left blank.
        let isNobodys = item.wasUndeleted || item.version != nil && item.version == object.version
        for (place, property) in model.sent {
            let name = property.name
            local[name] = here[place]
            let old = operation.base(of: name)
            base[name] = operation.isWhole ? nil : old
            // A tombstone has no values, so all properties of the operation are sent again.
            guard !item.isDeleted else {
                if operation.isWhole || old != nil { changedHere.insert(name) }
                continue
            }
            // A value equal to its base, of which no other value was sent, is no longer a change.
            let isChanged =
                operation.isWhole
                ? item.wasUndeleted
                    || !isUnchanged(sinceInsertOf: object, operation, here: here[place], at: place, model, rounding)
                : old.map {
                    item.wasUndeleted || $0 != here[place] && self.local($0, at: place, model) != here[place]
                        || wasSentOtherwise(operation, than: here[place], at: place, model, rounding)
                } ?? false
            guard let value = item.values[name] else {
                if isChanged { changedHere.insert(name) }
                continue
            }
            let there = self.local(value, at: place, model)
            server[name] = there
            let isHeldThere = there == here[place] || sentForm(here[place], at: place, model, rounding) == value
            if isChanged && !isHeldThere { changedHere.insert(name) }
            let isOurs =
                isHeldThere || operation.attempted.contains(value, of: name)
                || (old.map { $0 == there || self.local($0, at: place, model) == there } ?? false)
            if !isOurs && !isNobodys { changedThere.insert(name) }
        }
        return ConflictSides(
            kind: operation.kind, base: base, local: local, server: item.isDeleted ? nil : server,
            changedHere: changedHere, changedThere: changedThere)
    }

    /// Returns whether a property has not changed here since the insert that created the server's object.
    ///
    /// The insert is one of this object whose response was lost. Returns `false` if the server's object does not come
    /// from such an insert.
    private func isUnchanged(
        sinceInsertOf object: MemoryObject, _ operation: MemoryOperation, here: StorageValue, at place: Int,
        _ model: MemoryModel, _ rounding: WireRounding
    ) -> Bool {
        let property = model.properties[place]
        guard object.localID.isUnique, property.kind != .attachment,
            let sent = sentForm(here, at: place, model, rounding)
        else { return false }
        return operation.attempted.haveOnly(sent, of: property.name)
    }

    /// Returns whether another value than the local one may have been sent to the server.
    private func wasSentOtherwise(
        _ operation: MemoryOperation, than here: StorageValue, at place: Int, _ model: MemoryModel,
        _ rounding: WireRounding
    ) -> Bool {
        let property = model.properties[place]
        guard operation.attempted.names(property.name) else { return false }
        guard let sent = sentForm(here, at: place, model, rounding) else { return true }
        return operation.attempted.hasOther(than: sent, of: property.name)
    }

    /// Returns the form in which the server returns a local value; `nil` if the value can't be sent. The server does
    /// not hold it then. Sending it reports the error, not a comparison.
    private func sentForm(
        _ here: StorageValue, at place: Int, _ model: MemoryModel, _ rounding: WireRounding
    ) -> StorageValue? {
        try? rounding(model.properties[place], wire(here, at: place, model))
    }

    func rebase(
        _ id: PendingOperation.ID, onto item: ServerItem, takingServers: Set<String>, rounding: WireRounding
    ) throws -> RebaseOutcome {
        try together {
            let (_, found, model) = try storedOperation(id)
            let object = try mergeDuplicate(of: found, withServerID: item.serverID, model)
            let sides = try sides(of: id, against: item, rounding: rounding)
            let operation = try storedOperation(id).operation
            dropDeferred(knowing: item, of: object)
            guard operation.kind != .delete else {
                return try rebaseDelete(operation, onto: item, sides, object, model)
            }
            guard !item.isDeleted else {
                try makeUndelete(operation, object, over: item, model)
                return .pending
            }
            let changes = try rebase(
                sides.changedHere.subtracting(takingServers), of: operation, onto: item, sides, object, model)
            if changes.isEmpty {
                drop(operation)
                return .adopted
            }
            restart(operation, as: .update, changes, sent: [])
            return .pending
        }
    }

    /// Adopts the server's item, except for some locally changed properties.
    ///
    /// - Returns: These properties, with the server's values as their bases.
    private func rebase(
        _ names: Set<String>, of operation: MemoryOperation, onto item: ServerItem, _ sides: ConflictSides,
        _ object: MemoryObject, _ model: MemoryModel
    ) throws -> [String: StorageValue] {
        var changes: [String: StorageValue] = [:]
        for name in names { changes[name] = sides.server?[name] ?? operation.base(of: name) ?? .null }
        try applyServerState(
            item, object, model, values(of: item, model).filter { !names.contains(model.properties[$0.key].name) })
        return changes
    }

    private func rebaseDelete(
        _ operation: MemoryOperation, onto item: ServerItem, _ sides: ConflictSides, _ object: MemoryObject,
        _ model: MemoryModel
    ) throws -> RebaseOutcome {
        guard !item.isDeleted else {
            drop(operation)
            erase(object)
            return .adopted
        }
        // An undelete would show the server's values, with the local changes that preceded the delete and were not
        // sent.
        let names = operation.replaced == nil ? [] : sides.changedHere
        let changes = try rebase(names, of: operation, onto: item, sides, object, model)
        restart(operation, as: .delete, changes, replacing: changes.isEmpty ? nil : .update, sent: [])
        return .pending
    }

    /// Prepares sending the whole object over a tombstone of its ID.
    ///
    /// - Parameter item: The tombstone; `nil` if only its existence is known.
    func makeUndelete(
        _ operation: MemoryOperation, _ object: MemoryObject, over item: ServerItem?, _ model: MemoryModel
    ) throws {
        let changes = operation.bases.merging(allBases(of: object, model)) { old, _ in old }
        // Keeps the tombstone, because a discard must not leave an object that the server has deleted.
        if let item, item.isDeleted { deferItem(item, of: object, in: object.table, .pending) }
        var new = object
        new.serverID = item?.serverID ?? object.serverID
        new.version = item?.version
        try state.write(new)
        try resolveNews(of: object, new.serverID)
        // The queue records the delete on the server as long as a delete may have arrived.
        restart(operation, as: .update, changes, sent: .delete)
    }

    /// Stores the server's values and state in an object.
    func applyServerState(
        _ item: ServerItem, _ object: MemoryObject, _ model: MemoryModel, _ values: [Int: StorageValue]
    ) throws {
        var new = object
        new.serverID = item.serverID
        new.version = item.version
        new.createdAt = item.createdAt ?? object.createdAt
        new.updatedAt = item.updatedAt
        try state.write(new)
        try applyServerValues(new, values, model)
        try storeExtras(item.extras, of: new)
        try resolveNews(of: object, item.serverID)
    }

    /// Resolves references that wait for an object by its new server ID.
    private func resolveNews(of object: MemoryObject, _ serverID: ServerID?) throws {
        guard object.serverID != serverID, !object.isDeleted else { return }
        try resolveWaiting(for: object.localID, serverID, in: object.table)
    }

    /// Restarts an operation without attempts: everything sent has a response.
    private func restart(
        _ operation: MemoryOperation, as kind: PendingOperation.Kind, _ changes: [String: StorageValue],
        replacing replaced: PendingOperation.Kind? = nil, sent: AttemptedKinds
    ) {
        var operation = operation
        operation.state = operation.stateAfterResponse
        operation.forgetAttempts()
        (operation.kind, operation.changes, operation.replaced) = (kind, changes, replaced)
        operation.attemptedKinds = sent
        put(operation)
    }
}

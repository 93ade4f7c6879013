import Tandem

// The merge of duplicates: if the server makes IDs, a pull may add an object whose insert has lost its response. When
// the retried insert has a response, both local objects are the same item.

extension MemoryTransaction {
    /// Merges another object into this one if it has the server ID of this one.
    ///
    /// - Returns: The merged object.
    /// - Throws: `TandemError.Code.duplicateID` if the other object is older: no insert of this one can have created
    ///   it.
    func mergeDuplicate(
        of object: MemoryObject, withServerID serverID: ServerID, _ model: MemoryModel
    ) throws -> MemoryObject {
        guard let other = state.find(serverID, in: object.table), other.row != object.row else { return object }
        guard object.serverID == nil, other.row > object.row else {
            throw TandemError(
                .duplicateID,
                message: "The \(model.definition.name) \(object.localID) can't have the server ID \(serverID), "
                    + "which another object has: \(other.localID).",
                advice: "Check the server's response.", model: model.definition.name)
        }
        try merge(object, withNewer: other, model)
        return state.object(object.key) ?? object
    }

    private func merge(_ older: MemoryObject, withNewer newer: MemoryObject, _ model: MemoryModel) throws {
        // An object that was deleted as one and changed as the other is not deleted: the change came later.
        let revives = older.isDeleted && !newer.isDeleted && state.operation(of: newer) != nil
        // A deleted object can't be referred to, so references to it become unresolved.
        if older.isDeleted && !revives { try detachHolders(of: newer.localID, in: newer.table, as: nil) }
        for holder in model.holders { try redirect(holder, from: newer.localID, to: older.localID) }
        let changes = unsentChanges(of: newer, model)
        if let operation = state.operation(of: newer) { drop(operation) }
        dropDeferred(of: newer, newer.serverID, in: newer.table)
        if let newer = state.object(newer.key) { erase(newer) }
        guard revives else { return try apply(changes, to: older, model) }
        do {
            try together {
                recordUndelete(older, model)
                try show(older, model, .app)
                try apply(changes, to: older, model)
            }
        } catch let error as TandemError where error.code == .duplicateValue {
            // Its unique value was given to another object after the delete, so it can't be restored.
            try detachHolders(of: older.localID, in: older.table, as: nil)
        }
    }

    /// Returns the pending changes of an object. A deleted one has none for the other object.
    private func unsentChanges(of object: MemoryObject, _ model: MemoryModel) -> [Int: StorageValue] {
        guard !object.isDeleted, let operation = state.operation(of: object), let object = state.object(object.key)
        else { return [:] }
        let whole = object.whole(model)
        var changes: [Int: StorageValue] = [:]
        for (place, property) in model.properties.enumerated() where operation.base(of: property.name) != nil {
            changes[place] = whole[place]
        }
        return changes
    }

    private func apply(_ changes: [Int: StorageValue], to object: MemoryObject, _ model: MemoryModel) throws {
        guard !changes.isEmpty, let object = state.object(object.key), !object.isDeleted else { return }
        try update(object, changes, model, .app)
    }

    /// Redirects references from one object to another: in live objects, in deleted ones, and in the queue. That is not
    /// a change by the app, because both are the same object.
    private func redirect(_ holder: MemoryModel.Holder, from old: LocalID, to new: LocalID) throws {
        let model = try model(holder.table)
        for var object in state.tables[holder.table]?.objects(naming: old, at: holder.place) ?? [] {
            object.links[holder.place] = object.links[holder.place]?.map {
                $0.id == old ? MemoryLink(id: new, isHere: $0.isHere) : $0
            }
            try state.write(object)
        }
        let name = model.properties[holder.place].name
        for var operation in state.queue where operation.object.table == holder.table {
            guard operation.changes[name] != nil || operation.sent?[name] != nil else { continue }
            operation.changes[name] = operation.changes[name].map { redirected($0, from: old, to: new) }
            if let base = operation.sent?[name] { operation.sent?[name] = redirected(base, from: old, to: new) }
            state.replace(operation)
        }
    }

    private func redirected(_ value: StorageValue, from old: LocalID, to new: LocalID) -> StorageValue {
        if value == .text(old.rawValue) { return .text(new.rawValue) }
        return value.references.map { .references($0.map { $0 == old ? new : $0 }) } ?? value
    }
}

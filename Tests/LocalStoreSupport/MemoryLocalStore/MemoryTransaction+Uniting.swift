import Tandem

// Where the server makes the IDs, a pull may bring as a new object what an insert had created whose answer was lost. When
// the insert is answered at last, two objects here are one there.

extension MemoryTransaction {
    /// If another object has a server ID that turns out to be this one's, the two become one.
    ///
    /// - Returns: The object then.
    /// - Throws: `TandemError.Code.duplicateID` if the other one was here before: no insert of this one has made it.
    func uniteWithHolder(of serverID: ServerID, _ object: MemoryObject, _ model: MemoryModel) throws -> MemoryObject {
        guard let other = state.find(serverID, in: object.table), other.row != object.row else { return object }
        guard object.serverID == nil, other.row > object.row else {
            throw TandemError(
                .duplicateID,
                "The server says that the \(model.definition.name) \(object.localID) is \(serverID), which is another "
                    + "one here: \(other.localID).",
                advice: "Look at what the server has answered.", model: model.definition.name)
        }
        try unite(object, withNewer: other, model)
        return state.object(object.key) ?? object
    }

    private func unite(_ older: MemoryObject, withNewer newer: MemoryObject, _ model: MemoryModel) throws {
        // What was deleted as the one and changed as the other is not to be deleted: the change came to be seen last.
        let revives = older.isDeleted && !newer.isDeleted && state.operation(of: newer) != nil
        // What is deleted here is not there for those that refer to it: they wait.
        if older.isDeleted && !revives { try detachHolders(of: newer.localID, in: newer.table, as: nil) }
        for holder in model.holders { try redirect(holder, from: newer.localID, to: older.localID) }
        let changes = unsentChanges(of: newer, model)
        if let operation = state.operation(of: newer) { drop(operation) }
        dropKept(of: newer, newer.serverID, in: newer.table)
        if let newer = state.object(newer.key) { erase(newer) }
        guard revives else { return try apply(changes, to: older, model) }
        do {
            try together {
                recordUndelete(older, model)
                try show(older, model, .app)
                try apply(changes, to: older, model)
            }
        } catch let error as TandemError where error.code == .duplicateValue {
            // Its unique value was given away after it was deleted: it can't come back.
            try detachHolders(of: older.localID, in: older.table, as: nil)
        }
    }

    /// What waits to be sent of an object. One that was deleted says nothing of the other one.
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

    /// Has a reference lead from one object to another, wherever it is held: in live objects, in deleted ones, and in the
    /// queue. That is no change of the app's: it is the same object.
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

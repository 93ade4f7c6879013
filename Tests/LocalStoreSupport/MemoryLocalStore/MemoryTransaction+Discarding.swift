import Tandem
import TandemSync

extension MemoryTransaction {
    func discard(_ id: PendingOperation.ID, for item: ServerItem?) throws -> [String: StorageValue] {
        try together {
            let (operation, object, model) = try storedOperation(id)
            let lost = unsentValues(of: operation, object, model)
            if let item {
                let object = try mergeDuplicate(of: object, withServerID: item.serverID, model)
                dropDeferred(knowing: item, of: object)
                drop(operation)
                try become(item, object, model)
            } else if object.serverID == nil {
                try forgetNew(operation, object)
            } else if hasDeferredTombstone(of: object) {
                // No base exists to return to.
                drop(operation)
                try goAsServerSays(object)
            } else {
                try returnToBase(operation, object, model)
            }
            return lost
        }
    }

    private func unsentValues(
        of operation: MemoryOperation, _ object: MemoryObject, _ model: MemoryModel
    ) -> [String: StorageValue] {
        let whole = object.whole(model)
        return Dictionary(
            uniqueKeysWithValues: model.sent.filter { operation.isWhole || operation.base(of: $0.property.name) != nil }
                .map { ($0.property.name, whole[$0.place]) })
    }

    /// Removes an object that is not known to exist on the server, by the delete rules of the app.
    private func forgetNew(_ operation: MemoryOperation, _ object: MemoryObject) throws {
        let mayBeThere = !operation.attemptedKinds.isEmpty && operation.state != .failed
        if mayBeThere { try release(operation.id) } else { drop(operation) }
        if !object.isDeleted {
            _ = try delete(object.localID, in: object.table, .app)
        } else if !mayBeThere {
            erase(object)
        }
    }

    /// Restores the server's last values of an object.
    private func returnToBase(_ operation: MemoryOperation, _ object: MemoryObject, _ model: MemoryModel) throws {
        drop(operation)
        var values: [Int: StorageValue] = [:]
        for (name, base) in operation.bases {
            if let place = model.place(of: name) { values[place] = wire(base, at: place, model) }
        }
        try applyServerValues(object, values, model)
        if object.isDeleted { try show(object, model, .server) }
    }

    /// Adopts the server's item. The operation is already removed.
    private func become(_ item: ServerItem, _ object: MemoryObject, _ model: MemoryModel) throws {
        guard !item.isDeleted else { return try goAsServerSays(object) }
        try applyServerState(item, object, model, values(of: item, model))
        if object.isDeleted { try show(object, model, .server) }
    }

    private func goAsServerSays(_ object: MemoryObject) throws {
        erase(object)
        try detachHolders(of: object.localID, in: object.table, as: object.serverID)
    }
}

import Tandem

extension MemoryTransaction {
    /// Deletes an object.
    ///
    /// A delete by the app follows the delete rules of the objects that refer to it. A delete by the server leaves
    /// their references unresolved.
    ///
    /// - Returns: `false` if the object does not exist or is already deleted.
    func delete(_ localID: LocalID, in table: String, _ origin: Origin) throws -> Bool {
        guard let object = state.find(localID, in: table) else { return false }
        if origin == .server {
            erase(object)
            try detachHolders(of: localID, in: table, as: object.serverID)
            return true
        }
        if object.isDeleted { return false }
        try together { try deleteCascading(object) }
        return true
    }

    /// Collects all affected objects first, so that the result does not depend on an order.
    private func deleteCascading(_ object: MemoryObject) throws {
        var doomed = [object]
        var keys: Set<MemoryKey> = [object.key]
        var position = 0
        while position < doomed.count {
            for holder in try model(of: doomed[position]).holders where holder.rule == .cascade {
                for other in holders(of: doomed[position].localID, holder) where keys.insert(other.key).inserted {
                    doomed.append(other)
                }
            }
            position += 1
        }
        for object in doomed { try hide(object) }
        // Objects that are also deleted keep their references, and do not deny.
        for object in doomed { try releaseHolders(of: object, doomed) }
    }

    /// Hides an object, or removes it if the server can't know it.
    private func hide(_ object: MemoryObject) throws {
        guard try !model(of: object).definition.isLocalOnly, recordDelete(object) else { return erase(object) }
        var object = object
        object.isDeleted = true
        try state.write(object)
    }

    private func releaseHolders(of object: MemoryObject, _ doomed: [MemoryObject]) throws {
        let model = try model(of: object)
        for holder in model.holders where holder.rule == .deny {
            guard let other = holders(of: object.localID, holder).first else { continue }
            let definition = try self.model(holder.table).definition
            throw TandemError(
                .deleteDenied,
                message: "The \(model.definition.name) \(object.localID) can't be deleted: the \(definition.name) "
                    + "\(other.localID) refers to it.",
                advice: "Delete that one first, or give it another reference.", model: definition.name,
                property: definition.properties[holder.place].name)
        }
        let gone = Set(doomed.filter { $0.table == object.table }.map(\.localID))
        for holder in model.holders where holder.rule == .nullify {
            for other in holders(of: object.localID, holder) {
                var new = other
                new.links[holder.place] = other.links[holder.place]?.filter { !($0.isHere && gone.contains($0.id)) }
                try commit(new, [holder.place], of: other, try self.model(holder.table), .app)
            }
        }
    }

    /// Removes an object and its dependent data.
    func erase(_ object: MemoryObject) {
        leaveServerSide(of: object)
        state.remove(object)
    }
}

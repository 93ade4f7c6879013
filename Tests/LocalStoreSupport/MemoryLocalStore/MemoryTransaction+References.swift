import Tandem

// A reference names an object by its local ID here, and by its server ID on the way to a server and back. One to what is
// not there waits.

extension MemoryTransaction {
    /// A value as it goes to a server: references by the server IDs of what they refer to, by the local ID of what has
    /// none yet.
    func wire(_ value: StorageValue, at place: Int, _ model: MemoryModel) -> StorageValue {
        replacing(value, at: place, model) { id, target in
            state.find(id, in: target)?.serverID.map { LocalID($0.rawValue) } ?? id
        }
    }

    /// A value as a server holds it, with references by local IDs of what is here, deleted or not.
    func local(_ value: StorageValue, at place: Int, _ model: MemoryModel) -> StorageValue {
        replacing(value, at: place, model) { id, target in
            state.find(ServerID(id.rawValue), in: target)?.localID ?? id
        }
    }

    private func replacing(
        _ value: StorageValue, at place: Int, _ model: MemoryModel, _ replacement: (LocalID, String) -> LocalID
    ) -> StorageValue {
        guard let link = model.link(at: place), case .text(let text) = value else { return value }
        guard link.isToMany else { return .text(replacement(LocalID(text), link.target).rawValue) }
        return value.references.map { .references($0.map { replacement($0, link.target) }) } ?? value
    }

    /// What a reference's value leads to. Said by a server it may name a server ID.
    func entries(_ value: StorageValue, _ link: MemoryModel.Link, _ origin: Origin) throws -> [MemoryLink]? {
        guard case .text(let text) = value else { return link.isToMany ? nil : [] }
        guard link.isToMany else { return [entry(LocalID(text), link.target, origin)] }
        guard let ids = value.references else {
            throw TandemError(
                .invalidValue, "A list of references is no array of IDs.",
                advice: "Make it by StorageValue.references(_:).")
        }
        return ids.map { entry($0, link.target, origin) }
    }

    func entry(_ id: LocalID, _ target: String, _ origin: Origin) -> MemoryLink {
        if origin == .server, let found = state.find(ServerID(id.rawValue), in: target), !found.isDeleted {
            return MemoryLink(id: found.localID, isHere: true)
        }
        let isHere = state.find(id, in: target).map { !$0.isDeleted } ?? false
        return MemoryLink(id: id, isHere: isHere)
    }

    // MARK: What waits

    /// An object has come: references that waited for it, by either of its IDs, lead to it. That is no change of the
    /// app's.
    func resolveWaiting(for localID: LocalID, _ serverID: ServerID?, in table: String) throws {
        let names = [localID] + (serverID.map { [LocalID($0.rawValue)] } ?? [])
        for holder in try model(table).holders {
            for name in names {
                for var object in state.tables[holder.table]?.objects(naming: name, at: holder.place) ?? [] {
                    let entries = object.links[holder.place] ?? []
                    guard entries.contains(where: { $0.id == name && !$0.isHere }) else { continue }
                    object.links[holder.place] = entries.map {
                        $0.id == name && !$0.isHere ? MemoryLink(id: localID, isHere: true) : $0
                    }
                    try state.write(object)
                }
            }
        }
    }

    /// The live objects that refer to another one by a reference.
    func holders(of localID: LocalID, _ holder: MemoryModel.Holder) -> [MemoryObject] {
        (state.tables[holder.table]?.objects(naming: localID, at: holder.place) ?? []).filter { object in
            !object.isDeleted
                && (object.links[holder.place] ?? []).contains { $0.id == localID && $0.isHere }
        }
    }

    /// An object goes because the server says so: references to it wait. What becomes of those that hold it is the
    /// server's to say.
    ///
    /// - Parameter serverID: By what it is known when it comes back, if the server knows it.
    func detachHolders(of localID: LocalID, in table: String, as serverID: ServerID?) throws {
        let name = serverID.map { LocalID($0.rawValue) } ?? localID
        for holder in try model(table).holders {
            for var object in holders(of: localID, holder) {
                object.links[holder.place] = object.links[holder.place]?.map {
                    $0.id == localID && $0.isHere ? MemoryLink(id: name, isHere: false) : $0
                }
                try state.write(object)
            }
        }
    }
}

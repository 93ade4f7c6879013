import Tandem

// The conversion of references between local IDs and server IDs, and unresolved references.

extension MemoryTransaction {
    /// Converts a value for the server. References become server IDs, or local IDs if the target has no server ID yet.
    func wire(_ value: StorageValue, at place: Int, _ model: MemoryModel) -> StorageValue {
        replacing(value, at: place, model) { id, target in
            state.find(id, in: target)?.serverID.map { LocalID($0.rawValue) } ?? id
        }
    }

    /// Converts a value of the server. References become local IDs of existing objects, deleted or not.
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

    /// Parses a reference's value. A value from the server may contain server IDs.
    func entries(_ value: StorageValue, _ link: MemoryModel.Link, _ origin: Origin) throws -> [MemoryLink]? {
        guard case .text(let text) = value else { return link.isToMany ? nil : [] }
        guard link.isToMany else { return [entry(LocalID(text), link.target, origin)] }
        guard let ids = value.references else {
            throw TandemError(
                .invalidValue, message: "A list of references is not an array of IDs.",
                advice: "Create it with StorageValue.references(_:).")
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

    // MARK: Unresolved references

    /// Resolves references to a new object, by either of its IDs. The resolution is not a change by the app.
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

    /// Returns the live objects that refer to an object.
    func holders(of localID: LocalID, _ holder: MemoryModel.Holder) -> [MemoryObject] {
        (state.tables[holder.table]?.objects(naming: localID, at: holder.place) ?? []).filter { object in
            !object.isDeleted
                && (object.links[holder.place] ?? []).contains { $0.id == localID && $0.isHere }
        }
    }

    /// Makes references to an object unresolved that the server removes. The server decides about their holders.
    ///
    /// - Parameter serverID: The server ID by which the object is known if it returns.
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

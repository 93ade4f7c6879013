/// The same as on the store, in the state that the transaction sees: in a write, its own changes included.
extension ReadTransaction {
    /// The objects of a model, to be narrowed and read: see ``Results``. They are read inside the block.
    public func objects<M: Model>(_ model: M.Type) -> Results<M> {
        store.objects(model)
    }

    /// The objects that refer to another one. See `Store.objects(_:)`.
    public func objects<Source: Model>(_ links: InverseLinks<Source>) -> Results<Source> {
        store.objects(links)
    }

    /// The objects that a list of references names, in the list's order.
    public func objects<Target: Model>(_ references: [Reference<Target>]) throws -> [Target] {
        try references.compactMap { try object($0) }
    }

    /// The object with a local ID, nil if there is none or it is deleted.
    public func object<M: Model>(ofType model: M.Type, forPrimaryKey localID: LocalID) throws -> M? {
        let connection = try connectionForReading(searching: false)
        return try connection.pointRead(model, in: store).object(model, localID, path: connection.path)
    }

    /// The object that a server knows by an ID, nil if there is none or it is deleted.
    public func object<M: Model>(ofType model: M.Type, forServerID serverID: ServerID) throws -> M? {
        try checkUsable()
        return try store.object(ofType: model, forServerID: serverID)
    }

    /// The object that a reference names, nil if the reference is nil, or names an object that is not in the store or
    /// is deleted.
    public func object<Target: Model>(_ reference: Reference<Target>?) throws -> Target? {
        guard let reference else { return nil }
        return try object(ofType: Target.self, forPrimaryKey: reference.localID)
    }
}

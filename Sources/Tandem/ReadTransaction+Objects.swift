/// The store's reading functions, in the state that the transaction sees. In a write this includes its own changes.
extension ReadTransaction {
    /// Returns the objects of a model, to filter and read: see ``Results``. Read them inside the block.
    public func objects<M: Model>(_ model: M.Type) -> Results<M> {
        store.objects(model)
    }

    /// Returns the objects that refer to another object. See `Store.objects(_:)`.
    public func objects<Source: Model>(_ links: InverseLinks<Source>) -> Results<Source> {
        store.objects(links)
    }

    /// Returns the objects that a list of references names, in the list's order.
    ///
    /// - Parameter references: The references, for example a property of an object.
    /// - Throws: ``TandemError`` if the store can't be read.
    public func objects<Target: Model>(_ references: [Reference<Target>]) throws -> [Target] {
        try references.compactMap { try object($0) }
    }

    /// Returns the object with a local ID, or nil if it does not exist or is deleted.
    ///
    /// - Parameters:
    ///   - model: The model of the object.
    ///   - localID: The object's local ID.
    /// - Throws: ``TandemError`` if the store can't be read.
    public func object<M: Model>(ofType model: M.Type, forPrimaryKey localID: LocalID) throws -> M? {
        try pointRead(model, by: .localID, id: localID.rawValue)
    }

    /// Returns the object with a server ID, or nil if it does not exist or is deleted.
    ///
    /// - Parameters:
    ///   - model: The model of the object.
    ///   - serverID: The object's key on the server.
    /// - Throws: ``TandemError`` if the store can't be read.
    public func object<M: Model>(ofType model: M.Type, forServerID serverID: ServerID) throws -> M? {
        try pointRead(model, by: .serverID, id: serverID.rawValue)
    }

    /// Returns the target of a reference. Returns nil if the reference is nil, or if its target is not in the store or
    /// is deleted.
    ///
    /// - Parameter reference: The reference, for example a property of an object.
    /// - Throws: ``TandemError`` if the store can't be read.
    public func object<Target: Model>(_ reference: Reference<Target>?) throws -> Target? {
        guard let reference else { return nil }
        return try object(ofType: Target.self, forPrimaryKey: reference.localID)
    }
}

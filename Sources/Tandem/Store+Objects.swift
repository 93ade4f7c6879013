extension Store {
    /// Returns the object with a local ID, or nil if it does not exist or is deleted.
    ///
    /// ```swift
    /// let card = try store.object(ofType: Card.self, forPrimaryKey: id)
    /// ```
    ///
    /// An object that was read twice comes from memory until a commit changes it: see
    /// ``Configuration/objectCacheSize``.
    ///
    /// - Parameters:
    ///   - model: The model of the object.
    ///   - localID: The object's local ID.
    /// - Complexity: O(log *n*), some 3 µs, or O(1) from memory. Several reads in a `read` block cost less each.
    /// - Throws: ``TandemError``, with the code `invalidValue` if a stored value can't be read.
    public func object<M: Model>(ofType model: M.Type, forPrimaryKey localID: LocalID) throws -> M? {
        try pointRead(model, by: .localID, id: localID.rawValue)
    }

    /// Returns the object with a server ID, or nil if it does not exist or is deleted.
    ///
    /// - Parameters:
    ///   - model: The model of the object.
    ///   - serverID: The object's key on the server.
    /// - Throws: ``TandemError``, with the code `invalidValue` if a stored value can't be read.
    /// - Complexity: O(log *n*).
    public func object<M: Model>(ofType model: M.Type, forServerID serverID: ServerID) throws -> M? {
        try pointRead(model, by: .serverID, id: serverID.rawValue)
    }

    /// Returns the target of a reference. Returns nil if the reference is nil, or if its target is not in the store or
    /// is deleted.
    ///
    /// - Parameter reference: The reference, for example a property of an object.
    /// - Throws: ``TandemError``, with the code `invalidValue` if a stored value can't be read.
    public func object<Target: Model>(_ reference: Reference<Target>?) throws -> Target? {
        guard let reference else { return nil }
        return try object(ofType: Target.self, forPrimaryKey: reference.localID)
    }

    /// Returns the objects that a list of references names, in the list's order. Objects that are not in the store, or
    /// are deleted, are skipped.
    ///
    /// - Parameter references: The references, for example a property of an object.
    /// - Throws: ``TandemError``, with the code `invalidValue` if a stored value can't be read.
    /// - Complexity: O(*m* log *n*) for *m* references, in one read.
    public func objects<Target: Model>(_ references: [Reference<Target>]) throws -> [Target] {
        guard !references.isEmpty else { return [] }
        return try pointReads(Target.self, ids: references.lazy.map(\.localID))
    }
}

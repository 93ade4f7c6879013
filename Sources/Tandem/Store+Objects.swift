extension Store {
    /// Returns the object with a local ID, or nil if it does not exist or is deleted.
    ///
    /// ```swift
    /// let card = try store.object(ofType: Card.self, forPrimaryKey: id)
    /// ```
    ///
    /// - Parameters:
    ///   - model: The model of the object.
    ///   - localID: The object's local ID.
    /// - Complexity: O(log *n*), some 3 µs. Several reads in a `read` block cost less each.
    /// - Throws: ``TandemError``, with the code `invalidValue` if a stored value can't be read.
    public func object<M: Model>(ofType model: M.Type, forPrimaryKey localID: LocalID) throws -> M? {
        try reading { connection in
            try connection.pointRead(model, in: self).object(model, localID: localID, path: connection.path)
        }
    }

    /// Returns the object with a server ID, or nil if it does not exist or is deleted.
    ///
    /// - Parameters:
    ///   - model: The model of the object.
    ///   - serverID: The object's key on the server.
    /// - Throws: ``TandemError``, with the code `invalidValue` if a stored value can't be read.
    /// - Complexity: O(log *n*).
    public func object<M: Model>(ofType model: M.Type, forServerID serverID: ServerID) throws -> M? {
        try objects(model).where { $0.serverID == serverID }.first()
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
        return try reading { connection in
            let pointRead = try connection.pointRead(Target.self, in: self)
            return try references.compactMap {
                try pointRead.object(Target.self, localID: $0.localID, path: connection.path)
            }
        }
    }
}

/// The writes that change all objects of a result.
extension WriteTransaction {
    /// Changes all objects of a result in place.
    ///
    /// For example:
    ///
    /// ```swift
    /// try store.write { tx in
    ///     try tx.update(tx.objects(Card.self).where { $0.points == 0 }) { $0.isPinned = false }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - results: The objects to change, which are read before the first change.
    ///   - change: Changes each stored object in place.
    /// - Returns: The number of objects that the query found.
    /// - Throws: The errors of the block, and those of an update of a single object.
    @discardableResult
    public func update<M: Model>(_ results: Results<M>, _ change: (inout M) throws -> Void) throws -> Int {
        try checkUsable()
        let table = try store.schema.table(M.self)
        let keys = try results.keys()
        for (localID, rowID) in keys {
            _ = try update(M.self, localID: localID, rowID: rowID, in: table, change: change)
        }
        return keys.count
    }

    /// Deletes all objects of a result.
    ///
    /// For example:
    ///
    /// ```swift
    /// try store.write { try $0.delete($0.objects(Card.self).where { $0.shop.hasPrefix("Test") }) }
    /// ```
    ///
    /// - Parameter results: The objects to delete.
    /// - Returns: The number of deleted objects.
    /// - Throws: The errors of `delete(_:)` for a single object.
    @discardableResult
    public func delete<M: Model>(_ results: Results<M>) throws -> Int {
        try checkUsable()
        let table = try store.schema.table(M.self)
        // A cascade may already have deleted some of them.
        return try results.keys().reduce(0) { try $0 + (delete($1.localID, in: table) ? 1 : 0) }
    }

    /// Deletes all objects of a model. See `delete(_:)`.
    ///
    /// - Parameter model: The model of the objects.
    /// - Returns: The number of deleted objects.
    /// - Throws: The errors of `delete(_:)` for a single object.
    @discardableResult
    public func deleteAll<M: Model>(_ model: M.Type) throws -> Int {
        try delete(objects(model))
    }

    /// Restores all deleted objects of a result.
    ///
    /// For example:
    ///
    /// ```swift
    /// try store.write { try $0.undelete($0.objects(Card.self).onlyDeleted()) }
    /// ```
    ///
    /// - Parameter results: The objects to restore. Use ``Results/onlyDeleted()``.
    /// - Returns: The number of restored objects.
    /// - Throws: The errors of `undelete(_:)` for a single object.
    @discardableResult
    public func undelete<M: Model>(_ results: Results<M>) throws -> Int {
        try checkUsable()
        let keys = try results.onlyDeleted().keys()
        for key in keys { try undelete(M.self, localID: key.localID) }
        return keys.count
    }
}

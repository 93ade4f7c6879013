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

    /// Assigns values to properties of all objects of a result.
    ///
    /// For example:
    ///
    /// ```swift
    /// try store.write { tx in
    ///     try tx.update(
    ///         tx.objects(Card.self).where { $0.shop == "Лента" },
    ///         set: { [$0.isPinned.set(to: true), $0.points.set(to: $0.points + 10)] })
    /// }
    /// ```
    ///
    /// The result is that of updating each object with the same changes: unchanged properties are not written, each
    /// changed object gets its own operation, and observers receive the same changes. All values of one object are
    /// computed from its values before the change. If an error is thrown, none of the objects is changed.
    ///
    /// - Complexity: O(*n*). A few SQL statements assign constants, other properties and predicates on the object
    ///   itself. Each statement applies to some thousand objects. Arithmetic, unique properties, lists of references
    ///   and attachments are assigned row by row.
    /// - Parameters:
    ///   - results: The objects to change, which are found before the first change.
    ///   - assignments: Returns the assignments from the model's properties. If a property is assigned twice, the last
    ///     assignment counts.
    /// - Returns: The number of objects that the query found.
    /// - Throws: ``TandemError/Code/duplicateValue``; ``TandemError/Code/overflow`` if a number does not fit its
    ///   property; ``TandemError/Code/objectDeleted`` if the query finds deleted objects;
    ///   ``TandemError/Code/invalidQuery`` if an assigned property is not one of the model itself;
    ///   ``TandemError/Code/invalidValue`` if a constant can't be encoded or a stored value can't be read.
    @discardableResult
    public func update<M: Model>(_ results: Results<M>, set assignments: (M.Columns) -> [Assignment<M>]) throws -> Int {
        try checkUsable()
        let table = try store.schema.table(M.self)
        let plan = try UpdatePlan(assignments(M.Columns()), of: table, in: store)
        let keys = try results.keys()
        guard !keys.isEmpty else { return 0 }
        try update(keys, findsDeleted: results.query.findsDeleted, by: plan)
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
    /// The result is that of `delete(_:)` for each object, in the order of the query. If an error is thrown, none of
    /// the objects is deleted.
    ///
    /// - Complexity: O(*n*). A few SQL statements delete some thousand objects each, if no object refers to them.
    /// - Parameter results: The objects to delete.
    /// - Returns: The number of deleted objects.
    /// - Throws: The errors of `delete(_:)` for a single object.
    @discardableResult
    public func delete<M: Model>(_ results: Results<M>) throws -> Int {
        try checkUsable()
        let table = try store.schema.table(M.self)
        return try delete(try results.keys(), in: table)
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

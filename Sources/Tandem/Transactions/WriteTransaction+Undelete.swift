extension WriteTransaction {
    /// Restores a deleted object, with the operation that its delete had replaced.
    ///
    /// References that the delete removed from other objects are not restored.
    ///
    /// - Parameter object: The object, which is found by its local ID.
    /// - Returns: The object.
    /// - Throws: ``TandemError/Code/notFound`` if it no longer exists, ``TandemError/Code/objectNotDeleted``,
    ///   ``TandemError/Code/duplicateValue`` if another object now has its unique value.
    @discardableResult
    public func undelete<M: Model>(_ object: M) throws -> M {
        try undelete(M.self, localID: object.localID)
    }

    /// Restores deleted objects. See `undelete(_:)`.
    ///
    /// - Parameter objects: The objects, which are found by their local IDs.
    /// - Throws: The errors of `undelete(_:)`.
    public func undelete<M: Model>(contentsOf objects: some Sequence<M>) throws {
        for object in objects { try undelete(M.self, localID: object.localID) }
    }

    /// Restores the deleted object with a local ID. See `undelete(_:)`.
    ///
    /// - Parameters:
    ///   - model: The model of the object.
    ///   - localID: The object's local ID.
    /// - Throws: The errors of `undelete(_:)`.
    @discardableResult
    public func undelete<M: Model>(_ model: M.Type, localID: LocalID) throws -> M {
        try checkUsable()
        let table = try store.schema.table(M.self)
        try undelete(localID, in: table)
        guard let found = try connection.tableStatements(table).find(localID) else {
            throw notFound(localID, in: table)
        }
        defer { found.reset() }
        return try object(of: found, in: table)
    }

    /// Restores a deleted object.
    func undelete(_ localID: LocalID, in table: TableLayout) throws {
        guard let state = try state(at: connection.tableStatements(table).find(localID), in: table) else {
            throw notFound(localID, in: table)
        }
        guard state.isDeleted else {
            throw TandemError(
                .objectNotDeleted, message: "The object \(localID) is not deleted.", advice: "No action is needed.",
                store: store.path, model: table.definition.name)
        }
        try savepoint { try undeleteRow(state, in: table) }
    }

    /// Makes a tombstone's row visible again. Called in a savepoint.
    func undeleteRow(_ state: ObjectState, in table: TableLayout) throws {
        try completeUndelete(state, in: table)
        try show(state, in: table)
    }

    /// Updates the operation of an object that is about to be restored.
    func completeUndelete(_ state: ObjectState, in table: TableLayout) throws {
        let isSynced = try delegate.willUndelete(state, in: table, by: self)
        try connection.execute(
            "UPDATE \(table.quotedTable) SET \"synced\" = ? WHERE \"__rid\" = ?",
            binding: [.integer(isSynced ? 1 : 0), .integer(state.rowID)])
    }

    /// Makes a row visible again. Called in a savepoint, after its operation was updated.
    func show(_ state: ObjectState, in table: TableLayout) throws {
        do {
            try connection.execute(
                "UPDATE \(table.quotedTable) SET \"deleted\" = 0 WHERE \"__rid\" = ?", binding: [.integer(state.rowID)])
        } catch let error as TandemError where error.isConstraint {
            throw try explainConstraint(error, row: nil, state: state, in: table)
        }
        try releaseDeadReferences(of: state, in: table)
        var state = state
        state.isDeleted = false
        try resolveWaiting(for: state, in: table)
    }

    /// Makes references to objects unresolved that were deleted while this object was deleted.
    private func releaseDeadReferences(of state: ObjectState, in table: TableLayout) throws {
        guard !table.links.isEmpty, let statement = try connection.tableStatements(table).find(state.localID) else {
            return
        }
        let row = RowEncoder()
        for property in table.definition.properties.indices { row.append(statement.value(table.column(property))) }
        statement.reset()
        let unresolved = try resolveLinks(row, of: table, from: .app)
        guard !unresolved.isEmpty else { return }
        for link in table.links where unresolved.contains(where: { $0.link.property == link.property }) {
            let column = table.definition.properties[link.property].column.quotedSQL
            try connection.execute(
                "UPDATE \(table.quotedTable) SET \(column) = ? WHERE \"__rid\" = ?",
                binding: [row.value(at: link.property), .integer(state.rowID)])
            if link.isToMany {
                try removeLinks(link, of: state.rowID, in: table)
                try writeLinks(link, of: state.rowID, row: row, in: table)
            }
        }
        for link in table.links {
            let others = try waitingEntries(of: state.rowID, property: link.property, in: table)
            let dead = unresolved.filter { $0.link.property == link.property }.map {
                UnresolvedReference(
                    link: link, target: $0.target,
                    position: WaitingEntry.position(ofPresent: $0.position, besides: others), id: $0.id)
            }
            try storeUnresolved(dead, of: state.rowID, in: table)
        }
    }
}

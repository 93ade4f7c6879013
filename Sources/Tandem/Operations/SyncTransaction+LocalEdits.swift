extension SyncTransaction {
    /// Inserts an object by its stored values, as the app would. See ``insert(_:)``.
    ///
    /// - Parameters:
    ///   - values: The values by the properties' names in Swift, references by local IDs. Missing properties have their
    ///     defaults.
    ///   - localID: The object's local ID, or `nil` to make a new one.
    package func insert(
        _ values: [String: StorageValue], in tableName: String, as localID: LocalID? = nil
    ) throws -> LocalID {
        try checkUsable()
        guard let table = store.schema.table(named: tableName) else { throw store.hasNoModel(of: tableName) }
        let row = RowEncoder()
        for property in table.definition.properties {
            if let value = values[property.name] {
                row.append(value)
            } else if let appendDefault = property.appendDefault {
                appendDefault(row)
            } else {
                throw TandemError(
                    .invalidValue, message: "The property must have a value.",
                    advice: "Give it one, or make the property optional.",
                    store: store.path, model: table.definition.name, property: property.name)
            }
        }
        let state = localID.map { ObjectState(localID: $0) } ?? ObjectState()
        return try savepoint { try transaction.insert(row, state: state, into: table) }.localID
    }

    /// Changes or deletes an object by its stored values, as the app would. A deleted object is restored first.
    ///
    /// - Parameter values: The values by the properties' names in Swift, references by local IDs, or `nil` to delete
    ///   the object. Equal values are not written.
    /// - Throws: The errors of a write by the app. ``TandemError/Code/notFound`` if the object does not exist.
    package func change(_ localID: LocalID, in table: String, to values: [String: StorageValue]?) throws {
        try checkUsable()
        guard let table = store.schema.table(named: table) else { throw store.hasNoModel(of: table) }
        guard let values else {
            _ = try transaction.delete(localID, in: table)
            return
        }
        guard let state = try state(at: connection.tableStatements(table).find(localID), in: table) else {
            throw notFound(localID, in: table)
        }
        let here = try valuesIncludingUnresolved(of: state, in: table)
        let row = RowEncoder()
        var changed: Set<Int> = []
        for (index, property) in table.definition.properties.enumerated() {
            if let value = values[property.name], value != here[index] {
                row.append(value)
                changed.insert(index)
            } else {
                row.appendNull()
            }
        }
        if state.isDeleted {
            _ = try transaction.revive(state, with: row, unresolved: nil, in: table, only: changed)
        } else if !changed.isEmpty {
            guard let again = try connection.tableStatements(table).find(localID, rowID: state.rowID) else {
                throw notFound(localID, in: table)
            }
            _ = try savepoint {
                try transaction.update(again, with: row, in: table, only: changed, keepsWaiting: false)
            }
        }
    }
}

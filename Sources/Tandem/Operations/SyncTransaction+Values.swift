import Foundation

/// An object of a local store, by its stored values.
package struct LocalObject: Hashable, Sendable {
    /// Its local ID.
    package var localID: LocalID
    /// Its server ID, or `nil` if the server is not known to have it.
    package var serverID: ServerID?
    /// The server's concurrency token for its last known state.
    package var version: String?
    /// The time when the server created it.
    package var createdAt: Date?
    /// The time of the last change on the server.
    package var updatedAt: Date?
    /// Whether it is deleted here, and the server has not yet acknowledged that.
    package var isDeleted: Bool
    /// All its properties by their names in Swift, with references by local IDs. An unresolved reference has the ID
    /// that it waits for.
    package var values: [String: StorageValue]
    /// The members that its model does not know, as the remote wrote them; `nil` if there are none.
    package var extras: [UInt8]?

    /// Creates an object.
    package init(
        localID: LocalID, serverID: ServerID? = nil, version: String? = nil, createdAt: Date? = nil,
        updatedAt: Date? = nil, isDeleted: Bool = false, values: [String: StorageValue], extras: [UInt8]? = nil
    ) {
        self.localID = localID
        self.serverID = serverID
        self.version = version
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.isDeleted = isDeleted
        self.values = values
        self.extras = extras
    }
}

extension ReadTransaction {
    /// Returns an object by its stored values, even a deleted one; `nil` if it does not exist.
    package func object(_ localID: LocalID, in tableName: String) throws -> LocalObject? {
        try checkUsable()
        guard let table = store.schema.table(named: tableName),
            let (state, values) = try storedRow(where: "localID", is: .text(localID.rawValue), in: table)
        else { return nil }
        return LocalObject(
            localID: localID, serverID: state.serverID, version: state.version, createdAt: state.createdAt,
            updatedAt: state.updatedAt, isDeleted: state.isDeleted,
            values: Dictionary(uniqueKeysWithValues: zip(table.definition.properties.map(\.name), values)),
            extras: try extras(of: localID, in: tableName))
    }

    /// Returns the state and the stored values of the row with a key, in the order of the properties. The values
    /// include unresolved references.
    func storedRow(
        where column: String, is key: StorageValue, in table: TableLayout
    ) throws -> (state: ObjectState, values: [StorageValue])? {
        let connection = try connectionForReading(searching: false)
        let statement = try connection.statement(
            "SELECT \(table.selectList) FROM \(table.quotedTable) WHERE \(column.quotedSQL) = ?")
        statement.bind(1, to: key)
        let state: ObjectState
        var values: [StorageValue]
        do {
            defer { statement.reset() }
            guard try statement.step() else { return nil }
            do {
                state = try statement.row().state
            } catch let error as InvalidStoredValue {
                throw store.invalid(error, in: table)
            }
            values = table.definition.properties.indices.map { statement.value(table.column($0)) }
        }
        for link in table.links {
            let waiting = try connection.waitingEntries(of: state.rowID, link.property, in: table)
            values[link.property] = WaitingEntry.whole(values[link.property], with: waiting, isToMany: link.isToMany)
        }
        return (state, values)
    }

    /// Returns the local IDs of a table's objects, including deleted ones, in their order.
    package func localIDs(in table: String) throws -> [LocalID] {
        guard let table = store.schema.table(named: table) else { return [] }
        let statement = try connectionForReading(searching: false).statement(
            "SELECT \"localID\" FROM \(table.quotedTable) ORDER BY \"localID\"")
        defer { statement.reset() }
        var ids: [LocalID] = []
        while try statement.step() { ids.append(LocalID(try statement.text(0))) }
        return ids
    }
}

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
        guard let table = store.schema.table(named: tableName) else {
            throw TandemError(
                .unknownModel, message: "The store was not opened with a model of the table \(tableName).",
                advice: "Add it to the models given to Store(at:models:).", store: store.path)
        }
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
}

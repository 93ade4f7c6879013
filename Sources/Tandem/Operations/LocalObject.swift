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
        let rows = try connection.rows(
            "SELECT \(table.selectList) FROM \(table.quotedTable) WHERE \(column.quotedSQL) = ?", binding: [key]
        ) { row in
            (
                state: try state(of: row, in: table),
                values: table.definition.properties.indices.map { row.value(table.column($0)) }
            )
        }
        guard var row = rows.first else { return nil }
        for link in table.links {
            let waiting = try connection.waitingEntries(of: row.state.rowID, property: link.property, in: table)
            let stored = row.values[link.property]
            row.values[link.property] = WaitingEntry.whole(stored, with: waiting, isToMany: link.isToMany)
        }
        return row
    }

    /// Returns the local IDs of a table's objects, including deleted ones, in their order.
    package func localIDs(in table: String) throws -> [LocalID] {
        guard let table = store.schema.table(named: table) else { return [] }
        return try connectionForReading(searching: false).rows(
            "SELECT \"localID\" FROM \(table.quotedTable) ORDER BY \"localID\""
        ) { LocalID(try $0.text(0)) }
    }
}

extension ReadTransaction {
    /// Returns the tables that hold sync data and whose models the store was opened without. Sync data are objects with
    /// a server ID, operations, deferred items and sync tokens. The tables are in the order of their names.
    package func exchangedTablesWithoutModel() throws -> [String] {
        let connection = try connectionForReading(searching: false)
        let found = try connection.rows(
            """
            SELECT "table" FROM "__operations" UNION SELECT "table" FROM "__sync_tokens" \
            UNION SELECT "table" FROM "__server_items"
            """
        ) { try $0.text(0) }
        var tables = Set(found)
        for model in try absentModels(connection) where !model.isLocalOnly && !tables.contains(model.table) {
            let isKnown = "SELECT EXISTS (SELECT 1 FROM \(model.table.quotedSQL) WHERE \"serverID\" IS NOT NULL)"
            if try connection.value(isKnown) == .integer(1) { tables.insert(model.table) }
        }
        return tables.filter { store.schema.table(named: $0) == nil }.sorted()
    }

    /// Returns the models that have tables in the store, but with which it was not opened.
    private func absentModels(_ connection: Connection) throws -> [SchemaRecord.Model] {
        guard
            case .text(let json)? = try connection.value(
                "SELECT \"value\" FROM \"__settings\" WHERE \"key\" = 'schema'"),
            let record = try? SchemaRecord(json: json)
        else {
            throw TandemError(
                .corrupt, message: "The store's setting \"schema\" is missing or damaged.", advice: "Restore a backup.",
                store: store.path)
        }
        return record.models.filter { store.schema.table(named: $0.table) == nil }
    }
}

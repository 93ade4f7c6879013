// The data that sync keeps besides the objects: deferred server items, properties that a model does not have, and delta
// tokens.

extension Migrator {
    /// Removes the server data of a table that was removed or is no longer sent.
    func forgetServer(of table: String) throws {
        for name in ["__server_items", "__server_extras", "__sync_tokens"] {
            try connection.execute("DELETE FROM \(name.quotedSQL) WHERE \"table\" = ?", binding: [.text(table)])
        }
    }

    /// Removes delta tokens, so that missing data is fetched again from the start.
    ///
    /// Data is missing for properties that are new or sent from now on. It is also missing for rows that could not be
    /// salvaged. A delta token would skip this data.
    func forgetStaleTokens() throws {
        for table in schema.tables {
            guard let old = migration.record.model(named: table.definition.name) else { continue }
            let isWanting = table.definition.properties.contains { property in
                !property.isLocalOnly && old.property(named: property.name)?.isLocalOnly != false
            }
            if isWanting || old.isSalvaged == true || old.isLocalOnly != table.isLocalOnly {
                try connection.execute(
                    "DELETE FROM \"__sync_tokens\" WHERE \"table\" = ?", binding: [.text(table.table)])
            }
        }
    }

    /// Removes the data of objects that could not be salvaged. Their operations have nothing to send. Deferred server
    /// items of these objects remain, and become new objects.
    func forgetLostObjects(of table: TableLayout) throws {
        try connection.execute(
            """
            DELETE FROM "__operations" WHERE "table" = ? AND NOT EXISTS (SELECT 1 FROM \(table.quotedTable) t \
            WHERE t."__rid" = "__operations"."object" AND t."localID" = "__operations"."localID")
            """, binding: [.text(table.table)])
        try connection.execute(
            #"DELETE FROM "__operation_errors" WHERE "operation" NOT IN (SELECT "id" FROM "__operations")"#)
        try connection.execute(
            """
            DELETE FROM "__unresolved" WHERE "table" = ? AND "object" NOT IN (SELECT "__rid" FROM \(table.quotedTable))
            """, binding: [.text(table.table)])
        let isLost = "\"object\" NOT IN (SELECT \"__rid\" FROM \(table.quotedTable))"
        try connection.execute(
            "UPDATE \"__server_items\" SET \"object\" = NULL WHERE \"table\" = ? AND \(isLost)",
            binding: [.text(table.table)])
        try connection.execute(
            "DELETE FROM \"__server_extras\" WHERE \"table\" = ? AND \(isLost)", binding: [.text(table.table)])
    }
}

// What sync keeps beside the objects: items of a server set aside, members that a model does not know, delta tokens.

extension Migrator {
    /// A table is gone, or is not sent any more: nothing of a server is left to be known of it.
    func forgetServer(of table: String) throws {
        for name in ["__server_items", "__server_extras", "__sync_tokens"] {
            try connection.execute("DELETE FROM \(name.quotedSQL) WHERE \"table\" = ?", [.text(table)])
        }
    }

    /// What the rows that are there do not hold is fetched again from the start: the values of a property that is new,
    /// or sent from now on, and rows that could not be salvaged. A delta token would skip them.
    func forgetStaleTokens() throws {
        for table in schema.tables {
            guard let old = migration.record.model(named: table.definition.name) else { continue }
            let isWanting = table.definition.properties.contains { property in
                !property.isLocalOnly && old.property(named: property.name)?.isLocalOnly != false
            }
            if isWanting || old.isSalvaged == true || old.isLocalOnly != table.isLocalOnly {
                try connection.execute("DELETE FROM \"__sync_tokens\" WHERE \"table\" = ?", [.text(table.table)])
            }
        }
    }

    /// What is kept of objects that could not be salvaged: nothing is left that could be sent, and what a server has
    /// said of them waits to be taken for new objects.
    func forgetLostObjects(of table: TableLayout) throws {
        try connection.execute(
            """
            DELETE FROM "__operations" WHERE "table" = ? AND NOT EXISTS (SELECT 1 FROM \(table.quotedTable) t \
            WHERE t."__rid" = "__operations"."object" AND t."localID" = "__operations"."localID")
            """, [.text(table.table)])
        try connection.execute(
            #"DELETE FROM "__operation_errors" WHERE "operation" NOT IN (SELECT "id" FROM "__operations")"#)
        try connection.execute(
            """
            DELETE FROM "__unresolved" WHERE "table" = ? AND "object" NOT IN (SELECT "__rid" FROM \(table.quotedTable))
            """, [.text(table.table)])
        let isLost = "\"object\" NOT IN (SELECT \"__rid\" FROM \(table.quotedTable))"
        try connection.execute(
            "UPDATE \"__server_items\" SET \"object\" = NULL WHERE \"table\" = ? AND \(isLost)", [.text(table.table)])
        try connection.execute(
            "DELETE FROM \"__server_extras\" WHERE \"table\" = ? AND \(isLost)", [.text(table.table)])
    }
}

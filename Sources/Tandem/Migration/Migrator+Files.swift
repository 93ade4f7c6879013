extension Migrator {
    /// Removes the triggers of a table that is renamed or dropped. What then happens to its rows is not a change of
    /// theirs.
    func dropFileTriggers(of table: String) throws {
        for name in try sql(ofAll: "trigger", of: table).keys {
            try connection.execute("DROP TRIGGER \(name.quotedSQL)")
        }
    }

    /// Updates triggers and uses to match the tables, if any of them has, or had, attachments. Then frees unused files.
    /// Their blobs are removed from the disk when the store is open.
    ///
    /// - Parameter rewritten: The tables whose rows were rewritten.
    func syncFiles(rewritten: [TableLayout]) throws {
        var isStale = !migration.deletedTables.filter(\.hasAttachments).isEmpty
        for table in schema.tables {
            let wanted = FileUses(table.definition)?.triggers ?? []
            let existing = try sql(ofAll: "trigger", of: table.table)
            let old = migration.record.model(named: table.definition.name)
            if rewritten.contains(where: { $0 === table }), old?.hasAttachments == true || !wanted.isEmpty {
                isStale = true
            }
            guard Set(existing.values) != Set(wanted.map(\.sql)) else { continue }
            isStale = true
            for name in existing.keys { try connection.execute("DROP TRIGGER \(name.quotedSQL)") }
            for trigger in wanted { try connection.execute(trigger.sql) }
        }
        guard isStale else { return }
        // A model that the app no longer has keeps its objects, and they keep their files.
        let names = Set(schema.tables.map(\.definition.name))
        let absent = migration.record.models.filter { !names.contains($0.name) && $0.hasAttachments }
        let kept = (absent.map(\.table) + goneTablesWithFiles).map(\.quotedText).joined(separator: ", ")
        try connection.execute("DELETE FROM \"__file_uses\" WHERE \"table\" NOT IN (\(kept))")
        for table in schema.tables {
            guard let uses = FileUses(table.definition) else { continue }
            for sql in uses.fill { try connection.execute(sql) }
        }
        try adoptLostFiles()
        try connection.execute(UploadOwnershipSQL.queueLost)
        try connection.execute(UploadOwnershipSQL.forgetLost)
        // A damaged store may have lost objects.
        try Self.freeUnusedFiles(connection)
        for table in schema.tables {
            guard let old = migration.record.model(named: table.definition.name), old.hasAttachments else { continue }
            try connection.execute(
                """
                UPDATE \(table.quotedTable) SET "synced" = \(table.isSyncedSQL) WHERE NOT EXISTS \
                (SELECT 1 FROM "__operations" o WHERE o."table" = \(table.table.quotedText) \
                AND o."object" = \(table.quotedTable)."__rid") AND "synced" <> \(table.isSyncedSQL)
                """)
        }
    }

    /// Queues files without uses for removal.
    static func freeUnusedFiles(_ connection: Connection) throws {
        try connection.execute(
            """
            INSERT OR IGNORE INTO "__file_garbage" SELECT "id" FROM "__files" \
            WHERE "id" NOT IN (SELECT "file" FROM "__file_uses")
            """)
        try connection.execute(FileGarbage.keepUsed)
        try connection.execute(FileGarbage.forgetFiles)
        try connection.execute(FileGarbage.empty)
    }

    /// Adds rows for files that objects name and the store does not know. A damaged store may have lost them with the
    /// table of files. The new rows contain the values from the objects.
    private func adoptLostFiles() throws {
        for table in schema.tables {
            for column in table.attachments {
                let value = "t.\(column.column.quotedSQL)"
                let entry = column.isList ? "entry.value" : value
                let from =
                    column.isList ? "\(table.quotedTable) t, json_each(\(value)) entry" : "\(table.quotedTable) t"
                try connection.execute(
                    """
                    INSERT OR IGNORE INTO "__files" \
                    ("id", "sealed", "name", "type", "size", "sha256", "state", "url", "reason", "usedAt") \
                    SELECT json_extract(\(entry), '$.id'), 0, ifnull(json_extract(\(entry), '$.name'), ''), \
                    ifnull(json_extract(\(entry), '$.type'), ''), json_extract(\(entry), '$.size'), \
                    json_extract(\(entry), '$.sha256'), \
                    CASE WHEN json_extract(\(entry), '$.url') IS NULL THEN 3 ELSE 2 END, \
                    json_extract(\(entry), '$.url'), CASE WHEN json_extract(\(entry), '$.url') IS NULL \
                    THEN \(FileState.lost.quotedText) END, 0 FROM \(from) WHERE \(value) IS NOT NULL \
                    AND json_extract(\(entry), '$.id') NOT IN (SELECT "id" FROM "__files")
                    """)
            }
        }
    }
}

extension Migrator {
    /// Rewrites the operations of a table: they name columns, and contain stored values.
    ///
    /// - Parameter plan: The sources of the columns, or `nil` if the table is unchanged.
    func rewriteOperations(of table: TableLayout, plan: [ColumnPlan]?) throws {
        let update = Int64(PendingOperation.Kind.update.rawValue)
        let rewritten = try connection.rows(
            """
            SELECT "id", "changes", "sent", "attempted", "kind", "object", "replaced", "attemptedKinds" \
            FROM "__operations" WHERE "table" = ? \
            AND coalesce("changes", "sent", "attempted") IS NOT NULL
            """, binding: [.text(table.table)]
        ) { row in
            func rewrite(_ column: Int32) throws -> PropertyBases? {
                row.isNull(column) ? nil : try self.rewrite(row.bytes(column), of: table, plan: plan)
            }
            let changes = try rewrite(1)
            let sent = try rewrite(2)
            let attempted =
                row.isNull(3) ? AttemptedValues() : try self.rewrite(attempted: row.bytes(3), of: table, plan: plan)
            let isEmpty = changes?.isEmpty ?? true && sent?.isEmpty ?? true
            // An update of only removed or no longer sent properties has nothing left to send. After a delete that may
            // have reached the server, the object must be undeleted.
            let isOver =
                isEmpty && row.integer(4) == update && !AttemptedKinds(rawValue: row.integer(7)).contains(.delete)
            let replaced = isEmpty && row.value(6) == .integer(update) ? .null : row.value(6)
            return (
                id: row.integer(0), object: row.integer(5), changes: changes, sent: sent, attempted: attempted,
                isOver: isOver, replaced: replaced
            )
        }
        for operation in rewritten {
            if operation.isOver {
                try connection.execute(
                    "DELETE FROM \"__operations\" WHERE \"id\" = ?", binding: [.integer(operation.id)])
                try connection.execute(
                    "DELETE FROM \"__operation_errors\" WHERE \"operation\" = ?", binding: [.integer(operation.id)])
                try connection.execute(
                    "UPDATE \(table.quotedTable) SET \"synced\" = \(table.isSyncedSQL) WHERE \"__rid\" = ?",
                    binding: [.integer(operation.object)])
            } else {
                // The column is NULL if no attempt is in flight. It is not NULL if the sent values became empty.
                try connection.execute(
                    """
                    UPDATE "__operations" SET "changes" = ?, "sent" = ?, "attempted" = ?, "replaced" = ? WHERE "id" = ?
                    """,
                    binding: [
                        operation.changes?.encoded ?? .null, operation.sent.map { .blob($0.bytes) } ?? .null,
                        operation.attempted.encoded, operation.replaced, .integer(operation.id),
                    ])
            }
        }
    }

    private func rewrite(
        _ bytes: UnsafeRawBufferPointer, of table: TableLayout, plan: [ColumnPlan]?
    ) throws -> PropertyBases {
        let bases = try connection.decodingOperation(of: table.definition.name) { try PropertyBases(bytes: bytes) }
        return PropertyBases(
            try bases.entries.compactMap { entry in
                guard let step = try step(of: entry.column, in: table, plan: plan) else { return nil }
                return (step.column, try step.convert(entry.value))
            })
    }

    private func rewrite(
        attempted bytes: UnsafeRawBufferPointer, of table: TableLayout, plan: [ColumnPlan]?
    ) throws -> AttemptedValues {
        let old = try connection.decodingOperation(of: table.definition.name) { try AttemptedValues(bytes: bytes) }
        return AttemptedValues(
            columns: try old.columns.compactMap { column in
                guard let step = try step(of: column.name, in: table, plan: plan) else { return nil }
                func convert(_ entry: AttemptedValues.Entry) -> AttemptedValues.Entry? {
                    switch entry {
                    // The server can't return a value in a type that can't represent it. The rows' own values were
                    // converted before.
                    case .value(let value): (try? step.convert(value)).map { .value($0) }
                    // A digest does not determine the value in another type.
                    case .digest: step.keepsValues ? entry : nil
                    }
                }
                let rewritten = AttemptedValues.Column(
                    name: step.column, entries: column.entries.compactMap(convert),
                    current: column.current.flatMap(convert))
                return rewritten.entries.isEmpty && rewritten.current == nil ? nil : rewritten
            })
    }

    /// Returns the new column for an old column that operations name.
    ///
    /// Returns `nil` if the column was removed or is no longer sent.
    private func step(
        of column: String, in table: TableLayout, plan: [ColumnPlan]?
    ) throws -> (column: String, keepsValues: Bool, convert: (StorageValue) throws -> StorageValue)? {
        guard let plan else {
            let property = table.definition.properties.first { $0.column == column }
            return property.map(\.isLocalOnly) == false ? (column, true, { $0 }) : nil
        }
        guard let step = plan.first(where: { $0.oldColumn == column }), !step.property.isLocalOnly else { return nil }
        return (step.property.column, step.keepsValues, step.converted)
    }

    /// Adapts the operations to a change of `localOnly`. A model that is sent from now on gets inserts for objects that
    /// the server does not know. A model that is no longer sent loses its operations and tombstones. Operations also
    /// lose a property that is no longer sent.
    func followLocalOnly(_ old: SchemaRecord.Model, in table: TableLayout, plan: [ColumnPlan]?) throws {
        guard old.isLocalOnly != table.isLocalOnly else {
            let isLessSent = table.definition.properties.contains { property in
                property.isLocalOnly && old.property(named: property.name)?.isLocalOnly == false
            }
            if isLessSent, plan == nil { try rewriteOperations(of: table, plan: nil) }
            return
        }
        if table.isLocalOnly {
            try connection.execute("DELETE FROM \"__operations\" WHERE \"table\" = ?", binding: [.text(table.table)])
            try connection.execute(
                "DELETE FROM \"__operation_errors\" WHERE \"operation\" NOT IN (SELECT \"id\" FROM \"__operations\")")
            try eraseTombstones(of: table)
            try forgetServer(of: table.table)
            try connection.execute("UPDATE \(table.quotedTable) SET \"synced\" = \(table.isSyncedSQL)")
        } else {
            try connection.execute(
                """
                INSERT INTO "__operations" ("table", "object", "localID", "kind", "changedAt") \
                SELECT ?, "__rid", "localID", 1, ? FROM \(table.quotedTable) \
                WHERE "serverID" IS NULL AND "deleted" = 0 ORDER BY "__rid"
                """,
                binding: [.text(table.table), .real(connection.migrationTime.timeIntervalSinceReferenceDate)])
        }
    }

    private func eraseTombstones(of table: TableLayout) throws {
        let tombstones = "SELECT \"__rid\" FROM \(table.quotedTable) WHERE \"deleted\" = 1"
        guard try connection.value("\(tombstones) LIMIT 1") != nil else { return }
        for property in table.definition.properties where property.isToMany {
            let links = table.definition.linkTable(property).quotedSQL
            try connection.execute("DELETE FROM \(links) WHERE \"object\" IN (\(tombstones))")
        }
        try connection.execute(
            "DELETE FROM \"__unresolved\" WHERE \"table\" = ? AND \"object\" IN (\(tombstones))",
            binding: [.text(table.table)])
        try connection.execute("DELETE FROM \(table.quotedTable) WHERE \"deleted\" = 1")
        try rebuildSearch(of: table)
    }
}

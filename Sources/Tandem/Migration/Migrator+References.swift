extension Migrator {
    /// Renames the columns of unresolved references. References of removed columns are dropped.
    func renameWaitingColumns(of table: TableLayout, plan: [ColumnPlan]) throws {
        let waiting = try connection.rows(
            "SELECT \"target\", \"id\", \"object\", \"column\", \"position\" FROM \"__unresolved\" WHERE \"table\" = ?",
            binding: [.text(table.table)]
        ) { row in (0..<5).map { row.value($0) } }
        guard !waiting.isEmpty else { return }
        try connection.execute("DELETE FROM \"__unresolved\" WHERE \"table\" = ?", binding: [.text(table.table)])
        for row in waiting {
            guard case .text(let column) = row[3], let step = plan.first(where: { $0.oldColumn == column }) else {
                continue
            }
            try connection.storeUnresolved(
                [row[0], row[1], .text(table.table), row[2], .text(step.property.column), row[4]])
        }
    }

    /// Makes references to deleted objects unresolved. A model that was absent for a while may refer to objects that
    /// were deleted in the meantime.
    func waitForDeadReferences() throws {
        for table in schema.tables {
            for (link, target) in zip(table.links, table.linkTargets)
            where mayHaveDeadReferences(link, of: table, to: target) {
                let property = table.definition.properties[link.property]
                if link.isToMany {
                    try waitForDeadEntries(of: property, in: table, target: target)
                } else {
                    try waitForDeadReference(property, in: table, target: target)
                }
            }
        }
    }

    /// Returns whether objects may be missing, or may have been deleted, while references to them stayed.
    private func mayHaveDeadReferences(
        _ link: TableLayout.Link, of table: TableLayout, to target: TableLayout
    ) -> Bool {
        let property = table.definition.properties[link.property]
        func isWhole(_ model: SchemaRecord.Model) -> Bool {
            model.isSalvaged != true && !migration.changedTables.contains(model.table)
        }
        guard let old = migration.record.model(named: table.definition.name) else { return false }
        guard old.isAbsent != true, isWhole(old), let oldProperty = old.property(named: property.name),
            oldProperty.kind == property.kind, migration.conversion(of: oldProperty, in: old) == nil,
            let oldTarget = migration.record.model(named: target.definition.name), isWhole(oldTarget)
        else { return true }
        return false
    }

    private func waitForDeadReference(
        _ property: PropertyDefinition, in table: TableLayout, target: TableLayout
    ) throws {
        let column = property.column.quotedSQL
        let dead = """
            \(column) IS NOT NULL AND "deleted" = 0 AND NOT EXISTS (SELECT 1 FROM \(target.quotedTable) target \
            WHERE target."localID" = \(table.quotedTable).\(column) AND target."deleted" = 0)
            """
        try connection.execute(
            """
            INSERT OR REPLACE INTO "__unresolved" ("target", "id", "table", "object", "column", "position") \
            SELECT ?, \(column), ?, "__rid", ?, 0 FROM \(table.quotedTable) WHERE \(dead)
            """, binding: [.text(target.table), .text(table.table), .text(property.column)])
        try connection.execute("UPDATE \(table.quotedTable) SET \(column) = NULL WHERE \(dead)")
    }

    private func waitForDeadEntries(
        of property: PropertyDefinition, in table: TableLayout, target: TableLayout
    ) throws {
        let links = table.definition.linkTable(property).quotedSQL
        let select = try connection.uncachedStatement(
            """
            SELECT l."object", l."position" FROM \(links) l JOIN \(table.quotedTable) t ON t."__rid" = l."object" \
            WHERE t."deleted" = 0 AND NOT EXISTS (SELECT 1 FROM \(target.quotedTable) target \
            WHERE target."localID" = l."target" AND target."deleted" = 0) ORDER BY 1, 2
            """)
        var dead: [Int64: Set<Int>] = [:]
        while try select.step() { dead[select.integer(0), default: []].insert(Int(select.integer(1))) }
        select.reset()
        for (object, positions) in dead.sorted(by: { $0.key < $1.key }) {
            guard
                case .text(let text)? = try connection.value(
                    "SELECT \(property.column.quotedSQL) FROM \(table.quotedTable) WHERE \"__rid\" = ?",
                    binding: [.integer(object)])
            else { continue }
            let ids = Array(try LinkList.parse(text).enumerated())
            for (position, id) in ids where positions.contains(position) {
                try connection.storeUnresolved([
                    .text(target.table), .text(id.rawValue), .text(table.table), .integer(object),
                    .text(property.column), .integer(Int64(position)),
                ])
            }
            let live = ids.filter { !positions.contains($0.offset) }.map(\.element)
            try connection.replaceList(live, of: object, property: property, in: table)
        }
    }
}

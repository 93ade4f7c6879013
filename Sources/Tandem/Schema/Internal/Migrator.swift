import Foundation

/// Turns a store's tables into those of the models, inside a transaction.
///
/// A table whose columns differ is written anew, row by row: one way for all changes, and each value passes through
/// the models' own encoding, defaults and folding.
final class Migrator {
    private let connection: Connection
    private let schema: Schema
    private let migration: Migration
    /// Whether the folding rules have changed since the twins were written.
    private let refolds: Bool

    init(connection: Connection, schema: Schema, migration: Migration, refolds: Bool) {
        self.connection = connection
        self.schema = schema
        self.migration = migration
        self.refolds = refolds
    }

    /// The models' schema, and the tables of models that the app no longer has: their data is kept.
    var finalRecord: SchemaRecord {
        var record = SchemaRecord(models: schema.tables.map { SchemaRecord.Model($0.definition) })
        let names = Set(record.models.map(\.name))
        record.models += migration.record.models.filter { !names.contains($0.name) }
        return record
    }

    func run() throws {
        for model in migration.deletedTables { try drop(model) }
        adoptRenames()
        try refuseUnruledRenames()
        var rebuilt: [TableLayout] = []
        for table in schema.tables {
            let wanted = SchemaRecord.Model(table.definition)
            if let old = migration.record.model(named: table.definition.name) {
                if try needsRebuild(old, wanted, table) {
                    try rebuild(table, from: old)
                    rebuilt.append(table)
                } else {
                    try syncIndexes(table)
                }
                try followLocalOnly(old, table)
            } else {
                try refuseTakenName(table)
                try create(table)
            }
        }
        for table in rebuilt { try checkValues(of: table) }
        try waitForDeadReferences()
    }

    // MARK: Names

    private func adoptRenames() {
        for table in schema.tables {
            let definition = table.definition
            if migration.record.model(named: definition.name) == nil,
                let old = definition.formerNames.first(where: { migration.record.model(named: $0) != nil })
            {
                migration.adopt(renamedModel: old, to: definition.name)
            }
            for property in definition.properties {
                guard let model = migration.record.model(named: definition.name),
                    model.property(named: property.name) == nil,
                    let old = property.formerNames.first(where: { model.property(named: $0) != nil })
                else { continue }
                migration.adopt(renamedProperty: old, to: property.name, of: definition.name)
            }
        }
    }

    /// A model that has gone, and a new one with the same properties, is most likely a rename. Taken for an addition
    /// it would leave the old objects behind.
    private func refuseUnruledRenames() throws {
        let names = Set(schema.tables.map(\.definition.name))
        let gone = migration.record.models.filter { !names.contains($0.name) }
        for table in schema.tables where migration.record.model(named: table.definition.name) == nil {
            let new = SchemaRecord.Model(table.definition)
            guard !new.properties.isEmpty else { continue }
            for old in gone where old.properties.map(\.name) == new.properties.map(\.name) {
                guard try connection.value("SELECT 1 FROM \(old.table.quotedSQL) LIMIT 1") != nil else { continue }
                throw TandemError(
                    .schemaMismatch,
                    "The store has objects of the model \(old.name), which is gone, with the same properties.",
                    advice: "If it was renamed, say so: @Model(renamedFrom: \"\(old.name)\"). If not, drop it in a "
                        + "migration step: deleteModel(\"\(old.name)\").",
                    store: connection.path, model: new.name)
            }
        }
    }

    /// A new model's table must not be that of a model that is gone.
    private func refuseTakenName(_ table: TableLayout) throws {
        let names = Set(schema.tables.map(\.definition.name))
        guard let old = migration.record.models.first(where: {
            $0.table.lowercased() == table.table.lowercased() && !names.contains($0.name)
        }) else { return }
        throw TandemError(
            .schemaMismatch, "Its table, \(table.table), holds the objects of the model \(old.name), which is gone.",
            advice: "If it was renamed, say so: @Model(renamedFrom: \"\(old.name)\"); else choose another table name.",
            store: connection.path, model: table.definition.name)
    }

    // MARK: Making

    private func create(_ table: TableLayout) throws {
        let builder = TableBuilder(definition: table.definition)
        try connection.execute(builder.createTable(named: table.table))
        if let sql = builder.createSearchTable { try connection.execute(sql) }
        for sql in builder.createLinkTables { try connection.execute(sql) }
        try syncIndexes(table)
    }

    private func syncIndexes(_ table: TableLayout) throws {
        let wanted = TableBuilder(definition: table.definition).indexes
        let statement = try connection.uncachedStatement(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL")
        statement.bind(1, table.table)
        var existing: [String: String] = [:]
        while try statement.step() { existing[try statement.text(0)] = try statement.text(1) }
        statement.reset()
        for (name, sql) in existing where wanted.first(where: { $0.name == name })?.sql != sql {
            try connection.execute("DROP INDEX \(name.quotedSQL)")
        }
        for index in wanted where existing[index.name] != index.sql {
            do {
                try connection.execute(index.sql)
            } catch let error as TandemError where error.isConstraint {
                throw TandemError(
                    .duplicateValue, "Objects in the store have the same value, which is to be unique from now on.",
                    advice: "Make them differ in a migration step.", store: connection.path,
                    model: table.definition.name, property: index.uniqueOver.joined(separator: "+"),
                    sqliteCode: error.sqliteCode)
            }
        }
    }

    private func drop(_ model: SchemaRecord.Model) throws {
        if let searchTable = model.searchTable { try connection.execute("DROP TABLE \(searchTable.quotedSQL)") }
        for name in model.linkTables { try connection.execute("DROP TABLE \(name.quotedSQL)") }
        try connection.execute("DROP TABLE \(model.table.quotedSQL)")
        try connection.execute("DELETE FROM \"__unresolved\" WHERE \"table\" = ?", [.text(model.table)])
        try connection.execute(
            "DELETE FROM \"__operation_errors\" WHERE \"operation\" IN "
                + "(SELECT \"id\" FROM \"__operations\" WHERE \"table\" = ?)", [.text(model.table)])
        try connection.execute("DELETE FROM \"__operations\" WHERE \"table\" = ?", [.text(model.table)])
    }

    // MARK: Rewriting

    private func needsRebuild(_ old: SchemaRecord.Model, _ wanted: SchemaRecord.Model, _ table: TableLayout) throws
        -> Bool
    {
        func columns(_ model: SchemaRecord.Model) -> [SchemaRecord.Property] {
            model.properties.map { property in
                // What needs no change of the table.
                var property = property
                property.name = ""
                property.isIndexed = false
                property.isUnique = false
                property.isLocalOnly = false
                return property
            }
        }
        // A property that left its column to a new one of the same type is another property.
        let moved = wanted.properties.contains { property in
            old.properties.contains { $0.column == property.column && $0.name != property.name }
        }
        return old.table != wanted.table || columns(old) != columns(wanted) || moved
            || (refolds && !table.folds.isEmpty)
            || migration.conversions.keys.contains { $0.hasPrefix("\(wanted.name).") }
    }

    private func rebuild(_ table: TableLayout, from old: SchemaRecord.Model) throws {
        let definition = table.definition
        let builder = TableBuilder(definition: definition)
        let plan = try definition.properties.map { try ColumnPlan($0, table, old, migration, path: connection.path) }
        if let searchTable = old.searchTable { try connection.execute("DROP TABLE \(searchTable.quotedSQL)") }
        for name in old.linkTables { try connection.execute("DROP TABLE \(name.quotedSQL)") }
        let oldTable = "__old_\(old.table)"
        try connection.execute("ALTER TABLE \(old.table.quotedSQL) RENAME TO \(oldTable.quotedSQL)")
        try connection.execute(builder.createTable(named: table.table))
        try copy(table, plan, from: oldTable)
        try connection.execute("DROP TABLE \(oldTable.quotedSQL)")
        for sql in builder.createLinkTables { try connection.execute(sql) }
        try fillLinkTables(table)
        if let sql = builder.createSearchTable, let searchTable = definition.searchTable?.quotedSQL {
            try connection.execute(sql)
            try connection.execute("INSERT INTO \(searchTable) (\(searchTable)) VALUES ('rebuild')")
        }
        try syncIndexes(table)
        try rewriteOperations(table, plan, old)
    }

    private func copy(_ table: TableLayout, _ plan: [ColumnPlan], from oldTable: String) throws {
        let state = RowReader.stateColumns.map(\.quotedSQL)
        let oldColumns = plan.compactMap(\.oldColumn).map(\.quotedSQL)
        let select = try connection.uncachedStatement(
            "SELECT \((state + oldColumns).joined(separator: ", ")) FROM \(oldTable.quotedSQL) ORDER BY \"__rid\"")
        let insert = try connection.uncachedStatement(
            table.insertSQL.replacingOccurrences(of: "(\"localID\"", with: "(\"__rid\", \"localID\"")
                .replacingOccurrences(of: "VALUES (?", with: "VALUES (?, ?"))
        let row = RowBuffer()
        let twins = RowBuffer()
        while try select.step() {
            row.removeAll()
            twins.removeAll()
            var column = Int32(state.count)
            for step in plan {
                if step.oldColumn == nil {
                    try step.appendDefault(to: row)
                } else {
                    try step.append(select.value(column), to: row)
                    column += 1
                }
            }
            for fold in table.folds { twins.appendTwins(fold, of: row) }
            for index in state.indices { insert.bind(Int32(index + 1), select.value(Int32(index))) }
            var parameter = Int32(state.count + 1)
            for buffer in [row, twins] {
                for index in buffer.slots.indices {
                    insert.bind(parameter, buffer.value(at: index))
                    parameter += 1
                }
            }
            try insert.run()
        }
    }

    private func fillLinkTables(_ table: TableLayout) throws {
        for property in table.definition.properties where property.isToMany {
            let links = table.definition.linkTable(property).quotedSQL
            try connection.execute(
                """
                INSERT INTO \(links) ("target", "object", "position") \
                SELECT entry.value, t."__rid", entry.key FROM \(table.quotedTable) t, \
                json_each(t.\(property.column.quotedSQL)) entry
                """)
        }
    }

    /// Operations name columns, and keep values in their stored form.
    private func rewriteOperations(_ table: TableLayout, _ plan: [ColumnPlan], _ old: SchemaRecord.Model) throws {
        try connection.execute(
            "UPDATE \"__operations\" SET \"table\" = ? WHERE \"table\" = ?", [.text(table.table), .text(old.table)])
        for column in ["table", "target"] {
            try connection.execute(
                "UPDATE OR REPLACE \"__unresolved\" SET \(column.quotedSQL) = ? WHERE \(column.quotedSQL) = ?",
                [.text(table.table), .text(old.table)])
        }
        for step in plan {
            guard let oldColumn = step.oldColumn, oldColumn != step.property.column else { continue }
            try connection.execute(
                "UPDATE OR REPLACE \"__unresolved\" SET \"column\" = ? WHERE \"table\" = ? AND \"column\" = ?",
                [.text(step.property.column), .text(table.table), .text(oldColumn)])
        }
        let select = try connection.uncachedStatement(
            "SELECT \"id\", \"changes\", \"sent\" FROM \"__operations\" WHERE \"table\" = ? "
                + "AND coalesce(\"changes\", \"sent\") IS NOT NULL")
        select.bind(1, table.table)
        var rewritten: [(id: Int64, changes: StorageValue, sent: StorageValue)] = []
        while try select.step() {
            func rewrite(_ column: Int32) throws -> StorageValue {
                guard !select.isNull(column) else { return .null }
                let bases = try PropertyBases(bytes: select.bytes(column))
                let entries = try bases.entries.compactMap { entry -> (column: String, value: StorageValue)? in
                    guard let step = plan.first(where: { $0.oldColumn == entry.column }) else { return nil }
                    return (step.property.column, try step.convert(entry.value))
                }
                return .blob(PropertyBases(entries).bytes)
            }
            rewritten.append((select.integer(0), try rewrite(1), try rewrite(2)))
        }
        for (id, changes, sent) in rewritten {
            try connection.execute(
                "UPDATE \"__operations\" SET \"changes\" = ?, \"sent\" = ? WHERE \"id\" = ?",
                [changes, sent, .integer(id)])
        }
    }

    // MARK: What follows

    /// A model that is sent from now on has operations for what the server does not know; one that is not has none.
    private func followLocalOnly(_ old: SchemaRecord.Model, _ table: TableLayout) throws {
        guard old.isLocalOnly != table.isLocalOnly else { return }
        if table.isLocalOnly {
            try connection.execute("DELETE FROM \"__operations\" WHERE \"table\" = ?", [.text(table.table)])
            try connection.execute(
                "DELETE FROM \"__operation_errors\" WHERE \"operation\" NOT IN (SELECT \"id\" FROM \"__operations\")")
        } else {
            try connection.execute(
                """
                INSERT INTO "__operations" ("table", "object", "localID", "kind", "changedAt") \
                SELECT ?, "__rid", "localID", 1, ? FROM \(table.quotedTable) \
                WHERE "serverID" IS NULL AND "deleted" = 0 ORDER BY "__rid"
                """,
                [.text(table.table), .real(connection.migrationTime.timeIntervalSinceReferenceDate)])
        }
    }

    /// Values whose type is written as JSON may have changed their shape.
    private func checkValues(of table: TableLayout) throws {
        let select = try connection.uncachedStatement(
            "SELECT \(table.selectList) FROM \(table.quotedTable)")
        while try select.step() {
            for (index, property) in table.definition.properties.enumerated() {
                let column = table.column(index)
                if property.isOptional && select.isNull(column) { continue }
                do {
                    try property.check(select.row(), column)
                } catch {
                    throw TandemError(
                        .schemaMismatch, "A stored value is no \(property.kind).",
                        advice: "Convert the values in a migration step: convert(_:of:_:).", store: connection.path,
                        model: table.definition.name, property: property.name, underlying: error)
                }
            }
        }
    }

    /// A model that was gone for a while may refer to what was deleted meanwhile: such references wait.
    private func waitForDeadReferences() throws {
        for table in schema.tables {
            for (link, target) in zip(table.links, table.linkTargets) where !link.isToMany {
                let property = table.definition.properties[link.property]
                let column = property.column.quotedSQL
                let dead = """
                    \(column) IS NOT NULL AND "deleted" = 0 AND NOT EXISTS (SELECT 1 FROM \(target.quotedTable) target \
                    WHERE target."localID" = \(table.quotedTable).\(column) AND target."deleted" = 0)
                    """
                try connection.execute(
                    """
                    INSERT OR REPLACE INTO "__unresolved" ("target", "id", "table", "object", "column", "position") \
                    SELECT ?, \(column), ?, "__rid", ?, 0 FROM \(table.quotedTable) WHERE \(dead)
                    """, [.text(target.table), .text(table.table), .text(property.column)])
                try connection.execute("UPDATE \(table.quotedTable) SET \(column) = NULL WHERE \(dead)")
            }
        }
    }
}

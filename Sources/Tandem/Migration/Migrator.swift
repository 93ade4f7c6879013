import Foundation

/// A migrator that adapts a store's tables to the models, inside a transaction.
///
/// Added, removed and renamed columns are a ``TableAlteration``. Any other change rewrites the table row by row: each
/// value passes through the models' own encoding, defaults and folding.
final class Migrator {
    let connection: Connection
    let schema: Schema
    let migration: Migration
    /// The version of the folding rules of the stored keys, if the keys are outdated.
    ///
    /// The rules, the format of the keys or the sort order have then changed since.
    private let oldFolding: Int?
    private let configuration: Store.Configuration
    /// Tables that are kept for enumerating their objects: the temporary name by the old name.
    private(set) var aside: [String: String] = [:]

    init(
        connection: Connection, schema: Schema, migration: Migration, oldFolding: Int?,
        configuration: Store.Configuration
    ) {
        self.connection = connection
        self.schema = schema
        self.migration = migration
        self.oldFolding = oldFolding
        self.configuration = configuration
    }

    /// The models' schema, and the tables of models that the app no longer has. Their data is kept.
    var finalRecord: SchemaRecord {
        var record = SchemaRecord(models: schema.tables.map { SchemaRecord.Model($0.definition) })
        let names = Set(record.models.map(\.name))
        record.models += migration.record.models.filter { !names.contains($0.name) }.map { model in
            var model = model
            model.foldingVersion = model.foldingVersion ?? oldFolding
            if migration.changedTables.contains(model.table) { model.isSalvaged = true }
            return model
        }
        record.markAbsent(except: names)
        return record
    }

    /// A table whose rows are rewritten.
    private struct Rewrite {
        let table: TableLayout
        let old: SchemaRecord.Model
        let plan: [ColumnPlan]
        /// The temporary name of the old table, so that tables can exchange their names.
        let aside: String
    }

    func run() throws {
        try migration.deletedTables.forEach(drop)
        adoptRenames()
        try resolveEnumerations()
        try migration.resolveConversions()
        try refuseUnruledRenames()
        var rewrites: [Rewrite] = []
        var alterations: [TableAlteration] = []
        var new: [TableLayout] = []
        for table in schema.tables {
            guard let old = migration.record.model(named: table.definition.name) else {
                try refuseTakenName(table)
                new.append(table)
                continue
            }
            guard needsRewrite(old, for: table) else { continue }
            if old.table.lowercased() != table.table.lowercased() { try refuseTakenName(table) }
            let plan = try table.definition.properties.map {
                try ColumnPlan($0, table: table, old: old, migration: migration, path: connection.path)
            }
            if !mustRewrite(old),
                let alteration = TableAlteration(
                    table, old: old, plan: plan, refolds: oldFolding != nil || old.foldingVersion != nil)
            {
                alterations.append(alteration)
                continue
            }
            rewrites.append(Rewrite(table: table, old: old, plan: plan, aside: "__old_\(rewrites.count)"))
        }
        for rewrite in rewrites { try putAside(rewrite) }
        for alteration in alterations { try alter(alteration) }
        for rewrite in rewrites { try self.rewrite(rewrite) }
        for rewrite in rewrites where hasLostRows(rewrite.old) { try forgetLostObjects(of: rewrite.table) }
        for table in new { try create(table) }
        // The old tables' index names are free only now.
        for table in schema.tables { try syncIndexes(table) }
        for table in schema.tables {
            guard let old = migration.record.model(named: table.definition.name) else { continue }
            let plan =
                rewrites.first { $0.table === table }?.plan
                ?? alterations.first { $0.table === table && $0.changesColumns }?.plan
            try followLocalOnly(old, in: table, plan: plan)
        }
        for rewrite in rewrites { try checkValues(of: rewrite.table) }
        for alteration in alterations where !alteration.retyped.isEmpty {
            try checkValues(of: alteration.table, only: alteration.retyped)
        }
        try syncFiles(rewritten: rewrites.map(\.table))
        try forgetStaleTokens()
        try waitForDeadReferences()
    }

    // MARK: Names

    /// Adopts renames until none is left. A model or a property may have got a name that another one has given up.
    private func adoptRenames() {
        while schema.tables.contains(where: { adoptName(of: $0.definition) }) {}
        for table in schema.tables {
            while table.definition.properties.contains(where: { adoptName(of: $0, in: table.definition) }) {}
        }
    }

    private func adoptName(of definition: ModelDefinition) -> Bool {
        guard migration.record.model(named: definition.name) == nil,
            let old = definition.formerNames.first(where: { migration.record.model(named: $0) != nil })
        else { return false }
        migration.adopt(renamedModel: old, to: definition.name)
        return true
    }

    private func adoptName(of property: PropertyDefinition, in definition: ModelDefinition) -> Bool {
        guard let model = migration.record.model(named: definition.name),
            model.property(named: property.name) == nil,
            let old = property.formerNames.first(where: { model.property(named: $0) != nil })
        else { return false }
        migration.adopt(renamedProperty: old, to: property.name, of: definition.name)
        return true
    }

    /// Refuses a removed model and a new one with the same properties, because this is most likely a rename. Without a
    /// rule, the new model would not get the old objects.
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
                    message: "The store has objects of the removed model \(old.name), which had the same properties.",
                    advice: "If it was renamed, declare @Model(renamedFrom: \"\(old.name)\"). If not, delete it in a "
                        + "migration step: deleteModel(\"\(old.name)\").",
                    store: connection.path, model: new.name)
            }
        }
    }

    /// Refuses a new model whose table name belongs to a removed model.
    private func refuseTakenName(_ table: TableLayout) throws {
        let names = Set(schema.tables.map(\.definition.name))
        guard
            let old = migration.record.models.first(where: {
                $0.table.lowercased() == table.table.lowercased() && !names.contains($0.name)
            })
        else { return }
        throw TandemError(
            .schemaMismatch, message: "The table \(table.table) has the objects of the removed model \(old.name).",
            advice:
                "If it was renamed, declare @Model(renamedFrom: \"\(old.name)\"). Otherwise, use another table name.",
            store: connection.path, model: table.definition.name)
    }

    // MARK: Making

    private func create(_ table: TableLayout) throws {
        let builder = TableBuilder(definition: table.definition)
        try connection.execute(builder.createTable(named: table.table))
        if let sql = builder.createSearchTable { try connection.execute(sql) }
        for sql in builder.createLinkTables { try connection.execute(sql) }
    }

    private func syncIndexes(_ table: TableLayout) throws {
        try dropStaleIndexes(of: table)
        let existing = try indexes(of: table.table)
        for index in TableBuilder(definition: table.definition).indexes where existing[index.name] != index.sql {
            do {
                try connection.execute(index.sql)
            } catch let error as TandemError where error.isConstraint {
                throw TandemError(
                    .duplicateValue,
                    message: "Several objects in the store have the same value, which must now be unique.",
                    advice: "Change the values in a migration step.", store: connection.path,
                    model: table.definition.name, property: index.uniqueOver.joined(separator: "+"),
                    sqliteCode: error.sqliteCode)
            }
        }
    }

    /// Drops a table's indexes that the models no longer have, or define differently.
    func dropStaleIndexes(of table: TableLayout) throws {
        let wanted = TableBuilder(definition: table.definition).indexes
        for (name, sql) in try indexes(of: table.table) where wanted.first(where: { $0.name == name })?.sql != sql {
            try connection.execute("DROP INDEX \(name.quotedSQL)")
        }
    }

    private func indexes(of table: String) throws -> [String: String] { try sql(ofAll: "index", of: table) }

    /// Returns the SQL of a table's indexes or triggers, by their names.
    func sql(ofAll type: String, of table: String) throws -> [String: String] {
        let found = try connection.rows(
            "SELECT name, sql FROM sqlite_master WHERE type = ? AND tbl_name = ? AND sql IS NOT NULL",
            binding: [.text(type), .text(table)]
        ) { (try $0.text(0), try $0.text(1)) }
        return Dictionary(found) { $1 }
    }

    private func drop(_ model: SchemaRecord.Model) throws {
        if let searchTable = model.searchTable {
            try connection.execute("DROP TABLE IF EXISTS \(searchTable.quotedSQL)")
        }
        for name in model.linkTables { try connection.execute("DROP TABLE IF EXISTS \(name.quotedSQL)") }
        if migration.enumerations.contains(where: { $0.isOf(table: model.table) }) {
            try preserve(model.table, as: "__gone_\(aside.count)")
        } else {
            try connection.execute("DROP TABLE \(model.table.quotedSQL)")
        }
        try connection.execute(
            "DELETE FROM \"__unresolved\" WHERE \"table\" = ?1 OR \"target\" = ?1", binding: [.text(model.table)])
        try connection.execute(
            "DELETE FROM \"__operation_errors\" WHERE \"operation\" IN "
                + "(SELECT \"id\" FROM \"__operations\" WHERE \"table\" = ?)", binding: [.text(model.table)])
        try connection.execute("DELETE FROM \"__operations\" WHERE \"table\" = ?", binding: [.text(model.table)])
        try forgetServer(of: model.table)
    }

    // MARK: Rewriting

    private func needsRewrite(_ old: SchemaRecord.Model, for table: TableLayout) -> Bool {
        let wanted = SchemaRecord.Model(table.definition)
        func columns(_ model: SchemaRecord.Model) -> [SchemaRecord.Property] {
            model.properties.map { property in
                // Ignore attributes that need no change of the table.
                var property = property.withoutNotes
                property.name = ""
                property.isIndexed = false
                property.isUnique = false
                // This attribute decides about a column only together with the folding.
                property.isUniqueFolded = property.caselessColumn == nil ? nil : true
                property.isLocalOnly = false
                return property
            }
        }
        // A property is a different one if another property of the same type takes over its column.
        let moved = wanted.properties.contains { property in
            old.properties.contains { $0.column == property.column && $0.name != property.name }
        }
        return old.table != wanted.table || columns(old) != columns(wanted) || moved
            || old.isSalvaged == true || ((oldFolding != nil || old.foldingVersion != nil) && !table.folds.isEmpty)
            || old.properties.contains { migration.conversion(of: $0, in: old) != nil } || mustRewrite(old)
    }

    /// Returns whether the old rows must stay readable beside the new ones, or derived data must be rebuilt.
    private func mustRewrite(_ old: SchemaRecord.Model) -> Bool {
        configuration.alwaysRewritesTables || migration.changedTables.contains(old.table)
            || migration.enumerations.contains { $0.isOf(table: old.table) }
    }

    /// Returns whether rows may be missing that operations and references name.
    private func hasLostRows(_ old: SchemaRecord.Model) -> Bool {
        old.isSalvaged == true || migration.changedTables.contains(old.table)
    }

    // MARK: Old objects

    /// Replaces the models of enumerations with their tables.
    private func resolveEnumerations() throws {
        migration.enumerations = try migration.enumerations.compactMap { enumeration in
            guard case .model(let type) = enumeration.source else { return enumeration }
            guard let table = schema.table(ofType: type) else {
                var error = Schema.unknown("\(type)")
                error.store = connection.path
                throw error
            }
            guard let old = migration.record.model(named: table.definition.name) else { return nil }
            return Migration.Enumeration(source: .table(old.table), run: enumeration.run)
        }
    }

    /// Keeps a table under another name until its objects were enumerated.
    private func preserve(_ table: String, as name: String) throws {
        if migration.originals[table]?.hasAttachments == true {
            try dropFileTriggers(of: table)
            // A new model may have the table's name.
            try connection.execute(
                "UPDATE \"__file_uses\" SET \"table\" = ? WHERE \"table\" = ?", binding: [.text(name), .text(table)])
        }
        for index in try indexes(of: table).keys { try connection.execute("DROP INDEX \(index.quotedSQL)") }
        try connection.execute("ALTER TABLE \(table.quotedSQL) RENAME TO \(name.quotedSQL)")
        aside[table] = name
    }

    /// The remaining work that needs a writable store, and the tables to drop after it.
    var pending: PendingMigration? {
        let work = migration.enumerations.compactMap { enumeration -> PendingMigration.Work? in
            guard case .table(let table) = enumeration.source, let original = migration.originals[table] else {
                return nil
            }
            let rows = OldRows(
                table: aside[table] ?? table, original: original, report: configuration.onMigrationProgress)
            return PendingMigration.Work(rows: rows, run: enumeration.run)
        }
        guard !work.isEmpty else { return nil }
        return PendingMigration(work: work, tables: aside.values.sorted(), tablesWithFiles: goneTablesWithFiles)
    }

    /// The tables of deleted models whose objects are still to be enumerated, and which have files, by their temporary
    /// names.
    var goneTablesWithFiles: [String] {
        migration.deletedTables.filter(\.hasAttachments).compactMap { aside[$0.table] }
    }

    /// Returns a counter of a table's rows, or of those of its old table.
    func progress(of table: TableLayout, from oldTable: String? = nil) throws -> MigrationProgress.Counter {
        try MigrationProgress.Counter(
            connection, report: configuration.onMigrationProgress, model: table.definition.name, work: .rows,
            table: oldTable ?? table.table)
    }

    /// Renames an old table, and references to its name, to a name that no model has.
    private func putAside(_ rewrite: Rewrite) throws {
        let old = rewrite.old
        // A salvaged store may lack them.
        if let searchTable = old.searchTable {
            try connection.execute("DROP TABLE IF EXISTS \(searchTable.quotedSQL)")
        }
        for name in old.linkTables { try connection.execute("DROP TABLE IF EXISTS \(name.quotedSQL)") }
        if old.hasAttachments { try dropFileTriggers(of: old.table) }
        try connection.execute("ALTER TABLE \(old.table.quotedSQL) RENAME TO \(rewrite.aside.quotedSQL)")
        try renameInQueue(from: old.table, to: rewrite.aside)
    }

    /// Renames a table in operations, unresolved references and the data of sync.
    private func renameInQueue(from oldTable: String, to newTable: String) throws {
        let places = [
            ("__operations", "table"), ("__unresolved", "table"), ("__unresolved", "target"),
            ("__server_items", "table"), ("__server_extras", "table"), ("__sync_tokens", "table"),
        ]
        for (table, column) in places {
            try connection.execute(
                "UPDATE OR REPLACE \(table.quotedSQL) SET \(column.quotedSQL) = ? WHERE \(column.quotedSQL) = ?",
                binding: [.text(newTable), .text(oldTable)])
        }
    }

    private func rewrite(_ rewrite: Rewrite) throws {
        let table = rewrite.table
        let builder = TableBuilder(definition: table.definition)
        try connection.execute(builder.createTable(named: table.table))
        try copy(table, plan: rewrite.plan, from: rewrite.aside)
        if migration.enumerations.contains(where: { $0.isOf(table: rewrite.old.table) }) {
            for index in try indexes(of: rewrite.aside).keys {
                try connection.execute("DROP INDEX \(index.quotedSQL)")
            }
            aside[rewrite.old.table] = rewrite.aside
        } else {
            try connection.execute("DROP TABLE \(rewrite.aside.quotedSQL)")
        }
        for sql in builder.createLinkTables { try connection.execute(sql) }
        try fillLinkTables(table)
        if let sql = builder.createSearchTable {
            try connection.execute(sql)
            try rebuildSearch(of: table)
        }
        try renameInQueue(from: rewrite.aside, to: table.table)
        try renameWaitingColumns(of: table, plan: rewrite.plan)
        try rewriteOperations(of: table, plan: rewrite.plan)
    }

    func rebuildSearch(of table: TableLayout) throws {
        guard let searchTable = table.definition.searchTable?.quotedSQL else { return }
        try connection.execute("INSERT INTO \(searchTable) (\(searchTable)) VALUES ('rebuild')")
    }

    private func copy(_ table: TableLayout, plan: [ColumnPlan], from oldTable: String) throws {
        let state = RowDecoder.stateColumns.map(\.quotedSQL)
        let oldColumns = plan.compactMap(\.oldColumn).map(\.quotedSQL)
        let select = try connection.uncachedStatement(
            "SELECT \((state + oldColumns).joined(separator: ", ")) FROM \(oldTable.quotedSQL) ORDER BY \"__rid\"")
        let insert = try connection.uncachedStatement(
            table.insertSQL.replacingOccurrences(of: "(\"localID\"", with: "(\"__rid\", \"localID\"")
                .replacingOccurrences(of: "VALUES (?", with: "VALUES (?, ?"))
        let row = RowEncoder()
        let twins = RowEncoder()
        var progress = try progress(of: table, from: oldTable)
        while try select.step() {
            try progress.advance()
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
            for fold in table.folds { twins.appendTwins(fold, of: row, by: connection.collation) }
            for index in state.indices { insert.bind(Int32(index + 1), to: select.value(Int32(index))) }
            var parameter = Int32(state.count + 1)
            for buffer in [row, twins] {
                for index in buffer.slots.indices {
                    insert.bind(parameter, to: buffer.value(at: index))
                    parameter += 1
                }
            }
            try insert.run()
        }
        try progress.finish()
    }

    private func fillLinkTables(_ table: TableLayout) throws {
        for property in table.definition.properties where property.isToMany {
            try fillLinkTable(of: property, table: table)
        }
    }

    func fillLinkTable(of property: PropertyDefinition, table: TableLayout) throws {
        let links = table.definition.linkTable(property).quotedSQL
        try connection.execute(
            """
            INSERT INTO \(links) ("target", "object", "position") \
            SELECT entry.value, t."__rid", entry.key FROM \(table.quotedTable) t, \
            json_each(t.\(property.column.quotedSQL)) entry
            """)
    }

    /// Checks values that are stored as JSON, because their type may have changed.
    private func checkValues(of table: TableLayout, only: Set<Int>? = nil) throws {
        let select = try connection.uncachedStatement(
            "SELECT \(table.selectList) FROM \(table.quotedTable)")
        while try select.step() {
            for (index, property) in table.definition.properties.enumerated() where only?.contains(index) != false {
                let column = table.column(index)
                if property.isOptional && select.isNull(column) { continue }
                do {
                    try property.check(select.row(), column)
                } catch {
                    throw TandemError(
                        .schemaMismatch, message: "A stored value is not a \(property.kind).",
                        advice: "Convert the values in a migration step: convert(_:of:_:).", store: connection.path,
                        model: table.definition.name, property: property.name, underlying: error)
                }
            }
        }
    }
}

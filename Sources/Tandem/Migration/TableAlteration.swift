/// The changes that adapt an old table by ALTER TABLE, without rewriting its rows.
///
/// SQLite adds and renames a column without touching the rows. It removes a column with its own pass over the table.
/// That pass does not involve the models' encoding, the indexes of other columns or the search index.
struct TableAlteration {
    let table: TableLayout
    let old: SchemaRecord.Model
    let plan: [ColumnPlan]
    let dropped: [SchemaRecord.Property]
    let renamed: [(property: PropertyDefinition, old: SchemaRecord.Property)]
    /// The indices of the new properties.
    let added: [Int]
    /// The indices of properties whose type changes without a change of the stored values.
    let retyped: Set<Int>

    /// - Returns: `nil` if the rows must be rewritten.
    init?(_ table: TableLayout, old: SchemaRecord.Model, plan: [ColumnPlan], refolds: Bool) {
        // A table with keys of an older format may lack columns.
        let hasKeys = !table.folds.isEmpty || old.properties.contains { $0.folding != .none }
        guard old.table == table.table, old.isSalvaged != true, !(refolds && hasKeys) else { return nil }
        var renamed: [(PropertyDefinition, SchemaRecord.Property)] = []
        var kept: Set<String> = []
        var retyped: Set<Int> = []
        for (index, step) in plan.enumerated() {
            guard let oldColumn = step.oldColumn else { continue }
            guard let oldProperty = old.properties.first(where: { $0.column == oldColumn }), step.keepsForm,
                oldProperty.folding == step.property.folding, oldProperty.isOptional == step.property.isOptional,
                (oldProperty.caselessColumn == nil) == (step.property.caselessColumn == nil)
            else { return nil }
            kept.insert(oldColumn)
            if oldProperty.kind != step.property.kind { retyped.insert(index) }
            if oldColumn != step.property.column {
                guard !step.property.isToMany else { return nil }
                renamed.append((step.property, oldProperty))
            }
        }
        let keptNames = Set(kept.map { $0.lowercased() })
        // Columns that exchange their names would need temporary names.
        guard renamed.allSatisfy({ !keptNames.contains($0.0.column.lowercased()) }) else { return nil }
        let dropped = old.properties.filter { !kept.contains($0.column) }
        // A removed column and a new one with the same name may have indexes with the same name.
        let droppedNames = Set(dropped.map { $0.column.lowercased() })
        guard plan.allSatisfy({ !droppedNames.contains($0.property.column.lowercased()) }) else { return nil }
        let added = plan.indices.filter { plan[$0].oldColumn == nil }
        // A missing default is reported for the first object, if there is one.
        guard added.allSatisfy({ plan[$0].property.appendDefault != nil }) else { return nil }
        self.table = table
        self.old = old
        self.plan = plan
        self.renamed = renamed.map { (property: $0.0, old: $0.1) }
        self.added = added
        self.retyped = retyped
        self.dropped = dropped
    }

    /// Whether operations and unresolved references name removed or renamed columns.
    var changesColumns: Bool { !dropped.isEmpty || !renamed.isEmpty }

    /// Whether the columns of the search index change.
    var changesSearch: Bool {
        old.properties.compactMap(\.searchColumn) != table.definition.properties.compactMap(\.searchColumn)
    }

    /// Whether the change affects columns that the triggers for files name.
    var changesAttachments: Bool {
        let isAttachment = { (kind: PropertyKind) in kind.attachmentIsList != nil }
        return dropped.contains { isAttachment($0.kind) } || renamed.contains { isAttachment($0.old.kind) }
            || added.contains { isAttachment(plan[$0].property.kind) }
    }
}

extension Migrator {
    /// Alters a table.
    func alter(_ alteration: TableAlteration) throws {
        let table = alteration.table
        let definition = table.definition
        let builder = TableBuilder(definition: definition)
        if alteration.changesAttachments, alteration.old.hasAttachments { try dropFileTriggers(of: table.table) }
        // SQLite can't remove an indexed column.
        try dropStaleIndexes(of: table)
        if alteration.changesSearch, let searchTable = alteration.old.searchTable {
            try connection.execute("DROP TABLE IF EXISTS \(searchTable.quotedSQL)")
        }
        for property in alteration.dropped {
            if case .references = property.kind {
                let links = "__links_\(table.table)_\(property.column)"
                try connection.execute("DROP TABLE IF EXISTS \(links.quotedSQL)")
            }
            for column in [property.column] + property.keyColumns {
                try connection.execute("ALTER TABLE \(table.quotedTable) DROP COLUMN \(column.quotedSQL)")
            }
        }
        for (property, old) in alteration.renamed {
            // Both have the same keys.
            for (old, new) in zip([old.column] + old.keyColumns, [property.column] + property.keyColumns) {
                try connection.execute(
                    "ALTER TABLE \(table.quotedTable) RENAME COLUMN \(old.quotedSQL) TO \(new.quotedSQL)")
            }
        }
        for index in alteration.added { try add(index, step: alteration.plan[index], to: table, builder: builder) }
        if alteration.changesSearch, let sql = builder.createSearchTable {
            try connection.execute(sql)
            try rebuildSearch(of: table)
        }
        if alteration.changesColumns {
            try renameWaitingColumns(of: table, plan: alteration.plan)
            try rewriteOperations(of: table, plan: alteration.plan)
        }
    }

    private func add(_ index: Int, step: ColumnPlan, to table: TableLayout, builder: TableBuilder) throws {
        let property = step.property
        let fold = table.folds.first { $0.property == index }
        func makeDefault() throws -> [StorageValue] {
            let row = RowEncoder()
            for _ in 0..<index { row.appendNull() }
            try step.appendDefault(to: row)
            let twins = RowEncoder()
            if let fold { twins.appendTwins(fold, of: row, by: connection.collation) }
            return [row.value(at: index)] + twins.slots.indices.map { twins.value(at: $0) }
        }
        let columns = [property.column] + property.keyColumns
        let definitions = [builder.column(property)] + builder.twins(of: property)
        let values = try makeDefault()
        // A default such as `UUID()` differs for each object. Among 32 values in a row, at least one then differs.
        let isConstant = try (0..<32).allSatisfy { _ in try makeDefault() == values }
        var isComplete = isConstant
        for (definition, value) in zip(definitions, values) {
            let literal = try literal(of: value)
            if literal == nil { isComplete = false }
            try connection.execute(
                """
                ALTER TABLE \(table.quotedTable) ADD COLUMN \(definition) DEFAULT \(literal ?? "''")
                """)
        }
        if !isConstant {
            try fill(columns, of: table, makeValues: makeDefault)
        } else if !isComplete {
            try connection.execute("UPDATE \(table.quotedTable) SET \(Self.assignments(columns))", binding: values)
        }
        if property.isToMany {
            for sql in builder.createLinkTables(of: property) { try connection.execute(sql) }
            if values != [Migration.stored([Int]())] { try fillLinkTable(of: property, table: table) }
        }
    }

    /// Returns a value as an SQL literal that SQLite reads back to the same bits.
    ///
    /// Returns `nil` if there is no such literal.
    private func literal(of value: StorageValue) throws -> String? {
        let literal: String
        switch value {
        case .null: return "NULL"
        case .integer(let number): literal = "\(number)"
        // SQLite converts such a default to an integer.
        case .real(let number) where number == number.rounded(): return nil
        case .real(let number): literal = "\(number)"
        case .text(let text): literal = text.utf8.contains(0) ? "''" : text.quotedText
        case .blob(let bytes): literal = "x'\(bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())'"
        }
        let statement = try? connection.uncachedStatement("SELECT \(literal)")
        guard let statement, try statement.step() else { return nil }
        return statement.value(0) == value ? literal : nil
    }

    private func fill(
        _ columns: [String], of table: TableLayout, makeValues: () throws -> [StorageValue]
    ) throws {
        let update = try connection.uncachedStatement(
            "UPDATE \(table.quotedTable) SET \(Self.assignments(columns)) WHERE \"__rid\" = ?")
        var progress = try progress(of: table)
        var last = Int64.min
        while true {
            let batch = try rows(of: table, after: last)
            guard let end = batch.last else { break }
            for row in batch {
                try progress.advance()
                update.bind(try makeValues() + [.integer(row)])
                try update.run()
            }
            last = end
        }
        try progress.finish()
    }

    private static func assignments(_ columns: [String]) -> String {
        columns.map { "\($0.quotedSQL) = ?" }.joined(separator: ", ")
    }

    private func rows(of table: TableLayout, after last: Int64) throws -> [Int64] {
        try connection.rows(
            "SELECT \"__rid\" FROM \(table.quotedTable) WHERE \"__rid\" > ? ORDER BY \"__rid\" LIMIT 1000",
            binding: [.integer(last)]
        ) { $0.integer(0) }
    }
}

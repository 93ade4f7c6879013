/// The SQL that updates many rows of a table: the assigned columns, and conditions on a row with the alias ``alias``.
///
/// SQL covers constants, other properties and predicates on the row itself. The remaining updates run row by row: see
/// ``WriteTransaction/updateRowByRow(_:by:)``.
struct ColumnUpdate {
    /// An assigned property.
    struct Column {
        let property: PropertyDefinition
        let index: Int
        let expression: SQL
    }

    let table: TableLayout
    let alias: String
    let columns: [Column]
    /// The values of the folded keys of assigned properties.
    let twins: [(column: String, value: StorageValue)]

    /// The maximum number of arguments of ``ChangedBases`` is that of any SQL function: three for each property.
    private static let maximumColumns = 33

    /// - Parameters:
    ///   - row: The encoded constants, by property.
    ///   - twins: A buffer for the folded keys.
    ///   - collation: The order of the sort keys.
    /// - Returns: `nil` if an assignment can't be made in SQL.
    init?<M: Model>(_ plan: UpdatePlan<M>, constants row: RowEncoder, twins: RowEncoder, collation: Collation) {
        table = plan.table
        var compiler = SQLCompiler()
        compiler.usesSearchIndexes = false
        let scope = compiler.makeScope(table.definition)
        alias = scope.alias
        guard plan.assignments.count <= Self.maximumColumns else { return nil }
        var columns: [Column] = []
        for (index, assignment) in plan.assignments {
            let property = table.definition.properties[index]
            guard Self.allows(property, index: index, assignment: assignment, in: table) else { return nil }
            let expression: SQL
            if assignment.constant != nil {
                expression = "\(bind: row.value(at: index))"
            } else {
                expression = compiler.value(assignment.leaves[0], in: scope)
            }
            columns.append(Column(property: property, index: index, expression: expression))
        }
        // A reference, or a link to other objects, needs other tables.
        let ownTable: SQL = "\(name: table.table) AS \(alias: scope.alias)"
        guard compiler.models.count == 1, compiler.tables(scope).text == ownTable.text else { return nil }
        self.columns = columns
        twins.removeAll()
        var keys: [(column: String, value: StorageValue)] = []
        for fold in table.folds where plan.assignments.contains(where: { $0.property == fold.property }) {
            twins.removeAll()
            twins.appendTwins(fold, of: row, by: collation)
            for (index, column) in fold.columns.enumerated() { keys.append((column, twins.value(at: index))) }
        }
        self.twins = keys
    }

    /// Returns whether SQL can make an assignment with the result and the errors of a single object's update.
    private static func allows<M: Model>(
        _ property: PropertyDefinition, index: Int, assignment: Assignment<M>, in table: TableLayout
    ) -> Bool {
        // An error names the object with the same value. Files are registered one by one.
        let isUnique =
            property.isUnique
            || table.definition.indexes.contains { $0.isUnique && $0.properties.contains(property.name) }
        if isUnique || property.hasSeveralForms || property.isToMany { return false }
        if table.attachments.contains(where: { $0.property == index }) { return false }
        if let constant = assignment.constant {
            // SQL considers 0.0 and -0.0 equal.
            if case .real(let number) = constant { return number != 0 }
            return true
        }
        return assignment.isLeaf && !property.kind.isFloating && !property.isToOne && property.folding == .none
    }

    // MARK: SQL

    /// Returns the rows with the given rowids, in that order.
    private func chosen(_ rows: RowIDList) -> SQL {
        """
        json_each(\(bind: rows.json)) AS "chosen" CROSS JOIN \(name: table.table) AS \(alias: alias) \
        ON \(alias: alias)."__rid" = "chosen"."value"
        """
    }

    /// Returns a condition: whether the assignment changes the stored value.
    private func isChanged(_ column: Column) -> SQL {
        let stored: SQL = "\(alias: alias).\(name: column.property.column)"
        // Another program may have stored a floating-point number as an integer.
        guard column.property.kind.isFloating else { return "\(stored) IS NOT \(column.expression)" }
        return """
            (\(stored) IS NOT \(column.expression) OR typeof(\(stored)) <> typeof(\(column.expression)))
            """
    }

    /// Returns a condition: whether the assignments change any of some columns.
    private func areChanged(_ columns: [Column]) -> SQL {
        "(\(columns.map(isChanged).joined(" OR ")))"
    }

    /// The assigned columns that are sent to the server.
    var sentColumns: [Column] {
        table.isLocalOnly ? [] : columns.filter { !$0.property.isLocalOnly }
    }

    /// Whether the update changes the search index.
    var isSearched: Bool {
        table.searched.contains { fold in columns.contains { $0.index == fold.property } }
    }

    /// Returns the stored values of the changed columns that are sent, as ``PropertyBases`` encode them.
    private var bases: SQL {
        let sent = sentColumns
        let arguments = sent.map { column in
            let isChanged: SQL = sent.count == 1 ? "1" : self.isChanged(column)
            return """
                \(bind: .text(column.property.column)), \(isChanged), \(alias: alias).\(name: column.property.column)
                """ as SQL
        }
        return "\(raw: ChangedBases.functionName)(\(arguments.joined(", ")))"
    }

    /// Returns the rows whose operation must contain the change too, with their bases.
    func selectQueued(_ rows: RowIDList) -> SQL {
        """
        SELECT \(alias: alias)."__rid", \(bases) FROM \(chosen(rows)) \
        WHERE \(alias: alias)."synced" = 0 AND \(areChanged(sentColumns)) AND EXISTS (SELECT 1 FROM "__operations" \
        WHERE "table" = \(bind: .text(table.table)) AND "object" = \(alias: alias)."__rid")
        """
    }

    /// Returns the statement that queues the operations of rows without one.
    func insertOperations(_ rows: RowIDList, time: Double) -> SQL {
        """
        INSERT INTO "__operations" ("table", "object", "localID", "kind", "changedAt", "changes") \
        SELECT \(bind: .text(table.table)), \(alias: alias)."__rid", \(alias: alias)."localID", \
        CASE WHEN \(alias: alias)."serverID" IS NULL THEN \(raw: String(PendingOperation.Kind.insert.rawValue)) \
        ELSE \(raw: String(PendingOperation.Kind.update.rawValue)) END, \(bind: .real(time)), \
        CASE WHEN \(alias: alias)."serverID" IS NULL THEN NULL ELSE \(bases) END \
        FROM \(chosen(rows)) WHERE \(areChanged(sentColumns))
        """
    }

    /// Returns the rows whose indexed texts change, with the texts before the change.
    func selectIndexed(_ rows: RowIDList) -> SQL {
        let searched = columns.filter { column in table.searched.contains { $0.property == column.index } }
        let texts = table.searched.compactMap(\.searchColumn).map { "\(alias: alias).\(name: $0)" as SQL }
        return """
            SELECT \(alias: alias)."__rid", \(texts.joined(", ")) FROM \(chosen(rows)) WHERE \(areChanged(searched))
            """
    }

    /// Returns the statement that updates the rows. No constraint of the table can fail, so it needs no journal to undo
    /// a half of it.
    func update(_ rows: RowIDList) -> SQL {
        var changes = columns.map { "\(name: $0.property.column) = \($0.expression)" as SQL }
        changes += twins.map { "\(name: $0.column) = \(bind: $0.value)" as SQL }
        let sent = sentColumns
        if sent.count == columns.count {
            changes.append("\"synced\" = 0")
        } else if !sent.isEmpty {
            changes.append("\"synced\" = CASE WHEN \(areChanged(sent)) THEN 0 ELSE \(alias: alias).\"synced\" END")
        }
        return """
            UPDATE OR FAIL \(name: table.table) AS \(alias: alias) SET \(changes.joined(", ")) \
            WHERE \(alias: alias)."__rid" IN (SELECT "value" FROM json_each(\(bind: rows.json))) \
            AND \(areChanged(columns))
            """
    }
}

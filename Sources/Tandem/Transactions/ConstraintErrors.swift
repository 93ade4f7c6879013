extension WriteTransaction {
    func duplicateLocalID(_ localID: LocalID, in table: TableLayout, error: TandemError) -> TandemError {
        TandemError(
            .duplicateID, message: "An object with the local ID \(localID) already exists.",
            advice: "Use upsert to change it, or give the new object another ID.", store: store.path,
            model: table.definition.name, sqliteCode: error.sqliteCode)
    }

    /// Explains a violated constraint in terms of the model: the property, and the object with the same value.
    ///
    /// - Parameters:
    ///   - row: The values to write, or `nil` if they are those of the stored row.
    ///   - written: The properties to write, or `nil` for all.
    func explainConstraint(
        _ error: TandemError, row: RowEncoder?, written: [Int]? = nil, state: ObjectState, in table: TableLayout
    ) throws -> TandemError {
        let model = table.definition.name
        let message = error.message
        // SQLite names the columns: "UNIQUE constraint failed: Card.barcode".
        let columns =
            message.split(separator: ":").last.map { text in
                text.split(separator: ",").map { column in
                    column.split(separator: ".").last.map { String($0.prefix { $0 != ")" }) } ?? ""
                }
            } ?? []
        if columns == ["localID"] {
            return duplicateLocalID(state.localID, in: table, error: error)
        }
        if columns == ["serverID"] {
            return TandemError(
                .duplicateID, message: "An object with the server ID \(state.serverID?.rawValue ?? "") already exists.",
                advice: "Use upsert to change it.", store: store.path, model: model, sqliteCode: error.sqliteCode)
        }
        let indexes = columns.compactMap { column in
            table.definition.properties.firstIndex {
                $0.column == column || $0.isUniqueFolded && $0.uniqueColumn == column
            }
        }
        let properties = indexes.map { table.definition.properties[$0].name }
        if error.isMissingValue {
            return TandemError(
                .invalidValue, message: "The property must have a value.",
                advice: "Set a value, or make the property optional.",
                store: store.path, model: model, property: properties.first, sqliteCode: error.sqliteCode)
        }
        if !properties.isEmpty {
            let several = properties.count > 1
            let other = try holder(of: indexes, row: row, written: written, state: state, in: table)
            return TandemError(
                .duplicateValue,
                message: "Another object\(other.map { " (\($0))" } ?? "") already has "
                    + "\(several ? "the values" : "this value").",
                advice: "Change \(several ? "one of them" : "it"), or update the other object.", store: store.path,
                model: model, property: properties.joined(separator: "+"), localID: other,
                sqliteCode: error.sqliteCode)
        }
        return error
    }

    /// Returns the live object that has the rejected values.
    private func holder(
        of properties: [Int], row: RowEncoder?, written: [Int]?, state: ObjectState, in table: TableLayout
    ) throws -> LocalID? {
        var conditions = ["\"deleted\" = 0", "\"__rid\" IS NOT ?1"]
        var values: [StorageValue] = [.integer(state.rowID)]
        for property in properties {
            let definition = table.definition.properties[property]
            // An index over several properties compares the values themselves.
            let isFolded = properties.count == 1 && definition.isUniqueFolded
            let column = (isFolded ? definition.uniqueColumn : definition.column).quotedSQL
            if let row, written?.contains(property) ?? true {
                let fold = isFolded ? table.folds.first { $0.property == property } : nil
                values.append(fold.map { row.uniqueTwin($0) } ?? row.value(at: property))
                conditions.append("\(column) = ?\(values.count)")
            } else {
                conditions.append("\(column) = (SELECT \(column) FROM \(table.quotedTable) WHERE \"__rid\" = ?1)")
            }
        }
        let statement = try connection.statement(
            "SELECT \"localID\" FROM \(table.quotedTable) WHERE \(conditions.joined(separator: " AND ")) LIMIT 1")
        statement.bind(values)
        defer { statement.reset() }
        return try statement.step() ? LocalID(try statement.text(0)) : nil
    }
}

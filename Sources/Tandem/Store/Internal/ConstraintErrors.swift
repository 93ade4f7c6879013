import GRDBSQLite

extension TandemError {
    /// Whether SQLite refused a row because of a constraint.
    var isConstraint: Bool {
        sqliteCode.map { $0 & 0xFF == SQLITE_CONSTRAINT } ?? false
    }
}

extension WriteTransaction {
    /// A broken constraint in the words of the model: which property, and which object is in the way.
    func explainConstraint(
        _ error: TandemError, _ row: RowBuffer, _ state: ObjectState, _ table: TableLayout
    ) throws -> TandemError {
        let model = table.definition.name
        let message = error.message
        // SQLite names the columns: "UNIQUE constraint failed: Card.barcode".
        let columns = message.split(separator: ":").last.map { text in
            text.split(separator: ",").map { column in
                column.split(separator: ".").last.map { String($0.prefix { $0 != ")" }) } ?? ""
            }
        } ?? []
        if columns == ["localID"] {
            return TandemError(
                .duplicateID, "An object with the local ID \(state.localID) exists already.",
                advice: "Use upsert to change it, or give the new object another ID.", store: store.path, model: model,
                sqliteCode: error.sqliteCode)
        }
        if columns == ["serverID"] {
            return TandemError(
                .duplicateID, "An object with the server ID \(state.serverID?.rawValue ?? "") exists already.",
                advice: "Use upsert to change it.", store: store.path, model: model, sqliteCode: error.sqliteCode)
        }
        let properties = columns.compactMap { column in
            table.definition.properties.first { $0.column == column }?.name
        }
        if error.sqliteCode == SQLITE_CONSTRAINT | (5 << 8) {
            return TandemError(
                .invalidValue, "It must have a value.", advice: "Give it one, or make the property optional.",
                store: store.path, model: model, property: properties.first, sqliteCode: error.sqliteCode)
        }
        if !properties.isEmpty {
            let several = properties.count > 1
            return TandemError(
                .duplicateValue,
                "Another object has \(several ? "these values" : "this value") already.",
                advice: "Change \(several ? "one of them" : "it"), or update the other object.", store: store.path,
                model: model, property: properties.joined(separator: "+"), sqliteCode: error.sqliteCode)
        }
        return error
    }
}

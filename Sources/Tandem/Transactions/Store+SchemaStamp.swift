extension Store {
    /// Checks that no other process has changed the schema. Otherwise the writer would write wrong rows.
    ///
    /// - Parameter connection: The writer's connection.
    /// - Returns: Whether another connection has committed since the last call.
    func checkSchema(_ connection: Connection) throws -> Bool {
        // The value changes if another connection has committed. Reading it costs a microsecond.
        let statement = try connection.statement(SchemaStatement.dataVersion)
        defer { statement.reset() }
        let version = try statement.step() ? statement.value(0) : nil
        if version == connection.dataVersion, connection.schemaStamp != nil { return false }
        let stamp = try connection.value(SchemaStatement.stamp)
        guard case .text(let text)? = stamp, text == connection.schemaStamp ?? connection.openedStamp else {
            throw foreignSchemaChange
        }
        let hasMoved = version != connection.dataVersion
        connection.schemaStamp = text
        connection.dataVersion = version
        return hasMoved
    }

    /// Checks that a reader's state has the schema with which the store was opened.
    func checkStamp(_ reader: Connection) throws {
        guard try reader.value(SchemaStatement.stamp) == openedStamp.map({ .text($0) }) else {
            throw foreignSchemaChange
        }
    }

    private var foreignSchemaChange: TandemError {
        TandemError(
            .foreignSchemaChange, message: "Another process has changed the store's schema.",
            advice: "Open the store again.", store: path)
    }
}

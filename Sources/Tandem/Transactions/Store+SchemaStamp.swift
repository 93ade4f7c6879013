extension Store {
    /// Checks that no other process has changed the schema. Otherwise the writer would write wrong rows.
    ///
    /// - Parameter connection: The writer's connection.
    /// - Returns: Whether another connection has committed since the last call.
    func checkSchema(_ connection: Connection) throws -> Bool {
        // The value changes if another connection has committed. Reading it costs a microsecond.
        let version = try connection.value(SchemaStatement.dataVersion)
        if version == connection.dataVersion, connection.schemaStamp != nil { return false }
        let stamp = try connection.value(SchemaStatement.stamp)
        guard case .text(let text)? = stamp, text == connection.schemaStamp ?? connection.openedStamp else {
            throw foreignSchemaChange(connection)
        }
        let hasMoved = version != connection.dataVersion
        connection.schemaStamp = text
        connection.dataVersion = version
        return hasMoved
    }

    /// Checks that a reader's state has the schema with which the store was opened.
    func checkStamp(_ reader: Connection) throws {
        guard try reader.value(SchemaStatement.stamp) == openedStamp.map({ .text($0) }) else {
            throw foreignSchemaChange(reader)
        }
    }

    /// Returns the error for a changed schema. If the sort order has changed, the error names it.
    private func foreignSchemaChange(_ connection: Connection) -> TandemError {
        let stored = try? KeyRules(folding: Folding.version, settingsOf: connection)
        let own = KeyRules(collation)
        if let stored, !stored.sorts(as: own), let order = stored.order, let ownOrder = own.order {
            return TandemError(
                .foreignSchemaChange,
                message: "Another process has opened the store with \(order), and this one uses \(ownOrder).",
                advice:
                    "Use the same Configuration.sortLanguage and sortsNumbersByValue in all processes, and open the "
                    + "store again.", store: path)
        }
        return TandemError(
            .foreignSchemaChange, message: "Another process has changed the store's schema.",
            advice: "Open the store again.", store: path)
    }
}

extension WriteTransaction {
    /// Takes an update out of the queue that has nothing to say before its files have been uploaded: all that it changes
    /// are attachments, and without those that wait they are what the server holds. The object then stands as one whose
    /// insert was acknowledged before its file was uploaded.
    ///
    /// - Returns: Whether it was one.
    package func leaveToFiles(_ id: Operation.ID) throws -> Bool {
        try checkUsable()
        let (operation, tableName, rowID) = try stored(id)
        guard let table = store.schema.table(named: tableName), table.sendsFiles, operation.isUntriedUpdate,
            let state = try state(ofRow: rowID, in: table), state.serverID != nil, !state.isDeleted
        else { return false }
        let values = try wholeValues(of: state, in: table)
        for entry in operation.changes.entries {
            guard
                let column = table.attachments.first(where: {
                    table.definition.properties[$0.property].column == entry.column
                }),
                try withoutPending(entry.value, of: column.property, in: table)
                    == withoutPending(values[column.property], of: column.property, in: table)
            else { return false }
        }
        try savepoint {
            try drop(operation, in: table)
            try connection.execute(
                "UPDATE \(table.quotedTable) SET \"synced\" = \(table.settledSQL) WHERE \"__rid\" = ?",
                [.integer(rowID)])
        }
        return true
    }
}

extension StoredOperation {
    /// Whether it is an update of which nothing can have reached the server.
    fileprivate var isUntriedUpdate: Bool {
        kind == .update && state == .pending && sent == nil && replaced == nil && attemptedKinds.isEmpty
            && !changes.isEmpty
    }
}

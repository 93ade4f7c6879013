extension SyncTransaction {
    /// Returns whether an update has nothing to send until its files are uploaded. It changes attachments only, and the
    /// server's values stay until then.
    ///
    /// If it replaces files, it stays in the queue, with the files that the server keeps until then. If it only adds
    /// files, it is removed. The object is then like one whose insert was acknowledged before its file was uploaded.
    ///
    /// - Parameter removingAdditions: Whether an update that only adds files counts.
    package func deferToUpload(_ id: PendingOperation.ID, removingAdditions: Bool) throws -> Bool {
        try checkUsable()
        let (operation, tableName, rowID) = try storedOperation(id)
        guard let table = store.schema.table(named: tableName), table.sendsFiles,
            let state = try state(ofRow: rowID, in: table), state.serverID != nil, !state.isDeleted
        else { return false }
        switch try fileDependence(of: operation, onRow: rowID, in: table) {
        case .none: return false
        case .replacements: return true
        case .additions: break
        }
        guard removingAdditions else { return false }
        try savepoint {
            try transaction.drop(operation, in: table)
            try connection.execute(
                "UPDATE \(table.quotedTable) SET \"synced\" = \(table.isSyncedSQL) WHERE \"__rid\" = ?",
                binding: [.integer(rowID)])
        }
        return true
    }

    /// Returns the updates that have nothing to send until a file is uploaded.
    package func operationsWaiting(for id: FileID) throws -> Set<PendingOperation.ID> {
        try checkUsable()
        var waiting: Set<PendingOperation.ID> = []
        for (table, rowID) in try users(of: id) {
            guard let operation = try self.operation(of: rowID, in: table) else { continue }
            if try fileDependence(of: operation, onRow: rowID, in: table) != .none { waiting.insert(operation.id) }
        }
        return waiting
    }
}

extension SyncTransaction {
    /// Queues the changes of an upload.
    ///
    /// - Returns: The operation that sends them now, or `nil` if none does.
    func recordURL(
        _ state: ObjectState, in table: TableLayout, bases: PropertyBases
    ) throws -> PendingOperation.ID? {
        var state = state
        if var operation = try operation(of: state.rowID, in: table) {
            if operation.kind == .delete {
                // The URL is sent if the object is restored.
                guard operation.replaced != .insert else { return nil }
                operation.changes.merge(later: bases)
                operation.replaced = .update
                try transaction.save(operation, in: table)
                return nil
            }
            // A failed operation keeps waiting for the user, who did not make this change.
            let isFailed = operation.state == .failed
            if operation.kind == .update || operation.sent != nil { operation.changes.merge(later: bases) }
            guard isFailed else {
                try transaction.save(operation, in: table)
                return operation.id
            }
            try connection.execute(
                #"UPDATE "__operations" SET "changes" = ? WHERE "id" = ?"#,
                binding: [operation.changes.encoded, .integer(operation.id)])
            return nil
        }
        guard state.serverID != nil else { return nil }
        state.isSynced = false
        try transaction.recordUpdate(state, in: table, bases: bases)
        try connection.execute(
            "UPDATE \(table.quotedTable) SET \"synced\" = 0 WHERE \"__rid\" = ?", binding: [.integer(state.rowID)])
        return try operation(of: state.rowID, in: table)?.id
    }

    /// Queues the URLs that a row has received since its bases, to which it has just returned.
    func recordUploaded(since bases: PropertyBases, state: ObjectState, in table: TableLayout) throws {
        guard table.sendsFiles else { return }
        let values = try valuesIncludingUnresolved(of: state, in: table)
        let changed = try table.attachments.filter(\.isSent).compactMap { column -> (String, StorageValue)? in
            let name = table.definition.properties[column.property].column
            guard let base = bases[name] else { return nil }
            let there = try withoutPending(base, of: column.property, in: table)
            let here = try withoutPending(values[column.property], of: column.property, in: table)
            return there == here ? nil : (name, there)
        }
        if !changed.isEmpty { _ = try recordURL(state, in: table, bases: PropertyBases(changed)) }
    }
}

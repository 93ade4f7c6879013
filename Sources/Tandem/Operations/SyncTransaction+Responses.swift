import Foundation

/// The effects of a server's response on the queue and the object.
extension SyncTransaction {
    /// Applies the server's acknowledgment without its item. See `WriteTransaction.acknowledge`.
    func acknowledge(
        _ id: PendingOperation.ID, serverID: ServerID?, version: String?, createdAt: Date?, updatedAt: Date?
    ) throws {
        try checkUsable()
        let (operation, tableName, rowID) = try storedOperation(id)
        guard operation.sent != nil, let table = store.schema.table(named: tableName),
            let state = try state(ofRow: rowID, in: table)
        else { throw stale(id) }
        try savepoint {
            guard operation.sentKind ?? operation.kind != .delete else {
                return try acknowledgeDelete(operation, state: state, in: table)
            }
            guard let serverID = serverID ?? state.serverID else {
                throw TandemError(
                    .invalidValue, message: "An insert was acknowledged without a server ID.",
                    advice: "Pass the ID that the server gave the object.", store: store.path,
                    model: table.definition.name)
            }
            var received = state
            received.serverID = serverID
            received.version = version
            received.createdAt = createdAt ?? state.createdAt
            received.updatedAt = updatedAt
            try completeAttempt(operation, state: state, received: received, in: table)
            // The object exists on the server, so a tombstone received earlier is obsolete.
            try dropDeferredTombstone(of: state.rowID, in: table)
        }
    }

    /// Applies the server's state after an attempt, including values that the server changed. Properties unchanged here
    /// take the server's values. For properties changed meanwhile, the server's values become the new bases.
    ///
    /// - Parameters:
    ///   - attempt: The value of ``PendingOperation/attempts`` when the attempt began.
    ///   - item: The server's item. After a delete, the tombstone or `nil`.
    ///   - keepsTombstones: Whether the server keeps deleted objects under their IDs. An object that was restored
    ///     during its delete must then be undeleted there, and not inserted.
    /// - Throws: ``TandemError/Code/invalidValue`` if the response to an insert or update has no live item.
    package func acknowledge(
        _ id: PendingOperation.ID, attempt: Int, with item: ServerItem?, keepsTombstones: Bool = false
    ) throws -> ResponseOutcome {
        try checkUsable()
        guard let (operation, tableName, rowID) = try underWay(id, attempt: attempt),
            let table = store.schema.table(named: tableName), let state = try state(ofRow: rowID, in: table)
        else { return .stale }
        return try savepoint {
            if operation.sentKind ?? operation.kind == .delete {
                // An object without acknowledgment and tombstone has no ID on the server that an undelete could use.
                if keepsTombstones && operation.kind != .delete && (item != nil || state.serverID != nil) {
                    try makeUndelete(operation, state: state, over: item, in: table)
                } else {
                    try acknowledgeDelete(operation, state: state, in: table)
                }
                return operation.kind == .delete ? .done : .stillPending
            }
            guard let item, !item.isDeleted else {
                throw TandemError(
                    .invalidValue, message: "An insert or update was acknowledged without what the server holds now.",
                    advice: "Ask the server for the object.", store: store.path, model: table.definition.name)
            }
            return try acknowledgeChange(operation, state: state, item: item, in: table)
        }
    }

    private func acknowledgeChange(
        _ operation: StoredOperation, state: ObjectState, item: ServerItem, in table: TableLayout
    ) throws -> ResponseOutcome {
        var (operation, state) = (operation, state)
        // Assign the server ID first: a list that names the object itself finds it by that ID.
        if state.serverID != item.serverID {
            state = try mergeDuplicate(of: state, withServerID: item.serverID, in: table)
            try connection.execute(
                "UPDATE \(table.quotedTable) SET \"serverID\" = ? WHERE \"__rid\" = ?",
                binding: [.text(item.serverID.rawValue), .integer(state.rowID)])
            // Changes to an object that is merged into this one count as changes made meanwhile.
            if let merged = try self.operation(of: state.rowID, in: table) { operation = merged }
        }
        var received = state
        received.serverID = item.serverID
        received.createdAt = item.createdAt ?? state.createdAt
        received.updatedAt = item.updatedAt
        received.version = item.version
        var isRefused = false
        do {
            try merge(item, operation: &operation, state: state, in: table)
        } catch let error as TandemError where error.code == .duplicateValue {
            // The server executed the request, so it must not be sent again. The version stays that of the values.
            isRefused = true
            received.version = state.version
            received.updatedAt = state.updatedAt
            try deferItem(item, of: state.rowID, in: table, reason: .refused, message: error.message)
        }
        try completeAttempt(operation, state: state, received: received, in: table)
        guard !isRefused else { return .refusedHere }
        try dropDeferred(knowing: item, of: state.rowID, in: table)
        guard let rest = try self.operation(of: state.rowID, in: table) else { return .done }
        // An operation that waits for a file has nothing else to send now.
        return try fileDependence(of: rest, onRow: state.rowID, in: table) == .replacements ? .done : .stillPending
    }

    /// Writes the server's values over properties unchanged here meanwhile. Nothing is written if it throws.
    private func merge(
        _ item: ServerItem, operation: inout StoredOperation, state: ObjectState, in table: TableLayout
    ) throws {
        let values = item.values(in: table)
        let here = try valuesIncludingUnresolved(of: state, in: table)
        var changes = operation.changes
        for (property, said) in values {
            let definition = table.definition.properties[property]
            let column = definition.column
            let value = definition.form(said, like: here[property], operation.base(of: column))
            // The server holds the replaced file until the upload. Its value is the base of that change.
            guard
                try changes[column] != nil
                    || keepsReplaced(value, here: here[property], of: property, in: table)
                        && operation.base(of: column) != nil
            else { continue }
            let there = try localForm(value, of: property, in: table)
            // A pending file is sent separately.
            let sendable = try withoutPending(here[property], of: property, in: table)
            changes[column] = there == sendable ? nil : there
        }
        let unchanged = values.filter { changes[table.definition.properties[$0.property].column] == nil }
        try applyServerValues(state, with: unchanged, in: table)
        try storeExtras(item.extras, of: state.rowID, in: table)
        operation.changes = changes
    }

    /// Writes the server's values into a row that may have an operation and may be deleted. Attachments that wait for
    /// their upload stay.
    ///
    /// - Parameters:
    ///   - replaced: The properties whose pending attachments are removed too.
    ///   - found: A look-up that is at the row, if there is one. The method resets it, unless it throws.
    ///   - received: The server's state, if the row takes it too. The row must not have an operation.
    func applyServerValues(
        _ state: ObjectState, with values: [(property: Int, value: StorageValue)], in table: TableLayout,
        replacing replaced: Set<Int> = [], at found: Statement? = nil, received: ObjectState? = nil
    ) throws {
        guard !values.isEmpty || received != nil else { return }
        var values = values
        if !table.attachments.isEmpty {
            let here = try valuesIncludingUnresolved(of: state, in: table, at: found)
            values = try values.map { property, value in
                let definition = table.definition.properties[property]
                let value = definition.holdsAttachments ? definition.form(value, like: here[property]) : value
                return replaced.contains(property)
                    ? (property, value)
                    : (property, try withPending(value, here: here[property], of: property, in: table))
            }
        }
        let row = RowEncoder()
        var rest = values[...]
        for property in table.definition.properties.indices {
            if rest.first?.property == property, let next = rest.popFirst() {
                row.append(next.value)
            } else {
                row.appendNull()
            }
        }
        let statements = try connection.tableStatements(table)
        guard let statement = try found ?? statements.find(state.localID, rowID: state.rowID) else {
            throw notFound(state.localID, in: table)
        }
        let state = try transaction.update(
            statement, with: row, in: table, only: Set(values.map(\.property)), from: .server, received: received,
            keepsWaiting: false, isReviving: true)
        guard received != nil, table.sendsFiles else { return }
        // The server's values may have replaced an attachment that waited for its upload. Or they add a file that waits
        // to be uploaded for another object. Triggers record the files of the new values after the update.
        try transaction.poisoningOnError {
            let isSynced = try hasNoPendingFiles(state.rowID, in: table)
            guard isSynced != state.isSynced else { return }
            try connection.execute(
                "UPDATE \(table.quotedTable) SET \"synced\" = ? WHERE \"__rid\" = ?",
                binding: [.integer(isSynced ? 1 : 0), .integer(state.rowID)])
        }
    }

    // MARK: -

    private func acknowledgeDelete(_ operation: StoredOperation, state: ObjectState, in table: TableLayout) throws {
        guard operation.kind != .delete else {
            try transaction.drop(operation, in: table)
            // The server may have stored the object under the ID made here. The object may have been deleted before its
            // acknowledgment.
            let serverID = state.serverID ?? ServerID(state.localID.rawValue)
            try dropDeferred(of: state.rowID, serverID: serverID, in: table)
            return try eraseRow(of: state, in: table)
        }
        // The object was restored while the delete was under way.
        try resend(operation, state: state, in: table)
    }

    /// Turns the operation into an insert. The server no longer has the object, nor a tombstone of it.
    ///
    /// - Throws: ``TandemError/Code/staleOperation`` if the operation is no longer in the queue, or is a delete.
    package func makeInsert(_ id: PendingOperation.ID) throws {
        try checkUsable()
        let (operation, tableName, rowID) = try storedOperation(id)
        guard operation.kind != .delete, let table = store.schema.table(named: tableName),
            let state = try state(ofRow: rowID, in: table)
        else { throw stale(id) }
        try savepoint {
            try dropDeferred(of: rowID, serverID: state.serverID, in: table)
            try resend(operation, state: state, in: table)
        }
    }

    private func resend(_ operation: StoredOperation, state: ObjectState, in table: TableLayout) throws {
        try restart(operation, as: .insert, changes: PropertyBases(), sent: [], in: table)
        try connection.execute(
            """
            UPDATE \(table.quotedTable) SET "serverID" = NULL, "version" = NULL, "createdAt" = NULL, \
            "updatedAt" = NULL, "synced" = 0 WHERE "__rid" = ?
            """, binding: [.integer(state.rowID)])
    }

    /// Ends an attempt that the server executed.
    private func completeAttempt(
        _ operation: StoredOperation, state: ObjectState, received: ObjectState, in table: TableLayout
    ) throws {
        let isDone = operation.kind == operation.sentKind ?? operation.kind && operation.changes.isEmpty
        if isDone {
            try transaction.drop(operation, in: table)
        } else {
            // The object was changed or deleted meanwhile. The remaining operation is sent on the new version.
            let isDelete = operation.kind == .delete
            try restart(
                operation, as: isDelete ? .delete : .update, changes: operation.changes,
                replacing: isDelete && !operation.changes.isEmpty ? .update : nil, sent: [], in: table)
        }
        let statement = try connection.statement(
            """
            UPDATE \(table.quotedTable) SET "serverID" = ?, "version" = ?, "createdAt" = ?, "updatedAt" = ?, \
            "synced" = ? AND \(table.noPendingFilesSQL) WHERE "__rid" = ?
            """)
        statement.bind(1, to: received.serverID?.rawValue)
        statement.bind(2, to: received.version)
        statement.bind(3, to: received.createdAt)
        statement.bind(4, to: received.updatedAt)
        statement.bind(5, to: isDone)
        statement.bind(6, to: state.rowID)
        do {
            try statement.run()
        } catch let error as TandemError where error.isConstraint {
            throw try transaction.explainConstraint(error, row: connection.row, state: received, in: table)
        }
        // References do not resolve to an object that was deleted meanwhile.
        if state.serverID == nil && !state.isDeleted {
            var state = state
            state.serverID = received.serverID
            try transaction.resolveWaiting(for: state, in: table)
        }
    }
}

/// The user's decisions on an operation that failed, is in conflict, or should wait.
extension SyncTransaction {
    /// Holds an operation back until ``release(_:)``, whatever changes meanwhile. A current attempt may still arrive,
    /// and so may its response. The response ends the operation unless changes remain, which are then held.
    ///
    /// - Throws: ``TandemError/Code/staleOperation`` if it is no longer in the queue.
    package func hold(_ id: PendingOperation.ID) throws {
        try checkUsable()
        let (_, table, _) = try storedOperation(id)
        try connection.execute(
            "UPDATE \"__operations\" SET \"state\" = 3, \"retryAt\" = NULL WHERE \"id\" = ?", binding: [.integer(id)])
        transaction.touched.recordOperation(ofTable: table)
    }

    /// Allows an operation that failed or is held to be sent again. A pending or attempted operation does not change.
    ///
    /// - Throws: ``TandemError/Code/staleOperation`` if it is no longer in the queue.
    package func release(_ id: PendingOperation.ID) throws {
        try checkUsable()
        let (operation, table, _) = try storedOperation(id)
        guard operation.state == .failed || operation.state == .held else { return }
        // The server may still have executed an attempt that was under way when the operation was held.
        try connection.execute(
            """
            UPDATE "__operations" SET "state" = CASE WHEN "sent" IS NULL THEN 0 ELSE 1 END, "retryAt" = NULL \
            WHERE "id" = ?
            """, binding: [.integer(id)])
        try transaction.forgetError(of: id)
        transaction.touched.recordOperation(ofTable: table)
    }

    /// Discards an operation. A new object is removed, by the delete rules of the references to it. An updated object
    /// returns to the values that the server last sent, and a deleted one is restored. If the server's current state is
    /// known, the object takes that state.
    ///
    /// An insert that the server may have received is not simply removed. It becomes a delete to be sent, so that the
    /// object exists on both sides or on neither. An insert that the server has rejected since is removed, as is a
    /// delete of such an object. The next pull fetches the object if it exists on the server. The same holds for an
    /// update or a delete whose attempt is executed after the discard.
    ///
    /// - Parameter item: The server's item, if known. A tombstone removes the object.
    /// - Returns: The lost values: those that were not sent, by the properties' names in Swift. All values for an
    ///   insert.
    /// - Throws: ``TandemError/Code/staleOperation`` if it is no longer in the queue;
    ///   ``TandemError/Code/duplicateValue`` if another object has a unique value of the object's new state, and
    ///   ``TandemError/Code/deleteDenied``. The operation is then unchanged.
    @discardableResult
    package func discard(_ id: PendingOperation.ID, for item: ServerItem? = nil) throws -> [String: StorageValue] {
        try checkUsable()
        let (operation, tableName, rowID) = try storedOperation(id)
        guard let table = store.schema.table(named: tableName), let state = try state(ofRow: rowID, in: table) else {
            throw stale(id)
        }
        var lost = try unsentValues(of: operation, state: state, in: table)
        if let item, operation.kind != .insert {
            lost.merge(try pendingValues(lostTo: item, state: state, in: table)) { $1 }
        }
        try savepoint {
            if let item {
                let state = try uniteWithHolder(of: item.serverID, state, in: table)
                try dropDeferred(knowing: item, of: state.rowID, in: table)
                try transaction.drop(operation, in: table)
                try become(item, state: state, in: table, replacing: table.indices(of: Set(lost.keys)))
            } else if state.serverID == nil {
                try forgetNew(operation, state: state, in: table)
            } else if try hasDeferredTombstone(of: state.rowID, in: table) {
                // The object has no earlier state.
                try transaction.drop(operation, in: table)
                try eraseObject(state, in: table)
            } else {
                try returnToBase(operation, state: state, in: table)
            }
        }
        return lost
    }

    private func unsentValues(
        of operation: StoredOperation, state: ObjectState, in table: TableLayout
    ) throws -> [String: StorageValue] {
        let values = try valuesIncludingUnresolved(of: state, in: table)
        let isWhole = operation.kind == .insert || operation.replaced == .insert
        return Dictionary(
            uniqueKeysWithValues: table.definition.properties.enumerated().filter { _, property in
                !property.isLocalOnly
                    && (isWhole || operation.base(of: property.column) != nil)
            }.map { ($1.name, values[$0]) })
    }

    /// Removes an object that the server is not known to have, by the app's rules. Objects that refer to it get
    /// operations of their own.
    private func forgetNew(_ operation: StoredOperation, state: ObjectState, in table: TableLayout) throws {
        let mayBeThere = !operation.attemptedKinds.isEmpty && operation.state != .failed
        if mayBeThere { try release(operation.id) } else { try transaction.drop(operation, in: table) }
        if !state.isDeleted {
            _ = try transaction.delete(state.localID, in: table)
        } else if !mayBeThere {
            try eraseRow(of: state, in: table)
        }
    }

    /// Restores the values that the server last sent.
    private func returnToBase(_ operation: StoredOperation, state: ObjectState, in table: TableLayout) throws {
        let bases = operation.bases
        try transaction.drop(operation, in: table)
        let values = try table.definition.properties.enumerated().compactMap { index, property in
            try bases[property.column].map { base in
                // An attachment that waited for its upload before the change waits again, if its file still exists.
                let isOfFiles = table.attachments(at: index) != nil
                let form = isOfFiles ? base : try wireForm(base, of: index, in: table)
                return (index, try withoutLost(form, of: index, in: table))
            }
        }
        try applyServerValues(state, with: values, in: table, replacing: Set(values.map(\.0)))
        try markSynced(state, in: table)
        try recordUploaded(since: bases, state: state, in: table)
    }

    /// Gives an object the server's state. Its operation was removed before.
    private func become(
        _ item: ServerItem, state: ObjectState, in table: TableLayout, replacing: Set<Int>
    ) throws {
        guard !item.isDeleted else { return try eraseObject(state, in: table) }
        try applyServerState(item, state: state, in: table, values: item.values(in: table), replacing: replacing)
        var state = state
        state.serverID = item.serverID
        try markSynced(state, in: table)
    }

    /// Shows a row that no longer has an operation, and marks it as synced.
    private func markSynced(_ state: ObjectState, in table: TableLayout) throws {
        try connection.execute(
            "UPDATE \(table.quotedTable) SET \"synced\" = \(table.isSyncedSQL) WHERE \"__rid\" = ?",
            binding: [.integer(state.rowID)])
        if state.isDeleted { try transaction.show(state, in: table) }
    }
}

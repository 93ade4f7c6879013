/// What the user chooses for an operation that failed, is in conflict, or should wait.
extension WriteTransaction {
    /// Leaves an operation unsent until ``release(_:)``, whatever changes meanwhile. An attempt that is under way may
    /// still arrive, and so may its answer: it ends the operation, unless something is left to be sent, which is held.
    ///
    /// - Throws: ``TandemError/Code/staleOperation`` if it is no longer in the queue.
    package func hold(_ id: Operation.ID) throws {
        try checkUsable()
        let (_, table, _) = try stored(id)
        try connection.execute(
            "UPDATE \"__operations\" SET \"state\" = 3, \"retryAt\" = NULL WHERE \"id\" = ?", [.integer(id)])
        touched.noteOperation(ofTable: table)
    }

    /// Has an operation that failed, or is held, sent again. One that is pending or under way stays as it is.
    ///
    /// - Throws: ``TandemError/Code/staleOperation`` if it is no longer in the queue.
    package func release(_ id: Operation.ID) throws {
        try checkUsable()
        let (operation, table, _) = try stored(id)
        guard operation.state == .failed || operation.state == .held else { return }
        // An attempt that was under way when it was held is still one that the server may have carried out.
        try connection.execute(
            """
            UPDATE "__operations" SET "state" = CASE WHEN "sent" IS NULL THEN 0 ELSE 1 END, "retryAt" = NULL \
            WHERE "id" = ?
            """, [.integer(id)])
        try forgetError(of: id)
        touched.noteOperation(ofTable: table)
    }

    /// Gives an operation up. An insert's object goes, by the delete rules of those that refer to it; an update's
    /// returns to what the server last sent, and a delete's comes back. Where the server holds something else by now, it
    /// becomes that.
    ///
    /// An insert that the server may have got does not simply go: it becomes a delete, to be sent, so that the object is
    /// neither here alone nor there alone. One that the server has refused since goes all the same, as does a delete of
    /// such an object: what is there then comes with the next pull. So does an update, or a delete, whose attempt is
    /// carried out after it was given up.
    ///
    /// - Parameter item: What the server holds, if that is known: a live item, or the tombstone with which the object
    ///   goes.
    /// - Returns: What is lost: the values that were not sent, by the properties' names in Swift; all of an insert's.
    /// - Throws: ``TandemError/Code/staleOperation`` if it is no longer in the queue;
    ///   ``TandemError/Code/duplicateValue`` if another object has a unique value of what the object would become, and
    ///   ``TandemError/Code/deleteDenied``. The operation is then as it was.
    @discardableResult
    package func discard(_ id: Operation.ID, for item: ServerItem? = nil) throws -> [String: StorageValue] {
        try checkUsable()
        let (operation, tableName, rowID) = try stored(id)
        guard let table = store.schema.table(named: tableName), let state = try state(ofRow: rowID, in: table) else {
            throw stale(id)
        }
        var lost = try unsentValues(of: operation, state, table)
        if let item, operation.kind != .insert { lost.merge(try pendingValues(lostTo: item, state, table)) { $1 } }
        try savepoint {
            if let item {
                let state = try uniteWithHolder(of: item.serverID, state, in: table)
                try dropKept(knowing: item, of: state.rowID, in: table)
                try drop(operation, in: table)
                try become(item, state, table, replacing: table.places(of: Set(lost.keys)))
            } else if state.serverID == nil {
                try forgetNew(operation, state, table)
            } else if try hasKeptTombstone(of: state.rowID, in: table) {
                // There is nothing to return to.
                try drop(operation, in: table)
                try goAsServerSays(state, table)
            } else {
                try returnToBase(operation, state, table)
            }
        }
        return lost
    }

    private func unsentValues(
        of operation: StoredOperation, _ state: ObjectState, _ table: TableLayout
    ) throws -> [String: StorageValue] {
        let values = try wholeValues(of: state, in: table)
        let isWhole = operation.kind == .insert || operation.replaced == .insert
        return Dictionary(
            uniqueKeysWithValues: table.definition.properties.enumerated().filter { _, property in
                !property.isLocalOnly
                    && (isWhole || operation.base(of: property.column) != nil)
            }.map { ($1.name, values[$0]) })
    }

    /// Takes away an object that the server is not known to have, by the app's rules: what refers to it has operations of
    /// its own for that.
    private func forgetNew(_ operation: StoredOperation, _ state: ObjectState, _ table: TableLayout) throws {
        let mayBeThere = !operation.attemptedKinds.isEmpty && operation.state != .failed
        if mayBeThere { try release(operation.id) } else { try drop(operation, in: table) }
        if !state.isDeleted {
            _ = try asApp { try delete(state.localID, in: table) }
        } else if !mayBeThere {
            try eraseRow(of: state, in: table)
        }
    }

    /// Runs changes that are the app's, whoever the transaction is of: they are to be sent.
    func asApp<T>(_ body: () throws -> T) rethrows -> T {
        let outer = origin
        if outer != .app { knownTargets.removeAll() }
        origin = .app
        defer {
            if outer != .app { knownTargets.removeAll() }
            origin = outer
        }
        return try body()
    }

    /// Makes an object what the server last sent of it.
    private func returnToBase(_ operation: StoredOperation, _ state: ObjectState, _ table: TableLayout) throws {
        let bases = operation.bases
        try drop(operation, in: table)
        let values = try table.definition.properties.enumerated().compactMap { index, property in
            try bases[property.column].map { base in
                // What waited to be uploaded before the change waits again, if it is still there.
                let isOfFiles = table.attachments(at: index) != nil
                let form = isOfFiles ? base : try wireForm(base, of: index, in: table)
                return (index, try withoutLost(form, of: index, in: table))
            }
        }
        try overwrite(state, with: values, in: table, replacing: Set(values.map(\.0)))
        try markSynced(state, table)
        try recordUploaded(since: bases, state, table)
    }

    /// Makes an object what the server holds: its operation is gone.
    private func become(
        _ item: ServerItem, _ state: ObjectState, _ table: TableLayout, replacing: Set<Int>
    ) throws {
        guard !item.isDeleted else { return try goAsServerSays(state, table) }
        try take(item, state, table, item.values(in: table), replacing: replacing)
        var state = state
        state.serverID = item.serverID
        try markSynced(state, table)
    }

    private func goAsServerSays(_ state: ObjectState, _ table: TableLayout) throws {
        try eraseRow(of: state, in: table)
        try asServer { try detachHolders(of: state.localID, in: table, as: state.serverID) }
    }

    /// Shows a row that has no operation any more, and marks it as synced.
    private func markSynced(_ state: ObjectState, _ table: TableLayout) throws {
        try connection.execute(
            "UPDATE \(table.quotedTable) SET \"synced\" = \(table.settledSQL) WHERE \"__rid\" = ?",
            [.integer(state.rowID)])
        guard state.isDeleted else { return }
        knownTargets.removeAll()
        try asServer { try show(state, in: table) }
    }

    /// Takes a row away, hidden or not, whose operation is gone.
    func eraseRow(of state: ObjectState, in table: TableLayout) throws {
        let statements = try connection.tableStatements(table)
        guard let statement = try statements.find(state.localID, rowID: state.rowID) else { return }
        let texts: [String?]
        do {
            defer { statement.reset() }
            texts = try statements.searchTexts(statement)
        }
        knownTargets.removeAll()
        try erase(state, texts, in: table)
    }
}

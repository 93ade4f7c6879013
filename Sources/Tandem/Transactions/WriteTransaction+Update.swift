import Foundation

extension WriteTransaction {
    /// Updates all properties of the stored object to those of a value.
    ///
    /// For example:
    ///
    /// ```swift
    /// var card = try store.objects(Card.self).first()!
    /// card.points += 10
    /// try store.write { try $0.update(card) }
    /// ```
    ///
    /// Unchanged properties are not written. A value without changes writes nothing. To change a property independently
    /// of the current values of the others, use ``update(_:localID:_:)``.
    ///
    /// - Parameter object: The new values. The stored object is found by the local ID.
    /// - Returns: The object in its stored state.
    /// - Throws: ``TandemError/Code/notFound``, ``TandemError/Code/objectDeleted`` or
    ///   ``TandemError/Code/duplicateValue``.
    @discardableResult
    public func update<M: Model>(_ object: M) throws -> M {
        try checkUsable()
        let table = try store.schema.table(M.self)
        let row = connection.row
        row.removeAll()
        object.__append(to: row)
        let statements = try connection.tableStatements(table)
        guard let statement = try statements.find(object.localID, rowID: object.__state.rowID) else {
            throw notFound(object.localID, in: table)
        }
        hasRewrittenLinks = false
        let state = try update(statement, with: row, in: table)
        return try refreshed(object, state: state, in: table)
    }

    /// Returns a written value in its stored state. It is read again if the store changed one of its properties.
    func refreshed<M: Model>(
        _ object: M, state: ObjectState, in table: TableLayout, isPartial: Bool = false
    ) throws -> M {
        guard isPartial || hasRewrittenLinks else {
            var object = object
            object.__state = state
            return object
        }
        guard let statement = try connection.tableStatements(table).find(state.localID, rowID: state.rowID) else {
            throw notFound(state.localID, in: table)
        }
        defer { statement.reset() }
        return try self.object(of: statement, in: table)
    }

    /// Changes the current state of an object in place.
    ///
    /// For example:
    ///
    /// ```swift
    /// try store.write { try $0.update(Card.self, localID: card.localID) { $0.points += 10 } }
    /// ```
    ///
    /// - Parameters:
    ///   - model: The model of the object.
    ///   - localID: The object's local ID.
    ///   - change: Changes the stored object in place.
    /// - Returns: The object in its stored state.
    /// - Throws: ``TandemError/Code/notFound``, ``TandemError/Code/objectDeleted`` or
    ///   ``TandemError/Code/duplicateValue``, and the errors of the block.
    @discardableResult
    public func update<M: Model>(_ model: M.Type, localID: LocalID, _ change: (inout M) throws -> Void) throws -> M {
        try checkUsable()
        return try update(model, localID: localID, rowID: 0, in: try store.schema.table(M.self), change: change)
    }

    /// Changes the current state of an object in place. The block receives the stored object, and not the given value.
    ///
    /// For example:
    ///
    /// ```swift
    /// try store.write { try $0.update(card) { $0.points += 1 } }
    /// ```
    ///
    /// - Parameters:
    ///   - object: The object, which is found by its local ID.
    ///   - change: Changes the stored object in place.
    /// - Returns: The object in its stored state.
    /// - Throws: ``TandemError/Code/notFound``, ``TandemError/Code/objectDeleted`` or
    ///   ``TandemError/Code/duplicateValue``, and the errors of the block.
    @discardableResult
    public func update<M: Model>(_ object: M, _ change: (inout M) throws -> Void) throws -> M {
        try checkUsable()
        return try update(
            M.self, localID: object.localID, rowID: object.__state.rowID, in: try store.schema.table(M.self),
            change: change)
    }

    func update<M: Model>(
        _ model: M.Type, localID: LocalID, rowID: Int64, in table: TableLayout, change: (inout M) throws -> Void
    ) throws -> M {
        let statements = try connection.tableStatements(table)
        guard let found = try statements.find(localID, rowID: rowID) else { throw notFound(localID, in: table) }
        let finds = statements.finds
        let changes = connection.totalChanges
        var object: M
        let rowID: Int64
        do {
            object = try self.object(of: found, in: table)
            rowID = object.__state.rowID
            try change(&object)
        } catch {
            found.reset()
            throw error
        }
        object.__state.localID = localID
        let row = connection.row
        row.removeAll()
        object.__append(to: row)
        var statement = found
        if statements.finds != finds || connection.totalChanges != changes {
            // The block has written, perhaps with the same statements. Look up the row again.
            found.reset()
            guard let again = try statements.find(localID, rowID: rowID) else { throw notFound(localID, in: table) }
            statement = again
        }
        hasRewrittenLinks = false
        let state = try update(statement, with: row, in: table)
        return try refreshed(object, state: state, in: table)
    }

    /// Changes the row at which a statement is positioned, and resets the statement.
    ///
    /// - Parameters:
    ///   - row: The new values.
    ///   - only: The properties to change, or `nil` for all. The other values in `row` are ignored.
    ///   - source: The source of the values. The caller ensures that a server's values overwrite no unsent changes.
    ///   - received: The server's state, if the row takes it too. It has the row's server ID, and the same statement
    ///     writes it.
    ///   - unresolved: The row's unresolved references, if they are already known.
    ///   - keepsWaiting: Whether unresolved references stay if `row` does not name them.
    ///   - isReviving: Whether the row belongs to a deleted object that is about to be restored.
    func update(
        _ statement: Statement, with row: RowEncoder, in table: TableLayout, only: Set<Int>? = nil,
        from source: RowSource = .app, received: ObjectState? = nil, unresolved known: [UnresolvedReference]? = nil,
        keepsWaiting: Bool? = nil, isReviving: Bool = false
    ) throws -> ObjectState {
        var isReset = false
        defer { if !isReset { statement.reset() } }
        try check(row, in: table)
        try delegate.willWrite(row, over: statement, in: table, only: only, from: source, by: self)
        var state = try state(of: statement, in: table)
        if state.isDeleted && !isReviving {
            throw TandemError(
                .objectDeleted, message: "The object \(state.localID) is deleted.", advice: "Undelete it first.",
                store: store.path, model: table.definition.name)
        }
        let unresolved = try known ?? resolveLinks(row, of: table, only: only, from: source)
        let waiting = try waitingChanges(
            row, only: only, unresolved: unresolved, keeps: keepsWaiting ?? (only == nil),
            of: state.rowID, in: table)
        let stored = statement.row()
        var changed: [Int] = []
        for property in table.definition.properties.indices {
            if let only, !only.contains(property) { continue }
            if !isSame(property, row: row, as: stored, in: table)
                || waiting[property].map({ $0.before != $0.after }) ?? false
            {
                changed.append(property)
            }
        }
        let old = source.queuesOperations ? oldValues(of: changed, at: statement, waiting: waiting, in: table) : nil
        let searchChanges = table.searched.contains { changed.contains($0.property) }
        let indexed =
            searchChanges && !pendingSearch.contains(table, row: state.rowID)
            ? try connection.tableStatements(table).searchTexts(statement) : nil
        statement.reset()
        isReset = true

        try writeChanges(
            changed, row: row, clearsSynced: old != nil && state.isSynced, received: received, state: state, in: table)
        if !changed.isEmpty {
            try poisoningOnError {
                if let indexed { pendingSearch.recordChange(table, row: state.rowID, indexed: indexed) }
                if pendingSearch.count > pendingSearchLimit { try flushSearch() }
                try relink(changed, row: row, waiting: waiting, state: state, in: table)
                if let old { try delegate.didUpdate(state, from: old, in: table, by: self) }
            }
            if old != nil { state.isSynced = false }
        }
        return state
    }

    /// Returns whether a property's new value equals the stored one.
    private func isSame(_ property: Int, row: RowEncoder, as stored: RowDecoder, in table: TableLayout) -> Bool {
        let column = table.column(property)
        if row.equals(property, row: stored, column: column) { return true }
        let definition = table.definition.properties[property]
        return definition.hasSeveralForms
            && definition.isSame(row.value(at: property), stored.storageValue(column))
    }

    /// Returns the old values of the changed properties that are sent, or `nil` if none of them is.
    ///
    /// - Parameters:
    ///   - changed: The indices of the changed properties.
    ///   - statement: A statement at the existing row.
    ///   - waiting: The changes of unresolved references, by the property's index.
    private func oldValues(
        of changed: [Int], at statement: Statement,
        waiting: [Int: (before: [WaitingEntry], after: [WaitingEntry])], in table: TableLayout
    ) -> [OldValue]? {
        guard !table.isLocalOnly else { return nil }
        let sent = changed.filter { !table.definition.properties[$0].isLocalOnly }
        guard !sent.isEmpty else { return nil }
        return sent.map { index in
            let property = table.definition.properties[index]
            let value = statement.value(table.column(index))
            guard let entries = waiting[index]?.before else { return (property.column, value) }
            return (property.column, WaitingEntry.whole(value, with: entries, isToMany: property.isToMany))
        }
    }

    /// Writes changed properties, and the server's state if it differs, with one statement. Writes nothing if neither
    /// has changed.
    private func writeChanges(
        _ changed: [Int], row: RowEncoder, clearsSynced: Bool, received: ObjectState?, state: ObjectState,
        in table: TableLayout
    ) throws {
        let server = received.flatMap { serverColumns(of: $0, over: state, in: table) }
        guard !changed.isEmpty || server != nil else { return }
        let twins = connection.twins
        twins.removeAll()
        for fold in table.folds where changed.contains(fold.property) {
            twins.appendTwins(fold, of: row, by: connection.collation)
        }
        let statement = try connection.tableStatements(table).update(
            TableStatements.UpdateKey(properties: changed, clearsSynced: clearsSynced, server: server))
        defer { statement.reset() }
        do {
            try row.bytes.withUnsafeBufferPointer { rowBytes in
                try twins.bytes.withUnsafeBufferPointer { twinBytes in
                    var index: Int32 = 1
                    for property in changed {
                        statement.bind(index, to: row.slots[property], in: rowBytes)
                        index += 1
                    }
                    for slot in twins.slots {
                        statement.bind(index, to: slot, in: twinBytes)
                        index += 1
                    }
                    if let received, server != nil {
                        statement.bind(index, to: received.version)
                        statement.bind(index + 1, to: received.createdAt)
                        statement.bind(index + 2, to: received.updatedAt)
                        index += 3
                    }
                    statement.bind(index, to: state.rowID)
                    _ = try statement.step()
                }
            }
        } catch let error as TandemError where error.isConstraint {
            throw try explainConstraint(error, row: row, written: changed, state: state, in: table)
        }
    }

    /// Returns the columns that a server's state changes, or `nil` if the stored state is equal.
    private func serverColumns(
        of received: ObjectState, over state: ObjectState, in table: TableLayout
    ) -> TableStatements.ServerColumns? {
        if !state.isSynced && !table.sendsFiles { return .versionAndSynced }
        let isSame =
            ScalarText.isEqual(received.version, state.version) && received.createdAt == state.createdAt
            && received.updatedAt == state.updatedAt
        return isSame ? nil : .version
    }

    /// Updates the link tables for changed references.
    private func relink(
        _ changed: [Int], row: RowEncoder, waiting: [Int: (before: [WaitingEntry], after: [WaitingEntry])],
        state: ObjectState, in table: TableLayout
    ) throws {
        for link in table.links where changed.contains(link.property) {
            if let (before, after) = waiting[link.property], before != after {
                try replaceWaiting(after, of: state.rowID, link: link, in: table)
            }
            if link.isToMany {
                try removeLinks(link, of: state.rowID, in: table)
                try writeLinks(link, of: state.rowID, row: row, in: table)
            }
        }
    }
}

extension ReadTransaction {
    func notFound(_ localID: LocalID, in table: TableLayout) -> TandemError {
        TandemError(
            .notFound, message: "An object with the local ID \(localID) does not exist.",
            advice: "Insert it, or use upsert.", store: store.path, model: table.definition.name)
    }
}

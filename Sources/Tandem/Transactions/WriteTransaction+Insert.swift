import Foundation

extension WriteTransaction {
    /// Inserts a new object.
    ///
    /// For example:
    ///
    /// ```swift
    /// let card = try store.write { try $0.insert(Card(shop: "Лента", barcode: "4601234567893")) }
    /// ```
    ///
    /// If an object with the same local ID has a pending delete, the insert becomes an update. This update restores the
    /// object.
    ///
    /// - Parameter object: The values of the object, and its local ID.
    /// - Returns: The object in its stored state.
    /// - Throws: ``TandemError/Code/duplicateID`` if another object has its ID, ``TandemError/Code/duplicateValue`` if
    ///   another object has its value of a `@Unique` property.
    /// - Complexity: O(log *n*) for *n* objects in the table. It does not wait for the disk before the commit.
    @discardableResult
    public func insert<M: Model>(_ object: M) throws -> M {
        hasRewrittenLinks = false
        let state = try insertRow(of: object)
        return try refreshed(object, state: state, in: try store.schema.table(M.self))
    }

    /// Inserts new objects. See ``insert(_:)``.
    ///
    /// - Parameter objects: The objects to insert, in this order.
    /// - Throws: The errors of ``insert(_:)``.
    public func insert<M: Model>(contentsOf objects: some Sequence<M>) throws {
        for object in objects { _ = try insertRow(of: object) }
    }

    private func insertRow<M: Model>(of object: M) throws -> ObjectState {
        try checkUsable()
        let table = try store.schema.table(M.self)
        let row = connection.row
        row.removeAll()
        object.__append(to: row)
        return try insert(row, state: ObjectState(localID: object.localID), into: table)
    }

    /// Inserts a row with the property values of a buffer.
    ///
    /// - Parameters:
    ///   - state: The object's state. Objects of the app have a local ID only.
    ///   - source: The source of the values.
    func insert(
        _ row: RowEncoder, state: ObjectState, into table: TableLayout, from source: RowSource = .app
    ) throws -> ObjectState {
        var state = state
        let unresolved = try prepareInsert(row, into: table, from: source)
        let statement = try connection.tableStatements(table).insert()
        let twins = connection.twins
        do {
            try Self.insert(statement, state: state, row: row, twins: twins, in: table)
        } catch let error as TandemError where error.isConstraint {
            if let revived = try reviveTombstone(row, unresolved: unresolved, state: state, in: table) {
                return revived
            }
            throw try explainInsert(error, row: row, state: state, in: table)
        }
        state.rowID = connection.lastInsertedRowID
        try poisoningOnError {
            try completeInsert(
                &state, of: NewRow(values: row, twins: twins, unresolved: unresolved), into: table, from: source)
        }
        return state
    }

    /// Prepares the values of a new row: resolves its references, and computes its folded keys in the connection's
    /// buffer.
    ///
    /// - Returns: The references to objects that do not exist.
    func prepareInsert(
        _ row: RowEncoder, into table: TableLayout, from source: RowSource
    ) throws -> [UnresolvedReference] {
        try check(row, in: table)
        try delegate.willWrite(row, over: nil, in: table, only: nil, from: source, by: self)
        let unresolved = try resolveLinks(row, of: table, from: source)
        let twins = connection.twins
        twins.removeAll()
        for fold in table.folds { twins.appendTwins(fold, of: row, by: connection.collation) }
        return unresolved
    }

    /// Writes the data that depends on a new row: its search keys, its links, and the references that wait for it.
    ///
    /// - Parameter state: The row's state, with its number. It may become unsynced.
    func completeInsert(
        _ state: inout ObjectState, of new: NewRow, into table: TableLayout, from source: RowSource
    ) throws {
        // SQLite may reuse the rowid of a row that was deleted in this transaction, and that the index still contains.
        if !table.searched.isEmpty, pendingSearch.isEmpty || !pendingSearch.contains(table, row: state.rowID) {
            try addToSearch(new, rowID: state.rowID, in: table)
        }
        for link in table.links where link.isToMany {
            try writeLinks(link, of: state.rowID, row: new.values, from: new.firstProperty, in: table)
        }
        if !new.unresolved.isEmpty { try storeUnresolved(new.unresolved, of: state.rowID, in: table) }
        try resolveWaiting(for: state, in: table)
        try delegate.didInsert(&state, in: table, from: source, by: self)
    }

    /// Explains why a row can't be inserted. An existing object with its ID takes precedence over other conflicts.
    private func explainInsert(
        _ error: TandemError, row: RowEncoder, state: ObjectState, in table: TableLayout
    ) throws -> TandemError {
        let explained = try explainConstraint(error, row: row, state: state, in: table)
        guard explained.code == .duplicateValue,
            let other = try connection.tableStatements(table).find(state.localID)
        else { return explained }
        other.reset()
        return duplicateLocalID(state.localID, in: table, error: error)
    }

    /// Throws if a value could not be encoded.
    func check(_ row: RowEncoder, in table: TableLayout) throws {
        if let failure = row.failure {
            throw TandemError(
                .invalidValue, message: "A value can't be encoded as JSON.", advice: "See the underlying error.",
                store: store.path,
                model: table.definition.name, underlying: failure)
        }
    }

    private static func insert(
        _ statement: Statement, state: ObjectState, row: RowEncoder, twins: RowEncoder, in table: TableLayout
    ) throws {
        defer { statement.reset() }
        try row.bytes.withUnsafeBufferPointer { rowBytes in
            try twins.bytes.withUnsafeBufferPointer { twinBytes in
                var localID = state.localID.rawValue
                try localID.withUTF8 { id in
                    statement.bindText(1, to: id, copied: false)
                    statement.bind(2, to: state.serverID?.rawValue)
                    statement.bind(3, to: state.isSynced)
                    statement.bind(4, to: state.isDeleted)
                    statement.bind(5, to: state.version)
                    statement.bind(6, to: state.createdAt)
                    statement.bind(7, to: state.updatedAt)
                    var index: Int32 = 8
                    for slot in row.slots {
                        statement.bind(index, to: slot, in: rowBytes)
                        index += 1
                    }
                    for slot in twins.slots {
                        statement.bind(index, to: slot, in: twinBytes)
                        index += 1
                    }
                    _ = try statement.step()
                }
            }
        }
    }

    /// Adds a new row to the search index at once. New rows have ascending rowids, which is the best order for FTS5.
    private func addToSearch(_ new: NewRow, rowID: Int64, in table: TableLayout) throws {
        let statement = try connection.tableStatements(table).insertIntoSearch()
        statement.bind(1, to: rowID)
        defer { statement.reset() }
        try new.twins.bytes.withUnsafeBufferPointer { bytes in
            var parameter: Int32 = 2
            var twin = new.firstTwin
            for fold in table.folds {
                defer { twin += fold.columns.count }
                guard fold.searchColumn != nil else { continue }
                // The search key follows the sort key.
                statement.bind(parameter, to: new.twins.slots[twin + 1], in: bytes)
                parameter += 1
            }
            _ = try statement.step()
        }
    }

    /// Turns an insert over an object with a pending delete into an update of the object.
    private func reviveTombstone(
        _ row: RowEncoder, unresolved: [UnresolvedReference], state: ObjectState, in table: TableLayout
    ) throws -> ObjectState? {
        let found = try connection.tableStatements(table).find(state.localID)
        guard let stored = try self.state(at: found, in: table), stored.isDeleted else { return nil }
        return try revive(stored, with: row, unresolved: unresolved, in: table, only: nil)
    }

    /// Restores a deleted object with new values. They are written first, because another object may now have its old
    /// unique values.
    func revive(
        _ stored: ObjectState, with row: RowEncoder, unresolved: [UnresolvedReference]?, in table: TableLayout,
        only: Set<Int>?
    ) throws -> ObjectState {
        try savepoint {
            try completeUndelete(stored, in: table)
            guard let statement = try connection.tableStatements(table).find(stored.localID, rowID: stored.rowID) else {
                throw notFound(stored.localID, in: table)
            }
            var state = try update(
                statement, with: row, in: table, only: only, unresolved: unresolved,
                keepsWaiting: unresolved == nil ? nil : false, isReviving: true)
            try show(state, in: table)
            state.isDeleted = false
            return state
        }
    }
}

extension ReadTransaction {
    /// Reads the object of the row at which a statement is positioned. The caller resets the statement.
    func object<M: Model>(of statement: Statement, in table: TableLayout) throws -> M {
        do {
            return try M(__row: statement.row())
        } catch let error as InvalidStoredValue {
            throw store.invalid(error, in: table)
        }
    }

    /// Returns the state of the row that a look-up has found, and resets its statement. Returns `nil` if it found none.
    func state(at found: Statement?, in table: TableLayout) throws -> ObjectState? {
        guard let found else { return nil }
        defer { found.reset() }
        return try state(of: found, in: table)
    }

    func state(of statement: Statement, in table: TableLayout) throws -> ObjectState {
        do {
            return try statement.row().state
        } catch let error as InvalidStoredValue {
            throw store.invalid(error, in: table)
        }
    }
}

extension Statement {
    func bind(_ index: Int32, to date: Date?) {
        if let date {
            bind(index, to: StorageValue.real(date.timeIntervalSinceReferenceDate))
        } else {
            bindNull(index)
        }
    }
}

extension Store {
    /// Creates an error for an unreadable column, with its property.
    func invalid(_ error: InvalidStoredValue, in table: TableLayout) -> TandemError {
        let index = Int(error.column) - RowDecoder.stateColumns.count
        let properties = table.definition.properties
        return TandemError(
            .invalidValue, message: "A stored value can't be read: \(error.reason).",
            advice: "Another version of the app, or another program, wrote it. Migrate or correct it.",
            store: path, model: table.definition.name,
            property: properties.indices.contains(index) ? properties[index].name : nil)
    }
}

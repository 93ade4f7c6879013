import Foundation

/// How an object that a server sends is known again among those made here.
package enum ServerIdentity: Hashable, Sendable {
    /// The IDs are made here: an object is inserted on the server under its local ID.
    case client
    /// The server makes the IDs.
    ///
    /// - Parameter localID: What the item has in the property that carries the local ID there, if the app has named one.
    case server(localID: LocalID?)
}

/// What became of an item that a server sent.
package enum ServerReceipt: Sendable {
    /// It is new here.
    case inserted(LocalID)
    /// The object here has become what it says.
    case updated(LocalID)
    /// It was a tombstone, and the object is gone.
    case removed(LocalID)
    /// The store held it already: nothing was written.
    case unchanged
    /// It was a tombstone of what is not here: nothing was written.
    case unknownTombstone
    /// The object has an operation: the item is kept beside it. See ``KeptItem``.
    case keptBeside(Operation.ID)
    /// Another object here has its unique value, or it can't be read: the item is kept. See ``KeptItem``.
    case refused(TandemError)
}

extension WriteTransaction {
    /// Takes what a server has sent into the store: writes it where no operation is pending, and keeps it aside where
    /// one is.
    ///
    /// - Parameters:
    ///   - table: The table's name here.
    ///   - identity: How the object is known again.
    /// - Throws: ``TandemError/Code/invalidValue`` if the item says nothing of a property that a new object needs.
    /// - Complexity: O(log *n*), *n* objects in the table.
    package func receive(
        _ item: ServerItem, in table: String, identity: ServerIdentity = .client
    ) throws -> ServerReceipt {
        try checkUsable()
        guard let table = store.schema.table(named: table) else {
            throw TandemError(
                .unknownModel, "The store was not opened with a model of the table \(table).",
                advice: "Add it to the models given to Store(at:models:).", store: store.path)
        }
        return try asServer {
            let (known, isFree) = try known(item, identity, in: table)
            if let unreadable = item.unreadable {
                try keep(item, of: known?.rowID, in: table, .refused, message: unreadable.message)
                return .refused(unreadable)
            }
            guard let state = known else { return try receiveNew(item, identity, table, isFree: isFree) }
            if let operation = try operation(of: state.rowID, in: table) {
                return try receive(item, besides: operation, state, table)
            }
            if let operation = try recordPending(against: item, state, table) {
                return try receive(item, besides: operation, state, table)
            }
            if item.isDeleted {
                try dropKept(of: state.rowID, item.serverID, in: table)
                _ = try delete(state.localID, in: table)
                return .removed(state.localID)
            }
            return try receive(item, over: state, table)
        }
    }

    /// The object that an item is of, `nil` if it is new here; and whether it is known then that no object has its ID for
    /// a local ID.
    private func known(
        _ item: ServerItem, _ identity: ServerIdentity, in table: TableLayout
    ) throws -> (ObjectState?, isFree: Bool) {
        if let found = try find(item.serverID, in: table) {
            defer { found.reset() }
            return (try state(of: found, table), false)
        }
        // Made here, and perhaps sent: whose answer was lost, or whose ID another device has chosen too.
        let localID: LocalID?
        switch identity {
        case .client: localID = LocalID(item.serverID.rawValue)
        case .server(let carried): localID = carried
        }
        guard let localID else { return (nil, false) }
        guard let found = try connection.tableStatements(table).find(localID) else { return (nil, identity == .client) }
        defer { found.reset() }
        let state = try state(of: found, table)
        guard state.serverID == nil, try operation(of: state.rowID, in: table) != nil else { return (nil, false) }
        return (state, false)
    }

    // MARK: -

    private func receiveNew(
        _ item: ServerItem, _ identity: ServerIdentity, _ table: TableLayout, isFree: Bool
    ) throws -> ServerReceipt {
        guard !item.isDeleted else {
            try dropKept(of: 0, item.serverID, in: table)
            return .unknownTombstone
        }
        let row = connection.row
        row.removeAll()
        for property in table.definition.properties {
            if !property.isLocalOnly, let value = item.values[property.name] {
                row.append(value)
            } else if let appendDefault = property.appendDefault {
                appendDefault(row)
            } else {
                throw TandemError(
                    .invalidValue, "The server sends no value for it.",
                    advice: "Give the property a default, or make it optional.", store: store.path,
                    model: table.definition.name, property: property.name)
            }
        }
        var state = ObjectState()
        state.serverID = item.serverID
        state.version = item.version
        state.createdAt = item.createdAt
        state.updatedAt = item.updatedAt
        do {
            let inserted = try insert(row, state: state, into: table, mayBeOwn: identity == .client, isFree: isFree)
            try dropKept(of: inserted.rowID, item.serverID, in: table)
            try keepExtras(item.extras, of: inserted.rowID, in: table)
            return .inserted(inserted.localID)
        } catch let error as TandemError where error.code == .duplicateValue && brokenBy == nil {
            try keep(item, of: nil, in: table, .refused, message: error.message)
            return .refused(error)
        }
    }

    /// An item of an object that is synced.
    private func receive(_ item: ServerItem, over state: ObjectState, _ table: TableLayout) throws -> ServerReceipt {
        let before = connection.totalChanges
        do {
            // A version alone can lie: two writes of one millisecond may have the same.
            if table.attachments.isEmpty {
                try overwrite(state, with: item.values(in: table), in: table)
            } else {
                // What it says of files is not taken either, if it is refused.
                try savepoint { try overwrite(state, with: item.values(in: table), in: table) }
            }
        } catch let error as TandemError where error.code == .duplicateValue && brokenBy == nil {
            try keep(item, of: state.rowID, in: table, .refused, message: error.message)
            return .refused(error)
        }
        try keepExtras(item.extras, of: state.rowID, in: table)
        let createdAt = item.createdAt ?? state.createdAt
        if !ScalarText.isEqual(item.version, state.version) || item.updatedAt != state.updatedAt
            || createdAt != state.createdAt
        {
            let statement = try connection.statement(
                """
                UPDATE \(table.quotedTable) SET "version" = ?, "createdAt" = ?, "updatedAt" = ? WHERE "__rid" = ?
                """)
            statement.bind(1, item.version)
            statement.bind(2, createdAt)
            statement.bind(3, item.updatedAt)
            statement.bind(4, state.rowID)
            try statement.run()
        }
        // What waited to be uploaded may have gone with what the server put in its place; or it has put a file here that
        // waits for another object's sake.
        if table.sendsFiles, try areFilesSettled(state.rowID, table) != state.isSynced {
            try connection.execute(
                "UPDATE \(table.quotedTable) SET \"synced\" = ? WHERE \"__rid\" = ?",
                [.integer(state.isSynced ? 0 : 1), .integer(state.rowID)])
        }
        let isUnchanged = connection.totalChanges == before
        try dropKept(of: state.rowID, item.serverID, in: table)
        return isUnchanged ? .unchanged : .updated(state.localID)
    }

    /// An item of an object with an operation: nothing of the row is written.
    private func receive(
        _ item: ServerItem, besides operation: StoredOperation, _ state: ObjectState, _ table: TableLayout
    ) throws -> ServerReceipt {
        if !item.isDeleted, let version = item.version, ScalarText.isEqual(version, state.version),
            try isOwn(item, operation, state, table)
        {
            // What the change was made on: nothing has happened there. What was kept is over, if the server has gone
            // back on it.
            try dropKept(of: state.rowID, item.serverID, in: table)
            return .unchanged
        }
        try keep(item, of: state.rowID, in: table, .pending)
        return .keptBeside(operation.id)
    }

    /// Whether all that a server holds of an object is what it held before our changes, or one that was sent.
    func isOwn(
        _ item: ServerItem, _ operation: StoredOperation, _ state: ObjectState, _ table: TableLayout
    ) throws -> Bool {
        let here = try wholeValues(of: state, in: table)
        let attempted = try attemptedValues(operation.id)
        return try item.values(in: table).allSatisfy { property, value in
            let definition = table.definition.properties[property]
            let column = definition.column
            let base = operation.base(of: column)
            let there = definition.form(try localForm(value, of: property, in: table), like: here[property], base)
            guard let base else {
                let mine = try withoutPending(here[property], of: property, in: table)
                return mine == there || attempted.contains(value, of: column)
            }
            // A base may name what has got its server ID since.
            return try base == there || attempted.contains(value, of: column)
                || localForm(base, of: property, in: table) == there
        }
    }
}

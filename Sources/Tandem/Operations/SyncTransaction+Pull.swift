import Foundation

/// The rule that matches a server item to a local object.
package enum IdentityRule: Hashable, Sendable {
    /// The client creates the IDs: an object is inserted on the server under its local ID.
    case client
    /// The server creates the IDs.
    ///
    /// - Parameter localID: The value of the item's property for the local ID, if the app has named such a property.
    case server(localID: LocalID?)
}

/// The result of applying a server item.
package enum ServerReceipt: Sendable {
    /// The object is new, and was inserted.
    case inserted(LocalID)
    /// The item's values were written to the local object.
    case updated(LocalID)
    /// The item was a tombstone, and the object was removed.
    case removed(LocalID)
    /// The store already held the item. Nothing was written.
    case unchanged
    /// The item was a tombstone of an unknown object. Nothing was written.
    case unknownTombstone
    /// The object has an operation, so the item is deferred. See ``DeferredItem``.
    case deferred(PendingOperation.ID)
    /// Another object here has its unique value, or the item can't be read. The item is deferred. See ``DeferredItem``.
    case refused(TandemError)
}

extension SyncTransaction {
    /// Writes a server item into its object, or defers it if the object has an operation.
    ///
    /// - Parameters:
    ///   - table: The table's local name.
    ///   - identity: The rule that matches the item to an object.
    /// - Throws: ``TandemError/Code/invalidValue`` if the item lacks a property that a new object needs.
    /// - Complexity: O(log *n*), *n* objects in the table.
    package func applyServerItem(
        _ item: ServerItem, in table: String, identity: IdentityRule = .client
    ) throws -> ServerReceipt {
        try checkUsable()
        guard let table = store.schema.table(named: table) else { throw store.hasNoModel(of: table) }
        return try apply(item, identity: identity, in: table)
    }

    /// Applies the items of a page, in their order. The result is that of ``applyServerItem(_:in:identity:)`` for one
    /// item after the other, with fewer statements. An item with a value that can't be stored is deferred like an
    /// item that can't be read.
    ///
    /// - Parameters:
    ///   - items: The items, each with the rule that matches it to an object. An object may have several.
    ///   - table: The table's local name.
    /// - Returns: The outcome of each item, in their order. If an item can't be read or stored, it is
    ///   ``ServerReceipt/refused(_:)`` with the code ``TandemError/Code/invalidValue``.
    /// - Throws: Errors after which the transaction can't be committed.
    /// - Complexity: O(*m* log *n*) for *m* items and *n* objects in the table.
    package func applyServerItems(
        _ items: [(item: ServerItem, identity: IdentityRule)], in table: String
    ) throws -> [ServerReceipt] {
        try checkUsable()
        guard let table = store.schema.table(named: table) else { throw store.hasNoModel(of: table) }
        transaction.isApplyingPage = true
        defer { transaction.isApplyingPage = false }
        return try transaction.poisoningOnError {
            var page = ServerPage(items, of: table, in: self)
            return try page.apply()
        }
    }

    /// Applies an item by itself.
    func apply(_ item: ServerItem, identity: IdentityRule, in table: TableLayout) throws -> ServerReceipt {
        let (found, isFree) = try match(item, identity: identity, in: table)
        defer { found?.row?.reset() }
        if let unreadable = item.unreadable {
            try deferItem(item, of: found?.state.rowID, in: table, reason: .refused, message: unreadable.message)
            return .refused(unreadable)
        }
        guard let object = found else { return try receiveNew(item, in: table, isFree: isFree) }
        let state = object.state
        // A synced object has no operation.
        if !state.isSynced, let operation = try operation(of: state.rowID, in: table) {
            return try applyToPending(item, besides: operation, state: state, in: table)
        }
        if let operation = try recordPending(against: item, state: state, in: table) {
            return try applyToPending(item, besides: operation, state: state, in: table)
        }
        if item.isDeleted {
            object.row?.reset()
            try dropDeferred(of: state.rowID, serverID: item.serverID, in: table)
            try eraseObject(state, in: table)
            return .removed(state.localID)
        }
        return try applyToSynced(item, over: object, in: table)
    }

    /// The local object of a server item.
    private struct KnownObject {
        let state: ObjectState
        /// The look-up that found the object by its server ID. It is at the object's row until the caller resets it.
        var row: Statement?
    }

    /// Returns the object of an item, or `nil` if it is new here. Also returns whether its ID is known to be unused as
    /// a local ID.
    private func match(
        _ item: ServerItem, identity: IdentityRule, in table: TableLayout
    ) throws -> (KnownObject?, isFree: Bool) {
        if let found = try find(item.serverID, in: table) {
            do {
                return (KnownObject(state: try state(of: found, in: table), row: found), false)
            } catch {
                found.reset()
                throw error
            }
        }
        // The object may have been made here and sent, with a lost response. Or another device has chosen its ID too.
        let localID: LocalID?
        switch identity {
        case .client: localID = LocalID(item.serverID.rawValue)
        case .server(let carried): localID = carried
        }
        guard let localID else { return (nil, false) }
        guard let found = try connection.tableStatements(table).find(localID) else { return (nil, identity == .client) }
        defer { found.reset() }
        let state = try state(of: found, in: table)
        guard state.serverID == nil, try operation(of: state.rowID, in: table) != nil else { return (nil, false) }
        return (KnownObject(state: state), false)
    }

    // MARK: -

    /// Inserts the object of an item.
    ///
    /// - Parameter isFree: Whether it is known that no object has the server ID as its local ID.
    private func receiveNew(
        _ item: ServerItem, in table: TableLayout, isFree: Bool
    ) throws -> ServerReceipt {
        guard !item.isDeleted else { return try receiveUnknownTombstone(item, in: table) }
        let row = connection.row
        try encodeNew(item, to: row, of: table)
        do {
            var state = stateOfNew(item)
            if !isFree, let other = try connection.tableStatements(table).find(state.localID) {
                other.reset()
                state.localID = LocalIDGenerator.makeID()
            }
            let inserted = try transaction.insert(row, state: state, into: table, from: .server)
            return try completeNew(item, as: inserted, in: table)
        } catch let error as TandemError where error.code == .duplicateValue && transaction.brokenBy == nil {
            try deferItem(item, of: nil, in: table, reason: .refused, message: error.message)
            return .refused(error)
        }
    }

    func receiveUnknownTombstone(_ item: ServerItem, in table: TableLayout) throws -> ServerReceipt {
        try dropDeferred(of: 0, serverID: item.serverID, in: table)
        return .unknownTombstone
    }

    /// Encodes the values of a new object.
    ///
    /// - Throws: ``TandemError/Code/invalidValue`` if the item lacks a property without a default.
    func encodeNew(_ item: ServerItem, to row: RowEncoder, of table: TableLayout) throws {
        row.removeAll()
        for property in table.definition.properties {
            if !property.isLocalOnly, let value = item.values[property.name] {
                row.append(value)
            } else if let appendDefault = property.appendDefault {
                appendDefault(row)
            } else {
                throw TandemError(
                    .invalidValue, message: "The server sent no value for the property.",
                    advice: "Give the property a default, or make it optional.", store: store.path,
                    model: table.definition.name, property: property.name)
            }
        }
    }

    /// Stores the data beside a new object.
    func completeNew(_ item: ServerItem, as state: ObjectState, in table: TableLayout) throws -> ServerReceipt {
        try dropDeferred(of: state.rowID, serverID: item.serverID, in: table)
        try storeExtras(item.extras, of: state.rowID, in: table)
        return .inserted(state.localID)
    }

    /// Returns the state of a new object. Its local ID is its server ID. The caller changes it if another object has
    /// this local ID.
    func stateOfNew(_ item: ServerItem) -> ObjectState {
        var state = ObjectState(localID: LocalID(item.serverID.rawValue))
        state.serverID = item.serverID
        state.version = item.version
        state.createdAt = item.createdAt
        state.updatedAt = item.updatedAt
        state.isSynced = true
        return state
    }

    /// Receives an item of an object that is synced. One statement writes its values and its version.
    private func applyToSynced(
        _ item: ServerItem, over object: KnownObject, in table: TableLayout
    ) throws -> ServerReceipt {
        let (state, row) = (object.state, object.row)
        let before = connection.totalChanges
        let values = item.values(in: table)
        var received = state
        received.version = item.version
        received.createdAt = item.createdAt ?? state.createdAt
        received.updatedAt = item.updatedAt
        do {
            // A version alone is not proof: two writes within one millisecond may have the same.
            if table.attachments.isEmpty {
                try applyServerValues(state, with: values, in: table, at: row, received: received)
            } else {
                // If the item is refused, its attachments are rolled back too.
                try savepoint { try applyServerValues(state, with: values, in: table, at: row, received: received) }
            }
        } catch let error as TandemError where error.code == .duplicateValue && transaction.brokenBy == nil {
            try deferItem(item, of: state.rowID, in: table, reason: .refused, message: error.message)
            return .refused(error)
        }
        try storeExtras(item.extras, of: state.rowID, in: table)
        let isUnchanged = connection.totalChanges == before
        try dropDeferred(of: state.rowID, serverID: item.serverID, in: table)
        return isUnchanged ? .unchanged : .updated(state.localID)
    }

    /// Receives an item of an object with an operation. The row does not change.
    private func applyToPending(
        _ item: ServerItem, besides operation: StoredOperation, state: ObjectState, in table: TableLayout
    ) throws -> ServerReceipt {
        if !item.isDeleted, let version = item.version, ScalarText.isEqual(version, state.version),
            try matchesBaseOrAttempt(item, operation: operation, state: state, in: table)
        {
            // The server's state is the base of the change. A deferred item is obsolete if the server has reverted it.
            try dropDeferred(of: state.rowID, serverID: item.serverID, in: table)
            return .unchanged
        }
        try deferItem(item, of: state.rowID, in: table, reason: .pending)
        return .deferred(operation.id)
    }

    /// Returns whether all of the server's values are those before our changes, or ones that were sent.
    func matchesBaseOrAttempt(
        _ item: ServerItem, operation: StoredOperation, state: ObjectState, in table: TableLayout
    ) throws -> Bool {
        let here = try valuesIncludingUnresolved(of: state, in: table)
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
            // A base may name an object that has got its server ID since.
            return try base == there || attempted.contains(value, of: column)
                || localForm(base, of: property, in: table) == there
        }
    }
}

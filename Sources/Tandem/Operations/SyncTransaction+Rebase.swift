import Foundation

/// The two sides of a conflict: their values, and the properties that each has changed.
package struct ConflictSides: Sendable {
    /// The operation's kind.
    package let kind: PendingOperation.Kind
    /// The server's earlier values of the properties changed here. Empty for an insert.
    package let base: [String: StorageValue]
    /// The local values of all properties that are sent, with references by local IDs.
    package let local: [String: StorageValue]
    /// The values that the server sent, with references by local IDs of existing objects. `nil` for a tombstone.
    package let server: [String: StorageValue]?
    /// The properties changed here whose values the server does not hold.
    package let changedHere: Set<String>
    /// The properties that another client has changed. The server's value is neither its earlier value nor one that was
    /// sent from here.
    package let changedThere: Set<String>

    /// Creates the sides of a conflict.
    package init(
        kind: PendingOperation.Kind, base: [String: StorageValue], local: [String: StorageValue],
        server: [String: StorageValue]?, changedHere: Set<String>, changedThere: Set<String>
    ) {
        self.kind = kind
        self.base = base
        self.local = local
        self.server = server
        self.changedHere = changedHere
        self.changedThere = changedThere
    }

    /// Whether another client has changed the object. If not, a refusal was caused by our own write, whose response was
    /// lost.
    package var isConflict: Bool { server == nil || !changedThere.isEmpty }
}

/// The result of rebasing an operation onto the server's state.
package enum RebaseOutcome: Hashable, Sendable {
    /// Nothing is left to be sent. The operation was removed.
    case adopted
    /// The operation waits to be sent, on the new version.
    case pending
}

extension SyncTransaction {
    /// Compares an operation with the server's state. Nothing is written.
    ///
    /// - Parameter rounding: The conversion of a value by the wire, as in `beginAttempt`.
    package func sides(
        of id: PendingOperation.ID, against item: ServerItem, rounding: WireRounding
    ) throws -> ConflictSides {
        try checkUsable()
        let (operation, tableName, rowID) = try storedOperation(id)
        guard let table = store.schema.table(named: tableName), let state = try state(ofRow: rowID, in: table) else {
            throw stale(id)
        }
        let here = try valuesIncludingUnresolved(of: state, in: table)
        let attempted = try attemptedValues(id)
        let isNew = operation.kind == .insert || operation.replaced == .insert
        var (base, local, server): ([String: StorageValue], [String: StorageValue], [String: StorageValue]) = (
            [:], [:], [:]
        )
        var (changedHere, changedThere): (Set<String>, Set<String>) = ([], [])
        // The local version proves that no other client changed the object. Properties left blank by an undelete are
        // unchanged too.
        let isNobodys = item.wasUndeleted || item.version != nil && item.version == state.version
        for (index, property) in table.definition.properties.enumerated() where !property.isLocalOnly {
            local[property.name] = here[index]
            var old = operation.base(of: property.column)
            if old == nil, let column = table.attachments(at: index), !column.isList {
                // A pending upload is a change that is not in the queue yet.
                let sendable = try withoutPending(here[index], of: index, in: table)
                if sendable != here[index] { old = sendable }
            }
            base[property.name] = isNew ? nil : old
            // After a tombstone, all properties of the operation are sent again.
            guard !item.isDeleted else {
                if isNew || old != nil { changedHere.insert(property.name) }
                continue
            }
            // A value equal to its base that was never sent otherwise is no longer a change. A rebase must not write it
            // over another client's change.
            let isChanged =
                try isNew
                ? item.wasUndeleted
                    || !isUnchanged(
                        sinceInsertOf: state, attempted: attempted, property: index, in: table, here: here[index],
                        rounding: rounding)
                : old.map {
                    try item.wasUndeleted || $0 != here[index] && localForm($0, of: index, in: table) != here[index]
                        || wasSentOtherwise(
                            attempted, than: here[index], property: index, in: table, rounding: rounding)
                } ?? false
            guard let value = item.values[property.name] else {
                if isChanged { changedHere.insert(property.name) }
                continue
            }
            let there = property.form(try localForm(value, of: index, in: table), like: here[index], old)
            server[property.name] = there
            let isHeldThere = try isHeld(
                value, there: there, here: here[index], property: index, in: table, rounding: rounding)
            if isChanged && !isHeldThere { changedHere.insert(property.name) }
            let isOurs =
                try isHeldThere || attempted.contains(value, of: property.column)
                || (old.map { try $0 == there || localForm($0, of: index, in: table) == there } ?? false)
            if !isOurs && !isNobodys { changedThere.insert(property.name) }
        }
        return ConflictSides(
            kind: operation.kind, base: base, local: local, server: item.isDeleted ? nil : server,
            changedHere: changedHere, changedThere: changedThere)
    }

    /// Returns whether a property is unchanged here since the insert that the server's object has come from.
    ///
    /// The insert is that of this object, and has had no response. Returns `false` if the server's object has not come
    /// from such an insert.
    ///
    /// Another client can have created an object with a natural key as ID. Its values are then a conflict.
    private func isUnchanged(
        sinceInsertOf state: ObjectState, attempted: AttemptedValues, property: Int, in table: TableLayout,
        here: StorageValue, rounding: WireRounding
    ) throws -> Bool {
        // A file that waits to be uploaded was not sent.
        guard state.localID.isUnique, table.attachments(at: property) == nil else { return false }
        let column = table.definition.properties[property].column
        guard attempted.names(column), let sent = try sentForm(here, of: property, in: table, rounding: rounding) else {
            return false
        }
        return attempted.haveOnly(sent, of: column)
    }

    /// Returns whether a value other than the local one may have been sent to the server.
    private func wasSentOtherwise(
        _ attempted: AttemptedValues, than here: StorageValue, property: Int, in table: TableLayout,
        rounding: WireRounding
    ) throws -> Bool {
        let column = table.definition.properties[property].column
        guard attempted.names(column) else { return false }
        guard let sent = try sentForm(here, of: property, in: table, rounding: rounding) else { return true }
        return attempted.hasOther(than: sent, of: column)
    }

    /// Returns whether the server holds the local value.
    private func isHeld(
        _ value: StorageValue, there: StorageValue, here: StorageValue, property: Int, in table: TableLayout,
        rounding: WireRounding
    ) throws -> Bool {
        if try there == here || hasSameFiles(there, here: here, of: property, in: table) { return true }
        // A file that is still on the server does not count as its replacement.
        return try sentForm(here, of: property, in: table, rounding: rounding) == value
    }

    /// Returns the form in which the server returns a local value; `nil` if the value can't be sent. The server can't
    /// hold it then, and the error belongs to the send, not to a comparison.
    private func sentForm(
        _ here: StorageValue, of property: Int, in table: TableLayout, rounding: WireRounding
    ) throws -> StorageValue? {
        let form = try wireForm(here, of: property, in: table)
        return try? rounding(table.definition.properties[property], form)
    }

    /// Rebases an operation onto the server's state, in one step. Properties unchanged here take the server's values.
    /// Changed properties stay to be sent, on the new version, with the server's values as bases.
    ///
    /// An insert of an existing object becomes an update. Over a tombstone all properties are sent, to undelete the
    /// object there. A delete stays a delete of the server's current state. A tombstone completes a delete.
    ///
    /// - Parameters:
    ///   - takingServers: The properties changed here, by their names in Swift, that take the server's values all the
    ///     same.
    ///   - rounding: The conversion of a value by the wire, as in `beginAttempt`.
    /// - Throws: ``TandemError/Code/duplicateValue`` if another object here has a unique value of the server's. The
    ///   operation is then unchanged.
    package func rebase(
        _ id: PendingOperation.ID, onto item: ServerItem, takingServers: Set<String> = [], rounding: WireRounding
    ) throws -> RebaseOutcome {
        try rebase(id, onto: item, takingServers: takingServers, decidedOn: nil, rounding: rounding)
    }

    /// Rebases an operation onto the server's state, by a decision on earlier sides of the conflict.
    ///
    /// - Parameter decidedOn: The sides at the time of the decision, in an earlier transaction. A property that was
    ///   edited here since then keeps its value, and is sent.
    package func rebase(
        _ id: PendingOperation.ID, onto item: ServerItem, takingServers: Set<String>, decidedOn: ConflictSides?,
        rounding: WireRounding
    ) throws -> RebaseOutcome {
        try checkUsable()
        let (_, tableName, rowID) = try storedOperation(id)
        guard let table = store.schema.table(named: tableName), let state = try state(ofRow: rowID, in: table) else {
            throw stale(id)
        }
        return try savepoint {
            let state = try mergeDuplicate(of: state, withServerID: item.serverID, in: table)
            let sides = try sides(of: id, against: item, rounding: rounding)
            let operation = try storedOperation(id).operation
            try dropDeferred(knowing: item, of: state.rowID, in: table)
            guard operation.kind != .delete else {
                return try rebaseDelete(operation, onto: item, sides: sides, state: state, in: table)
            }
            guard !item.isDeleted else {
                try makeUndelete(operation, state: state, over: item, in: table)
                return .pending
            }
            let servers = takingServers.filter { name in
                decidedOn.map { $0.local[name] == sides.local[name] } ?? true
            }
            let changes = try rebase(
                sides.changedHere.subtracting(servers), of: operation, onto: item, sides: sides, state: state,
                in: table,
                giveUp: servers)
            if changes.isEmpty {
                try transaction.drop(operation, in: table)
                try connection.execute(
                    "UPDATE \(table.quotedTable) SET \"synced\" = \(table.noPendingFilesSQL) WHERE \"__rid\" = ?",
                    binding: [.integer(state.rowID)])
                return .adopted
            }
            try restart(operation, as: .update, changes: changes, sent: [], in: table)
            return .pending
        }
    }

    /// Applies the server's state, except for some properties changed here.
    ///
    /// - Parameter giveUp: The properties changed here whose local values are discarded.
    /// - Returns: The kept properties, with the server's values as bases.
    private func rebase(
        _ names: Set<String>, of operation: StoredOperation, onto item: ServerItem, sides: ConflictSides,
        state: ObjectState, in table: TableLayout, giveUp: Set<String> = []
    ) throws -> PropertyBases {
        var changes = PropertyBases()
        for property in table.definition.properties where names.contains(property.name) {
            let old = operation.base(of: property.column)
            changes[property.column] = sides.server?[property.name] ?? old ?? .null
        }
        try applyServerState(
            item, state: state, in: table,
            values: item.values(in: table).filter { index, _ in !names.contains(table.definition.properties[index].name)
            },
            replacing: table.indices(of: giveUp))
        return changes
    }

    private func rebaseDelete(
        _ operation: StoredOperation, onto item: ServerItem, sides: ConflictSides, state: ObjectState,
        in table: TableLayout
    ) throws -> RebaseOutcome {
        guard !item.isDeleted else {
            try transaction.drop(operation, in: table)
            try eraseRow(of: state, in: table)
            return .adopted
        }
        // An undelete shows the server's values, and the changes made here before the delete that were not sent.
        let names = operation.replaced == nil ? [] : sides.changedHere
        let changes = try rebase(names, of: operation, onto: item, sides: sides, state: state, in: table)
        try restart(
            operation, as: .delete, changes: changes, replacing: changes.isEmpty ? nil : .update, sent: [], in: table)
        return .pending
    }

    /// Queues an update with all values, to undelete the object over the tombstone of its ID.
    ///
    /// - Parameter item: The tombstone, or `nil` if only its existence is known.
    func makeUndelete(
        _ operation: StoredOperation, state: ObjectState, over item: ServerItem?, in table: TableLayout
    ) throws {
        var changes = operation.bases
        changes.merge(later: try transaction.allBases(of: state, in: table))
        // Keep the tombstone: discarding the operation must not leave an object that the server has deleted.
        if let item, item.isDeleted { try deferItem(item, of: state.rowID, in: table, reason: .pending) }
        let serverID = item?.serverID ?? state.serverID
        try connection.execute(
            "UPDATE \(table.quotedTable) SET \"serverID\" = ?, \"version\" = ?, \"synced\" = 0 WHERE \"__rid\" = ?",
            binding: [
                serverID.map { .text($0.rawValue) } ?? .null, item?.version.map { .text($0) } ?? .null,
                .integer(state.rowID),
            ])
        try resolveNews(of: state, serverID: serverID, in: table)
        // The deletion there is known as long as the queue records that a delete may have arrived.
        try restart(operation, as: .update, changes: changes, sent: .delete, in: table)
    }

    /// Writes the server's values of an object into its row, and its state except for the synced flag.
    ///
    /// - Parameter replaced: The properties whose pending attachments are removed.
    func applyServerState(
        _ item: ServerItem, state: ObjectState, in table: TableLayout,
        values: [(property: Int, value: StorageValue)], replacing replaced: Set<Int> = []
    ) throws {
        let statement = try connection.statement(
            """
            UPDATE \(table.quotedTable) SET "serverID" = ?, "version" = ?, "createdAt" = ?, "updatedAt" = ? \
            WHERE "__rid" = ?
            """)
        statement.bind(1, to: item.serverID.rawValue)
        statement.bind(2, to: item.version)
        statement.bind(3, to: item.createdAt ?? state.createdAt)
        statement.bind(4, to: item.updatedAt)
        statement.bind(5, to: state.rowID)
        do {
            try statement.run()
        } catch let error as TandemError where error.isConstraint {
            var received = state
            received.serverID = item.serverID
            throw try transaction.explainConstraint(error, row: connection.row, state: received, in: table)
        }
        try applyServerValues(state, with: values, in: table, replacing: replaced)
        try storeExtras(item.extras, of: state.rowID, in: table)
        try resolveNews(of: state, serverID: item.serverID, in: table)
    }

    /// Resolves references that wait for the object under its new server ID.
    private func resolveNews(of state: ObjectState, serverID: ServerID?, in table: TableLayout) throws {
        guard state.serverID != serverID, !state.isDeleted else { return }
        var state = state
        state.serverID = serverID
        try transaction.resolveWaiting(for: state, in: table)
    }

    /// Restarts an operation whose earlier attempts all have responses.
    func restart(
        _ operation: StoredOperation, as kind: PendingOperation.Kind, changes: PropertyBases,
        replacing replaced: PendingOperation.Kind? = nil, sent: AttemptedKinds, in table: TableLayout
    ) throws {
        try connection.execute(
            """
            UPDATE "__operations" SET "kind" = ?, "state" = ?, "sent" = NULL, "sentKind" = NULL, "changes" = ?, \
            "replaced" = ?, "attempted" = NULL, "attemptedKinds" = ?, "retryAt" = NULL WHERE "id" = ?
            """,
            binding: [
                .integer(Int64(kind.rawValue)), operation.stateAfterResponse, changes.encoded,
                replaced.map { .integer(Int64($0.rawValue)) } ?? .null, sent.encoded(), .integer(operation.id),
            ])
        try transaction.forgetError(of: operation.id)
        transaction.touched.recordOperation(of: table)
    }
}

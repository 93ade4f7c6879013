import Foundation

// The server may make the IDs, and an insert's response may be lost. A pull may then fetch the inserted object as a new
// one. When the insert finally gets its response, two local objects are one object on the server.

extension SyncTransaction {
    /// Merges another object with the given server ID into this one. It was pulled while the response to this object's
    /// insert was lost.
    ///
    /// - Returns: The object's state after the merge.
    /// - Throws: ``TandemError/Code/duplicateID`` if the other object is older: an insert of this object can't have
    ///   created it.
    func mergeDuplicate(
        of state: ObjectState, withServerID serverID: ServerID, in table: TableLayout
    ) throws -> ObjectState {
        guard let other = try self.state(at: find(serverID, in: table), in: table) else { return state }
        guard other.rowID != state.rowID else { return state }
        // Row numbers increase in the order of arrival.
        guard state.serverID == nil, other.rowID > state.rowID else {
            throw TandemError(
                .duplicateID,
                message:
                    "The server says that the \(table.definition.name) \(state.localID) is \(serverID), but another "
                    + "object here has this server ID: \(other.localID).",
                advice: "Check the server's response.", store: store.path, model: table.definition.name)
        }
        try merge(state, withNewer: other, in: table)
        return try self.state(ofRow: state.rowID, in: table) ?? state
    }

    /// Merges two objects into one. The object made here stays, with its local ID, and all references to the other
    /// object are redirected to it. Changes of the other object become changes of this one.
    ///
    /// - Parameters:
    ///   - older: The object made here.
    ///   - newer: The object that has the server ID. It is removed.
    ///   - table: The table of both.
    private func merge(_ older: ObjectState, withNewer newer: ObjectState, in table: TableLayout) throws {
        // If one object was deleted and the other changed, the change wins: its author saw the object.
        let revives = try older.isDeleted && !newer.isDeleted && operation(of: newer.rowID, in: table) != nil
        // References to a deleted object are unresolved.
        if older.isDeleted && !revives { try detachHolders(of: newer.localID, in: table) }
        for holder in table.holders { try redirect(holder, from: newer.localID, to: older.localID, target: table) }
        try connection.execute(
            "UPDATE OR REPLACE \"__unresolved\" SET \"id\" = ? WHERE \"target\" = ? AND \"id\" = ?",
            binding: [.text(older.localID.rawValue), .text(table.table), .text(newer.localID.rawValue)])
        let changes = try unsentChanges(of: newer, in: table)
        if let operation = try operation(of: newer.rowID, in: table) { try transaction.drop(operation, in: table) }
        try dropDeferred(of: newer.rowID, serverID: newer.serverID, in: table)
        try eraseRow(of: newer, in: table)
        guard revives else { return try apply(changes, to: older, in: table) }
        do {
            try savepoint {
                try transaction.undeleteRow(older, in: table)
                var live = older
                live.isDeleted = false
                try apply(changes, to: live, in: table)
            }
        } catch let error as TandemError where error.code == .duplicateValue {
            // Another object took its unique value after the delete, so the object can't be restored.
            try detachHolders(of: older.localID, in: table)
        }
    }

    /// Returns an object's unsent values, by its properties. A deleted object contributes none.
    private func unsentChanges(of state: ObjectState, in table: TableLayout) throws -> [(Int, StorageValue)] {
        guard !state.isDeleted, let operation = try operation(of: state.rowID, in: table) else { return [] }
        let values = try valuesIncludingUnresolved(of: state, in: table)
        return table.definition.properties.enumerated().filter { _, property in
            operation.base(of: property.column) != nil
        }.map { ($0.offset, values[$0.offset]) }
    }

    /// Applies values as changes of the app.
    private func apply(_ values: [(Int, StorageValue)], to state: ObjectState, in table: TableLayout) throws {
        guard !values.isEmpty, !state.isDeleted else { return }
        let row = RowEncoder()
        let byProperty = Dictionary(uniqueKeysWithValues: values)
        for property in table.definition.properties.indices { row.append(byProperty[property] ?? .null) }
        let statements = try connection.tableStatements(table)
        guard let statement = try statements.find(state.localID, rowID: state.rowID) else {
            throw notFound(state.localID, in: table)
        }
        _ = try transaction.update(statement, with: row, in: table, only: Set(byProperty.keys), keepsWaiting: false)
    }

    // MARK: References to the object

    /// Redirects references from one object to another in live rows, in the queue, and in tombstones, which may be
    /// restored. This is not a change of the app: both are the same object.
    private func redirect(
        _ holder: TableLayout.Holder, from old: LocalID, to new: LocalID, target: TableLayout
    ) throws {
        let property = holder.table.definition.properties[holder.property]
        let column = property.column.quotedSQL
        if holder.isToMany {
            // The link table stores a tombstone's list like a live one's.
            let links = holder.table.definition.linkTable(property).quotedSQL
            let lists = try connection.rows(
                """
                SELECT "__rid", \(column) FROM \(holder.table.quotedTable) WHERE "__rid" IN \
                (SELECT "object" FROM \(links) WHERE "target" = ?)
                """, binding: [.text(old.rawValue)]
            ) { (row: $0.integer(0), text: try $0.text(1)) }
            for (row, text) in lists {
                try connection.execute(
                    "UPDATE \(holder.table.quotedTable) SET \(column) = ? WHERE \"__rid\" = ?",
                    binding: [try redirected(.text(text), isToMany: true, from: old, to: new), .integer(row)])
            }
            // A list may contain both objects, each at its own position.
            try connection.execute(
                "UPDATE \(links) SET \"target\" = ? WHERE \"target\" = ?",
                binding: [.text(new.rawValue), .text(old.rawValue)])
        } else {
            try connection.execute(
                "UPDATE \(holder.table.quotedTable) SET \(column) = ?1 WHERE \(column) = ?2",
                binding: [.text(new.rawValue), .text(old.rawValue)])
        }
        try redirectBases(of: property, holder: holder, from: old, to: new)
    }

    /// Bases name objects by their local IDs.
    private func redirectBases(
        of property: PropertyDefinition, holder: TableLayout.Holder, from old: LocalID, to new: LocalID
    ) throws {
        // The loop reads one table's operations. It runs at most once for a lost response.
        let operations = try connection.rows(
            """
            SELECT \(StoredOperation.columns) FROM "__operations" WHERE "table" = ? \
            AND ("changes" IS NOT NULL OR "sent" IS NOT NULL)
            """, binding: [.text(holder.table.table)]
        ) { row in try readable { try StoredOperation(row) } }
        for operation in operations {
            var (changes, sent) = (operation.changes, operation.sent)
            if let base = changes[property.column] {
                changes[property.column] = try redirected(base, isToMany: holder.isToMany, from: old, to: new)
            }
            if let base = sent?[property.column] {
                sent?[property.column] = try redirected(base, isToMany: holder.isToMany, from: old, to: new)
            }
            guard changes != operation.changes || sent != operation.sent else { continue }
            try connection.execute(
                "UPDATE \"__operations\" SET \"changes\" = ?, \"sent\" = ? WHERE \"id\" = ?",
                binding: [changes.encoded, sent.map { .blob($0.bytes) } ?? .null, .integer(operation.id)])
        }
    }

    private func redirected(
        _ value: StorageValue, isToMany: Bool, from old: LocalID, to new: LocalID
    ) throws -> StorageValue {
        guard case .text(let text) = value else { return value }
        guard isToMany else { return LocalID(text) == old ? .text(new.rawValue) : value }
        let ids = try readable { try LinkList.parse(text) }
        return .text(LinkList.text(ids.map { $0 == old ? new : $0 }))
    }
}

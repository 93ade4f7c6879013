import Foundation

// The rules that merge a change into the existing operation. Each object has at most one operation.
//
// ```
//     existing   change    becomes
//     -          insert    insert
//     -          update    update, with the bases of the changed properties
//     -          delete    delete
//     insert     update    insert
//     insert     delete    no operation and no object, if it was never attempted; else delete
//     update     update    update: adds the changed properties, existing bases stay
//     update     delete    delete, which remembers the update
//     delete     undelete  the operation that the delete had replaced, or none
//     delete     insert    update (WriteTransaction.insert: undelete, then update)
// ```

extension WriteTransaction {
    /// Queues the insert of a new object.
    func recordInsert(_ state: ObjectState, in table: TableLayout) throws {
        try queue(.insert, state: state, in: table, changes: nil)
    }

    private func queue(
        _ kind: PendingOperation.Kind, state: ObjectState, in table: TableLayout, changes: PropertyBases?
    ) throws {
        let statement = try connection.statement(OperationStatement.insert)
        statement.bind(1, to: table.table)
        statement.bind(2, to: state.rowID)
        statement.bind(3, to: state.localID.rawValue)
        statement.bind(4, to: Int64(kind.rawValue))
        statement.bind(5, to: now.timeIntervalSinceReferenceDate)
        statement.bind(6, to: changes?.encoded ?? .null)
        try statement.run()
        touched.recordOperation(of: table)
    }

    /// Queues an update, or merges it into the existing operation.
    ///
    /// - Parameter state: The object's state before the change.
    func recordUpdate(_ state: ObjectState, in table: TableLayout, bases: PropertyBases) throws {
        // A synced object has no operation.
        guard !state.isSynced, var operation = try operation(of: state.rowID, in: table) else {
            // An object without server ID and operation is new to the server. A salvaged store may have lost the
            // operation.
            let isNew = state.serverID == nil
            return try queue(isNew ? .insert : .update, state: state, in: table, changes: isNew ? nil : bases)
        }
        try merge(bases, into: &operation, in: table)
    }

    /// Adds changed properties to an existing operation, and saves it.
    func merge(_ bases: PropertyBases, into operation: inout StoredOperation, in table: TableLayout) throws {
        // An insert sends all values, so its changes are recorded only while an attempt is under way.
        if operation.kind == .update || operation.sent != nil { operation.changes.merge(later: bases) }
        try save(operation, in: table)
    }

    /// Queues a delete.
    ///
    /// - Returns: Whether the row must stay until the server has acknowledged the delete.
    func recordDelete(_ state: ObjectState, in table: TableLayout) throws -> Bool {
        guard !state.isSynced, var operation = try operation(of: state.rowID, in: table) else {
            guard state.serverID != nil else { return false }
            try queue(.delete, state: state, in: table, changes: nil)
            return true
        }
        if operation.kind == .insert && operation.attemptedKinds.isEmpty {
            try drop(operation, in: table)
            return false
        }
        operation.replaced = operation.kind
        operation.kind = .delete
        // A delete that is made while another change is under way has not itself been sent.
        try save(operation, in: table)
        return true
    }

    /// Reverts a delete.
    ///
    /// - Returns: Whether the object is then synced.
    func recordUndelete(_ state: ObjectState, in table: TableLayout) throws -> Bool {
        guard var operation = try operation(of: state.rowID, in: table), operation.kind == .delete else {
            return state.serverID != nil
        }
        if let replaced = operation.replaced {
            operation.kind = replaced
            operation.replaced = nil
            try save(operation, in: table)
            return false
        }
        if operation.attemptedKinds.isEmpty {
            try drop(operation, in: table)
            return state.serverID != nil
        }
        // The delete was sent, and the server may have executed it. Send all values again.
        operation.kind = .update
        operation.changes.merge(later: try allBases(of: state, in: table))
        try save(operation, in: table)
        return false
    }

    /// Returns all properties that are sent, with their stored values as bases.
    func allBases(of state: ObjectState, in table: TableLayout) throws -> PropertyBases {
        let values = try valuesIncludingUnresolved(of: state, in: table)
        return PropertyBases(
            table.definition.properties.enumerated().filter { !$1.isLocalOnly }.map { ($1.column, values[$0]) })
    }

    /// Returns an object's stored values in the order of the properties. They include unresolved references.
    ///
    /// - Parameter found: A look-up that is at the object's row, if there is one. It stays there.
    func valuesIncludingUnresolved(
        of state: ObjectState, in table: TableLayout, at found: Statement? = nil
    ) throws -> [StorageValue] {
        let statements = try connection.tableStatements(table)
        guard let statement = try found ?? statements.find(state.localID, rowID: state.rowID) else {
            throw notFound(state.localID, in: table)
        }
        var values = table.definition.properties.indices.map { statement.value(table.column($0)) }
        if found == nil { statement.reset() }
        for link in table.links {
            let waiting = try waitingEntries(of: state.rowID, property: link.property, in: table)
            values[link.property] = WaitingEntry.whole(values[link.property], with: waiting, isToMany: link.isToMany)
        }
        return values
    }
}

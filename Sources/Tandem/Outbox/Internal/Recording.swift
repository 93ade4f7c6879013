import Foundation

// The rules of collapse: what a change makes of the operation that is there. One operation for each object.
//
//     there      change    becomes
//     -          insert    insert
//     -          update    update, with the bases of what changed
//     -          delete    delete
//     insert     update    insert
//     insert     delete    nothing, and the object goes, if it was never attempted; else delete
//     update     update    update: what changed joins, bases that are there stay
//     update     delete    delete, which remembers the update
//     delete     undelete  what the delete had replaced, or nothing
//     delete     insert    update (WriteTransaction.insert: undelete, then update)

extension WriteTransaction {
    /// Queues the insert of a new object.
    func recordInsert(_ state: ObjectState, _ table: TableLayout) throws {
        try queue(.insert, state, table, changes: nil)
    }

    private func queue(
        _ kind: Operation.Kind, _ state: ObjectState, _ table: TableLayout, changes: PropertyBases?
    ) throws {
        let statement = try connection.statement(.insertOperation)
        statement.bind(1, table.table)
        statement.bind(2, state.rowID)
        statement.bind(3, state.localID.rawValue)
        statement.bind(4, Int64(kind.rawValue))
        statement.bind(5, now.timeIntervalSinceReferenceDate)
        statement.bind(6, changes?.stored ?? .null)
        try statement.run()
        touched.noteOperation(of: table)
    }

    /// Queues an update, or joins it to the operation that is there.
    ///
    /// - Parameter state: The object's state before the change.
    func recordUpdate(_ state: ObjectState, _ table: TableLayout, _ bases: PropertyBases) throws {
        // A synced object has no operation.
        guard !state.isSynced, var operation = try operation(of: state.rowID, in: table) else {
            // One that the server never had, and whose operation is lost, as a salvaged store may have it, is new there.
            let isNew = state.serverID == nil
            return try queue(isNew ? .insert : .update, state, table, changes: isNew ? nil : bases)
        }
        // What is new is sent whole, so that nothing need be remembered of it until it is under way.
        if operation.kind == .update || operation.sent != nil { operation.changes.merge(later: bases) }
        try save(operation, in: table)
    }

    /// Queues a delete.
    ///
    /// - Returns: Whether the row must stay until the server has acknowledged the delete.
    func recordDelete(_ state: ObjectState, _ table: TableLayout) throws -> Bool {
        guard !state.isSynced, var operation = try operation(of: state.rowID, in: table) else {
            guard state.serverID != nil else { return false }
            try queue(.delete, state, table, changes: nil)
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

    /// Takes a delete back.
    ///
    /// - Returns: Whether the object is synced then.
    func recordUndelete(_ state: ObjectState, _ table: TableLayout) throws -> Bool {
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
        // The delete was sent, and the server may have carried it out: everything is sent again.
        operation.kind = .update
        operation.changes.merge(later: try allBases(of: state, in: table))
        try save(operation, in: table)
        return false
    }

    /// All properties that are sent, with their stored values as bases.
    func allBases(of state: ObjectState, in table: TableLayout) throws -> PropertyBases {
        let values = try wholeValues(of: state, in: table)
        return PropertyBases(
            table.definition.properties.enumerated().filter { !$1.isLocalOnly }.map { ($1.column, values[$0]) })
    }

    /// An object's stored values, references with those that wait in their places; in the order of the properties.
    func wholeValues(of state: ObjectState, in table: TableLayout) throws -> [StorageValue] {
        let statements = try connection.tableStatements(table)
        guard let statement = try statements.find(state.localID, rowID: state.rowID) else {
            throw notFound(state.localID, table)
        }
        var values = table.definition.properties.indices.map { statement.value(table.column($0)) }
        statement.reset()
        for link in table.links {
            let waiting = try waitingEntries(of: state.rowID, link.property, in: table)
            values[link.property] = WaitingEntry.whole(values[link.property], with: waiting, isToMany: link.isToMany)
        }
        return values
    }
}

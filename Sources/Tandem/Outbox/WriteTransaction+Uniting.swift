import Foundation

// Where the server makes the IDs, a pull may bring as a new object what an insert had created whose answer was lost. When
// the insert is answered at last, two objects here are one there.

extension WriteTransaction {
    /// If another object has a server ID that turns out to be this one's, it was pulled while the answer to this one's
    /// insert was lost: the two become one.
    ///
    /// - Returns: The object's state then.
    /// - Throws: ``TandemError/Code/duplicateID`` if the other one was here before: no insert of this one has made it.
    func uniteWithHolder(
        of serverID: ServerID, _ state: ObjectState, in table: TableLayout
    ) throws -> ObjectState {
        guard let found = try find(serverID, in: table) else { return state }
        let other: ObjectState
        do {
            defer { found.reset() }
            other = try self.state(of: found, table)
        }
        guard other.rowID != state.rowID else { return state }
        // Rows are numbered as they come.
        guard state.serverID == nil, other.rowID > state.rowID else {
            throw TandemError(
                .duplicateID,
                "The server says that the \(table.definition.name) \(state.localID) is \(serverID), which is another "
                    + "one here: \(other.localID).",
                advice: "Look at what the server has answered.", store: store.path, model: table.definition.name)
        }
        try unite(state, withNewer: other, in: table)
        return try self.state(ofRow: state.rowID, in: table) ?? state
    }

    /// Makes one object of two: the one made here stays, with its local ID, and what refers to the other one refers to
    /// it from now on. What was changed of the other one here is a change of this one.
    ///
    /// - Parameters:
    ///   - older: The object made here.
    ///   - newer: The object that has the server ID. It goes.
    ///   - table: The table of both.
    private func unite(_ older: ObjectState, withNewer newer: ObjectState, in table: TableLayout) throws {
        // What was deleted as the one and changed as the other is not to be deleted: the change came to be seen last.
        let revives = try older.isDeleted && !newer.isDeleted && operation(of: newer.rowID, in: table) != nil
        // What is deleted here is not there for those that refer to it: they wait.
        if older.isDeleted && !revives { try asServer { try detachHolders(of: newer.localID, in: table) } }
        for holder in table.holders { try redirect(holder, from: newer.localID, to: older.localID, table) }
        try connection.execute(
            "UPDATE OR REPLACE \"__unresolved\" SET \"id\" = ? WHERE \"target\" = ? AND \"id\" = ?",
            [.text(older.localID.rawValue), .text(table.table), .text(newer.localID.rawValue)])
        let changes = try unsentChanges(of: newer, in: table)
        if let operation = try operation(of: newer.rowID, in: table) { try drop(operation, in: table) }
        try dropKept(of: newer.rowID, newer.serverID, in: table)
        try eraseRow(of: newer, in: table)
        guard revives else { return try apply(changes, to: older, in: table) }
        do {
            try savepoint {
                try asApp { try undeleteRow(older, in: table) }
                var live = older
                live.isDeleted = false
                try apply(changes, to: live, in: table)
            }
        } catch let error as TandemError where error.code == .duplicateValue {
            // Its unique value was given away after it was deleted: it can't come back.
            try asServer { try detachHolders(of: older.localID, in: table) }
        }
    }

    /// What waits to be sent of an object, by its properties. One that was deleted says nothing of the other one.
    private func unsentChanges(of state: ObjectState, in table: TableLayout) throws -> [(Int, StorageValue)] {
        guard !state.isDeleted, let operation = try operation(of: state.rowID, in: table) else { return [] }
        let values = try wholeValues(of: state, in: table)
        return table.definition.properties.enumerated().filter { _, property in
            operation.base(of: property.column) != nil
        }.map { ($0.offset, values[$0.offset]) }
    }

    /// Makes changes of the app's.
    private func apply(_ values: [(Int, StorageValue)], to state: ObjectState, in table: TableLayout) throws {
        guard !values.isEmpty, !state.isDeleted else { return }
        let row = RowBuffer()
        let byProperty = Dictionary(uniqueKeysWithValues: values)
        for property in table.definition.properties.indices { row.append(byProperty[property] ?? .null) }
        try asApp {
            knownTargets.removeAll()
            let statements = try connection.tableStatements(table)
            guard let statement = try statements.find(state.localID, rowID: state.rowID) else {
                throw notFound(state.localID, table)
            }
            _ = try update(statement, with: row, in: table, only: Set(byProperty.keys), keepsWaiting: false)
        }
    }

    // MARK: What refers to it

    /// Has a reference lead from one object to another, wherever it is held: in live rows, in tombstones, which may be
    /// brought back, and in the queue. That is no change of the app's: it is the same object.
    private func redirect(
        _ holder: TableLayout.Holder, from old: LocalID, to new: LocalID, _ target: TableLayout
    ) throws {
        let property = holder.table.definition.properties[holder.property]
        let column = property.column.quotedSQL
        knownTargets.removeAll()
        if holder.isToMany {
            // A tombstone's list stands in the link table as a live one's does.
            let links = holder.table.definition.linkTable(property).quotedSQL
            let statement = try connection.statement(
                """
                SELECT "__rid", \(column) FROM \(holder.table.quotedTable) WHERE "__rid" IN \
                (SELECT "object" FROM \(links) WHERE "target" = ?)
                """)
            statement.bind(1, old.rawValue)
            var lists: [(row: Int64, text: String)] = []
            do {
                defer { statement.reset() }
                while try statement.step() { lists.append((statement.integer(0), try statement.text(1))) }
            }
            for (row, text) in lists {
                try connection.execute(
                    "UPDATE \(holder.table.quotedTable) SET \(column) = ? WHERE \"__rid\" = ?",
                    [try redirected(.text(text), isToMany: true, from: old, to: new), .integer(row)])
            }
            // A list may have held both, each in its place.
            try connection.execute(
                "UPDATE \(links) SET \"target\" = ? WHERE \"target\" = ?", [.text(new.rawValue), .text(old.rawValue)])
        } else {
            try connection.execute(
                "UPDATE \(holder.table.quotedTable) SET \(column) = ?1 WHERE \(column) = ?2",
                [.text(new.rawValue), .text(old.rawValue)])
        }
        try redirectBases(of: property, holder, from: old, to: new)
    }

    /// Bases name objects by their local IDs.
    private func redirectBases(
        of property: PropertyDefinition, _ holder: TableLayout.Holder, from old: LocalID, to new: LocalID
    ) throws {
        // The walk is over one table's operations, for something that happens once in a lost answer.
        let statement = try connection.statement(
            """
            SELECT \(StoredOperation.columns) FROM "__operations" WHERE "table" = ? \
            AND ("changes" IS NOT NULL OR "sent" IS NOT NULL)
            """)
        statement.bind(1, holder.table.table)
        var operations: [StoredOperation] = []
        do {
            defer { statement.reset() }
            while try statement.step() { operations.append(try readable { try StoredOperation(statement) }) }
        }
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
                [changes.stored, sent.map { .blob($0.bytes) } ?? .null, .integer(operation.id)])
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

// The removal of objects by a server, and of rows whose operations were removed. The app's delete rules do not apply.

extension SyncTransaction {
    /// Removes an object without an operation. References to it become unresolved.
    func eraseObject(_ state: ObjectState, in table: TableLayout) throws {
        guard !table.holders.isEmpty, try transaction.isHeld(state.localID, in: table) else {
            return try transaction.poisoningOnError { try eraseRow(of: state, in: table) }
        }
        try savepoint {
            try eraseRow(of: state, in: table)
            try detachHolders(of: state.localID, in: table, as: state.serverID)
        }
    }

    /// Deletes a row, hidden or not, whose operation was removed.
    func eraseRow(of state: ObjectState, in table: TableLayout) throws {
        let statements = try connection.tableStatements(table)
        guard let statement = try statements.find(state.localID, rowID: state.rowID) else { return }
        let texts: [String?]
        do {
            defer { statement.reset() }
            texts = try statements.searchTexts(statement)
        }
        transaction.knownTargets.removeAll()
        try transaction.erase(state, texts: texts, in: table)
    }

    /// Detaches the holders of an object that a server deletes. Their references become unresolved, as for an object
    /// that has not arrived. The server determines the state of the holders, and their unsent changes are not touched.
    ///
    /// - Parameter serverID: The server ID by which the object is identified if it arrives again. It then has another
    ///   local ID if the server generates the IDs.
    func detachHolders(of localID: LocalID, in table: TableLayout, as serverID: ServerID? = nil) throws {
        let name = serverID.map { LocalID($0.rawValue) } ?? localID
        for holder in table.holders {
            let property = holder.table.definition.properties[holder.property]
            let column = property.column.quotedSQL
            let held = try connection.rows(
                transaction.holderQuery(holder, columns: "\"__rid\", \(column)"), binding: [.text(localID.rawValue)]
            ) { ($0.integer(0), try $0.text(1)) }
            let link = TableLayout.Link(
                property: holder.property, isToMany: holder.isToMany, target: ModelTarget(table.definition))
            for (row, value) in held {
                let ids = holder.isToMany ? try LinkList.parse(value) : [localID]
                let others = try transaction.waitingEntries(of: row, property: holder.property, in: holder.table)
                let waiting = ids.enumerated().filter { $0.element == localID }.map {
                    UnresolvedReference(
                        link: link, target: table,
                        position: WaitingEntry.position(ofPresent: $0.offset, besides: others), id: name)
                }
                if holder.isToMany {
                    let rest = ids.filter { $0 != localID }
                    try connection.replaceList(rest, of: row, property: property, in: holder.table)
                } else {
                    try connection.execute(
                        "UPDATE \(holder.table.quotedTable) SET \(column) = NULL WHERE \"__rid\" = ?",
                        binding: [.integer(row)])
                }
                try transaction.storeUnresolved(waiting, of: row, in: holder.table)
            }
        }
    }
}

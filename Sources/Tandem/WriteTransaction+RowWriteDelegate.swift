extension WriteTransaction: RowWriteDelegate {
    typealias OldValues = PropertyBases

    func willWrite(
        _ row: RowEncoder, over stored: Statement?, in table: TableLayout, only: Set<Int>?, from source: RowSource
    ) throws {
        guard !table.attachments.isEmpty else { return }
        try registerAttachments(row, in: table, only: only, over: stored?.row(), from: source)
    }

    func didInsert(_ state: inout ObjectState, in table: TableLayout, from source: RowSource) throws {
        if state.isSynced, try !hasNoPendingFiles(state.rowID, in: table) {
            state.isSynced = false
            try connection.execute(
                "UPDATE \(table.quotedTable) SET \"synced\" = 0 WHERE \"__rid\" = ?", binding: [.integer(state.rowID)])
        }
        if source.queuesOperations && !table.isLocalOnly { try recordInsert(state, in: table) }
    }

    func willUpdate(
        _ changed: [Int], of statement: Statement, waiting: [Int: (before: [WaitingEntry], after: [WaitingEntry])],
        in table: TableLayout
    ) -> PropertyBases? {
        guard !table.isLocalOnly else { return nil }
        let sent = changed.filter { !table.definition.properties[$0].isLocalOnly }
        guard !sent.isEmpty else { return nil }
        return PropertyBases(
            sent.map { index in
                let property = table.definition.properties[index]
                let value = statement.value(table.column(index))
                guard let entries = waiting[index]?.before else { return (property.column, value) }
                return (property.column, WaitingEntry.whole(value, with: entries, isToMany: property.isToMany))
            })
    }

    func didUpdate(_ state: ObjectState, from old: PropertyBases, in table: TableLayout) throws {
        try recordUpdate(state, in: table, bases: old)
    }

    func willDelete(_ state: ObjectState, in table: TableLayout) throws -> Bool {
        try !table.isLocalOnly && recordDelete(state, in: table)
    }

    func willErase(_ rowID: Int64, in table: TableLayout) throws {
        try leaveServerSide(of: rowID, in: table)
    }

    func willUndelete(_ state: ObjectState, in table: TableLayout) throws -> Bool {
        try recordUndelete(state, in: table) && hasNoPendingFiles(state.rowID, in: table)
    }
}

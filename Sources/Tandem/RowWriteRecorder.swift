/// Registers the attachments of written rows, and records the operations of their changes.
struct RowWriteRecorder: RowWriteDelegate {
    func willWrite(
        _ row: RowEncoder, over stored: Statement?, in table: TableLayout, only: Set<Int>?, from source: RowSource,
        by transaction: WriteTransaction
    ) throws {
        guard !table.attachments.isEmpty else { return }
        try transaction.registerAttachments(row, in: table, only: only, over: stored?.row(), from: source)
    }

    func didInsert(
        _ state: inout ObjectState, in table: TableLayout, from source: RowSource, by transaction: WriteTransaction
    ) throws {
        if state.isSynced, try !transaction.hasNoPendingFiles(state.rowID, in: table) {
            state.isSynced = false
            try transaction.connection.execute(
                "UPDATE \(table.quotedTable) SET \"synced\" = 0 WHERE \"__rid\" = ?", binding: [.integer(state.rowID)])
        }
        if source.queuesOperations && !table.isLocalOnly { try transaction.recordInsert(state, in: table) }
    }

    func didUpdate(
        _ state: ObjectState, from old: [OldValue], in table: TableLayout, by transaction: WriteTransaction
    ) throws {
        try transaction.recordUpdate(state, in: table, bases: PropertyBases(old))
    }

    func willDelete(_ state: ObjectState, in table: TableLayout, by transaction: WriteTransaction) throws -> Bool {
        try !table.isLocalOnly && transaction.recordDelete(state, in: table)
    }

    func willErase(_ rowID: Int64, in table: TableLayout, by transaction: WriteTransaction) throws {
        try transaction.leaveServerSide(of: rowID, in: table)
    }

    func willUndelete(_ state: ObjectState, in table: TableLayout, by transaction: WriteTransaction) throws -> Bool {
        try transaction.recordUndelete(state, in: table) && transaction.hasNoPendingFiles(state.rowID, in: table)
    }
}

import Foundation

/// What sending does to the queue. Tandem's sync calls these; so can an app that brings its own.
extension WriteTransaction {
    /// Marks an operation as being sent: from now on the server may have it.
    ///
    /// Changes made to the object before the answer comes stay pending after it.
    ///
    /// - Returns: The operation as it is being sent.
    /// - Throws: ``TandemError/Code/staleOperation`` if it is no longer in the queue.
    @discardableResult
    public func beginAttempt(_ id: Operation.ID) throws -> Operation {
        try checkUsable()
        let (operation, table, _) = try stored(id)
        // What an attempt whose answer was lost had taken along is taken along again.
        var sent = operation.sent ?? PropertyBases()
        sent.merge(later: operation.changes)
        try connection.execute(
            """
            UPDATE "__operations" SET "state" = 1, "attempts" = "attempts" + 1, "sent" = ?, "changes" = NULL, \
            "sentKind" = "kind" WHERE "id" = ?
            """,
            [.blob(sent.bytes), .integer(id)])
        try connection.execute("DELETE FROM \"__operation_errors\" WHERE \"operation\" = ?", [.integer(id)])
        touched.noteOperation(ofTable: table)
        guard let result = try store.operations.one(id) else { throw stale(id) }
        return result
    }

    /// Folds the server's answer in: the operation is done, and the object synced, unless it was changed meanwhile.
    ///
    /// - Parameters:
    ///   - serverID: The object's server ID; required after an insert.
    ///   - version: The server's concurrency token for what it holds now.
    /// - Throws: ``TandemError/Code/staleOperation`` if the operation is not under way.
    public func acknowledge(
        _ id: Operation.ID, serverID: ServerID? = nil, version: String? = nil, createdAt: Date? = nil,
        updatedAt: Date? = nil
    ) throws {
        try checkUsable()
        let (operation, tableName, rowID) = try stored(id)
        guard operation.sent != nil, let table = store.schema.table(named: tableName),
            let state = try stateOfRow(rowID, in: table)
        else { throw stale(id) }
        let sentKind = try sentKind(id) ?? operation.kind
        try savepoint {
            if sentKind == .delete {
                try acknowledgeDelete(operation, state, table)
            } else {
                try acknowledgeChange(
                    operation, sentKind, state, table,
                    received: (serverID ?? state.serverID, version, createdAt ?? state.createdAt, updatedAt))
            }
        }
    }

    private func acknowledgeDelete(_ operation: StoredOperation, _ state: ObjectState, _ table: TableLayout) throws {
        guard operation.kind != .delete else {
            try drop(operation, in: table)
            guard let statement = try connection.tableStatements(table).find(state.localID) else { return }
            let texts: [String?]
            do {
                defer { statement.reset() }
                texts = try connection.tableStatements(table).searchTexts(statement)
            }
            return try erase(state, texts, in: table)
        }
        // It was brought back while the delete was under way: the server has it no more, so that it is new there.
        try connection.execute(
            """
            UPDATE "__operations" SET "kind" = 1, "state" = 0, "attempts" = 0, "sent" = NULL, "sentKind" = NULL, \
            "changes" = NULL, "replaced" = NULL WHERE "id" = ?
            """, [.integer(operation.id)])
        try connection.execute(
            """
            UPDATE \(table.quotedTable) SET "serverID" = NULL, "version" = NULL, "createdAt" = NULL, \
            "updatedAt" = NULL, "synced" = 0 WHERE "__rid" = ?
            """, [.integer(state.rowID)])
        touched.noteOperation(of: table)
    }

    private func acknowledgeChange(
        _ operation: StoredOperation, _ sentKind: Operation.Kind, _ state: ObjectState, _ table: TableLayout,
        received: (serverID: ServerID?, version: String?, createdAt: Date?, updatedAt: Date?)
    ) throws {
        guard let serverID = received.serverID else {
            throw TandemError(
                .invalidValue, "An insert was acknowledged without a server ID.",
                advice: "Pass the ID that the server gave the object.", store: store.path,
                model: table.definition.name)
        }
        let isDone = operation.kind == sentKind && operation.changes.isEmpty
        if isDone {
            try drop(operation, in: table)
        } else {
            // Changed, or deleted, meanwhile: that stays to be sent, on the new version.
            let isDelete = operation.kind == .delete
            let replaced: StorageValue =
                isDelete && !operation.changes.isEmpty ? .integer(Int64(Operation.Kind.update.rawValue)) : .null
            try connection.execute(
                """
                UPDATE "__operations" SET "kind" = ?, "state" = 0, "attempts" = 0, "sent" = NULL, \
                "sentKind" = NULL, "replaced" = ? WHERE "id" = ?
                """,
                [
                    .integer(Int64((isDelete ? Operation.Kind.delete : .update).rawValue)), replaced,
                    .integer(operation.id),
                ])
            touched.noteOperation(of: table)
        }
        let statement = try connection.statement(
            """
            UPDATE \(table.quotedTable) SET "serverID" = ?, "version" = ?, "createdAt" = ?, "updatedAt" = ?, \
            "synced" = ? WHERE "__rid" = ?
            """)
        statement.bind(1, serverID.rawValue)
        statement.bind(2, received.version)
        statement.bind(3, received.createdAt)
        statement.bind(4, received.updatedAt)
        statement.bind(5, isDone)
        statement.bind(6, state.rowID)
        do {
            try statement.run()
        } catch let error as TandemError where error.isConstraint {
            var state = state
            state.serverID = serverID
            throw try explainConstraint(error, connection.row, state, table)
        }
        // What was deleted meanwhile is not there for those that wait for it.
        if state.serverID == nil && !state.isDeleted {
            var state = state
            state.serverID = serverID
            knownTargets.removeAll()
            try resolveWaiting(for: state, in: table)
        }
    }

    /// Notes that an attempt failed.
    ///
    /// - Parameters:
    ///   - error: What happened.
    ///   - retry: Whether it waits to be sent again by itself. If not, it waits for the user or for a new change.
    /// - Throws: ``TandemError/Code/staleOperation`` if the operation is no longer in the queue.
    public func fail(_ id: Operation.ID, _ error: OperationError, retry: Bool) throws {
        try checkUsable()
        let (operation, table, _) = try stored(id)
        // What was taken along is to be sent again: its bases are older than those of later changes.
        var changes = operation.sent ?? PropertyBases()
        changes.merge(later: operation.changes)
        // What is new is sent whole, whatever has changed of it meanwhile.
        if operation.kind == .insert || operation.replaced == .insert { changes = PropertyBases() }
        // A change made meanwhile was not refused: it waits to be sent.
        let isOvertaken =
            try operation.sent != nil && (!operation.changes.isEmpty || sentKind(id) != operation.kind)
        try connection.execute(
            """
            UPDATE "__operations" SET "state" = ?, "changes" = ?, "sent" = NULL, "sentKind" = NULL WHERE "id" = ?
            """,
            [.integer(retry || isOvertaken ? 0 : 2), changes.isEmpty ? .null : .blob(changes.bytes), .integer(id)])
        try connection.execute(
            """
            INSERT INTO "__operation_errors" ("operation", "status", "message", "at", "serverItem") \
            VALUES (?, ?, ?, ?, ?) ON CONFLICT ("operation") DO UPDATE SET "status" = excluded."status", \
            "message" = excluded."message", "at" = excluded."at", "serverItem" = excluded."serverItem"
            """,
            [
                .integer(id), error.status.map { .integer(Int64($0)) } ?? .null, .text(error.message),
                .real(error.at.timeIntervalSinceReferenceDate), error.serverItem.map { .blob([UInt8]($0)) } ?? .null,
            ])
        touched.noteOperation(ofTable: table)
    }

    // MARK: -

    private func stored(_ id: Operation.ID) throws -> (StoredOperation, table: String, rowID: Int64) {
        guard let found = try operation(id) else { throw stale(id) }
        return found
    }

    private func sentKind(_ id: Operation.ID) throws -> Operation.Kind? {
        guard
            case .integer(let raw)? = try connection.value(
                "SELECT \"sentKind\" FROM \"__operations\" WHERE \"id\" = ?", [.integer(id)])
        else { return nil }
        return Operation.Kind(rawValue: Int(raw))
    }

    private func stateOfRow(_ rowID: Int64, in table: TableLayout) throws -> ObjectState? {
        let statement = try connection.statement(
            "SELECT \(table.selectList) FROM \(table.quotedTable) WHERE \"__rid\" = ?")
        statement.bind(1, rowID)
        defer { statement.reset() }
        return try statement.step() ? try state(of: statement, table) : nil
    }

    private func stale(_ id: Operation.ID) -> TandemError {
        TandemError(
            .staleOperation, "The operation \(id) is not under way.",
            advice: "Look at the queue again: it was answered, or collapsed by a change.", store: store.path)
    }
}

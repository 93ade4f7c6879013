extension IntegrityCheck {
    /// `synced` holds exactly where no operation and no file is pending and there is a server ID; what is deleted waits
    /// to be deleted on the server.
    func checkStates(of table: TableLayout) throws {
        try each(
            """
            SELECT "localID", "synced", "deleted", "serverID", "operationKind", \(table.filesSettledSQL) FROM \
            (SELECT t.*, o."kind" AS "operationKind" FROM \(table.quotedTable) t \
            LEFT JOIN "__operations" o ON o."table" = ? AND o."object" = t."__rid") \(table.quotedTable)
            """, [.text(table.table)]
        ) { row in
            let name = "The \(table.definition.name) \(try row.text(0))"
            let isSynced = row.integer(1) != 0
            let isDeleted = row.integer(2) != 0
            let hasOperation = !row.isNull(4)
            if isSynced != (!hasOperation && !row.isNull(3) && row.integer(5) != 0) {
                report("\(name) is\(isSynced ? "" : " not") marked as synced, which it is\(isSynced ? " not" : "").")
            }
            if isDeleted != (hasOperation && row.integer(4) == Int64(Operation.Kind.delete.rawValue)) {
                report("\(name) is\(isDeleted ? "" : " not") deleted, and its operation says otherwise.")
            }
            if hasOperation && table.isLocalOnly { report("\(name) is local only, and has an operation.") }
            if hasOperation, row.integer(4) == Int64(Operation.Kind.insert.rawValue), !row.isNull(3) {
                report("\(name) is to be inserted on a server that knows it.")
            }
            if hasOperation, row.integer(4) == Int64(Operation.Kind.update.rawValue), row.isNull(3) {
                report("\(name) is to be updated on a server that does not know it.")
            }
        }
    }

    /// Each operation is that of an object, can be read, and is in a state that makes sense.
    func checkOperations() throws {
        try each(
            """
            SELECT \(StoredOperation.columns), "table", "object", "localID", "attempted" FROM "__operations"
            """
        ) { row in
            let name = "The operation \(row.integer(0))"
            guard let table = schema.table(named: try row.text(9)) else { return }
            let owner = try connection.value(
                "SELECT \"localID\" FROM \(table.quotedTable) WHERE \"__rid\" = ?", [.integer(row.integer(10))])
            if owner != .text(try row.text(11)) { report("\(name) is of an object that is not there.") }
            let operation: StoredOperation
            let attempted: AttemptedValues
            do {
                operation = try StoredOperation(row)
                attempted = row.isNull(12) ? AttemptedValues() : try AttemptedValues(bytes: row.bytes(12))
            } catch {
                return report("\(name) can't be read: \(error)")
            }
            if operation.replaced != nil && operation.kind != .delete {
                report("\(name) is \(operation.kind), and replaces another.")
            }
            if operation.kind == .update, operation.changes.isEmpty, operation.sent?.isEmpty ?? true {
                report("\(name) is an update of nothing.")
            }
            checkAttempts(of: operation, attempted, name)
            for column in operation.changes.columns + (operation.sent?.columns ?? []) + attempted.columns.map(\.name)
            where !table.definition.properties.contains(where: { $0.column == column && !$0.isLocalOnly }) {
                report("\(name) changes \(column), which is no property that is sent.")
            }
        }
        try each(
            """
            SELECT "operation" FROM "__operation_errors" WHERE "operation" NOT IN (SELECT "id" FROM "__operations")
            """
        ) { report("An error is kept of the operation \($0.integer(0)), which is not there.") }
    }

    /// What is under way has taken something along, and was sent; what was sent is known by its kind.
    private func checkAttempts(of operation: StoredOperation, _ attempted: AttemptedValues, _ name: String) {
        // What was held in its flight may be answered still.
        let statesInFlight: Set<Operation.State> =
            operation.sent == nil ? [.pending, .failed, .held] : [.attempted, .held]
        if !statesInFlight.contains(operation.state) || (operation.sent != nil) != (operation.sentKind != nil) {
            report("\(name) is \(operation.state), and what it sent says otherwise.")
        }
        let kinds = operation.attemptedKinds
        if !kinds.isSuperset(of: operation.kindsBefore) || operation.sent == nil && !operation.kindsBefore.isEmpty
            || operation.sentKind.map({ !kinds.contains(AttemptedKinds($0)) }) ?? false
            || kinds.isEmpty && !attempted.isEmpty
            // That the server has a tombstone is known by another's delete too.
            || operation.attempts == 0 && !kinds.subtracting(.delete).isEmpty
        {
            report("\(name) was sent, and what of it says otherwise.")
        }
        if attempted.columns.contains(where: {
            $0.entries.isEmpty && $0.current == nil || $0.entries.count > AttemptedValues.limit
        }) {
            report("\(name) remembers more values sent than there can be, or none.")
        }
    }
}

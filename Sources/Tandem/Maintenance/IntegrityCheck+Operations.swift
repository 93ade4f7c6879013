extension IntegrityCheck {
    /// Checks the states. `synced` must hold exactly if no operation and no file is pending and there is a server ID. A
    /// deleted object must have a pending delete.
    func checkStates(of table: TableLayout) throws {
        try each(
            """
            SELECT "localID", "synced", "deleted", "serverID", "operationKind", \(table.noPendingFilesSQL) FROM \
            (SELECT t.*, o."kind" AS "operationKind" FROM \(table.quotedTable) t \
            LEFT JOIN "__operations" o ON o."table" = ? AND o."object" = t."__rid") \(table.quotedTable)
            """, binding: [.text(table.table)]
        ) { row in
            let name = "The \(table.definition.name) \(try row.text(0))"
            let isSynced = row.integer(1) != 0
            let isDeleted = row.integer(2) != 0
            let hasOperation = !row.isNull(4)
            if isSynced != (!hasOperation && !row.isNull(3) && row.integer(5) != 0) {
                report("\(name) is\(isSynced ? "" : " not") marked as synced, which it is\(isSynced ? " not" : "").")
            }
            if isDeleted != (hasOperation && row.integer(4) == Int64(PendingOperation.Kind.delete.rawValue)) {
                report("\(name) is\(isDeleted ? "" : " not") deleted, but its operation contradicts that.")
            }
            if hasOperation && table.isLocalOnly { report("\(name) is local only, but has an operation.") }
            if hasOperation, row.integer(4) == Int64(PendingOperation.Kind.insert.rawValue), !row.isNull(3) {
                report("\(name) has a pending insert, but also a server ID.")
            }
            if hasOperation, row.integer(4) == Int64(PendingOperation.Kind.update.rawValue), row.isNull(3) {
                report("\(name) has a pending update, but no server ID.")
            }
        }
    }

    /// Checks that each operation belongs to an object, can be read, and has a consistent state.
    func checkOperations() throws {
        try each(
            """
            SELECT \(StoredOperation.columns), "table", "object", "localID", "attempted" FROM "__operations"
            """
        ) { row in
            let name = "The operation \(row.integer(0))"
            guard let table = schema.table(named: try row.text(9)) else { return }
            let owner = try connection.value(
                "SELECT \"localID\" FROM \(table.quotedTable) WHERE \"__rid\" = ?", binding: [.integer(row.integer(10))]
            )
            if owner != .text(try row.text(11)) { report("\(name) belongs to an object that does not exist.") }
            let operation: StoredOperation
            let attempted: AttemptedValues
            do {
                operation = try StoredOperation(row)
                attempted = row.isNull(12) ? AttemptedValues() : try AttemptedValues(bytes: row.bytes(12))
            } catch {
                return report("\(name) can't be read: \(error)")
            }
            if operation.replaced != nil && operation.kind != .delete {
                report("\(name) has the kind \(operation.kind), but replaces another operation.")
            }
            if operation.kind == .update, operation.changes.isEmpty, operation.sent?.isEmpty ?? true {
                report("\(name) is an update without changes.")
            }
            checkAttempts(of: operation, attempted: attempted, name: name)
            for column in operation.changes.columns + (operation.sent?.columns ?? []) + attempted.columns.map(\.name)
            where !table.definition.properties.contains(where: { $0.column == column && !$0.isLocalOnly }) {
                report("\(name) changes \(column), which is not a sent property.")
            }
        }
        try each(
            """
            SELECT "operation" FROM "__operation_errors" WHERE "operation" NOT IN (SELECT "id" FROM "__operations")
            """
        ) { report("There is an error of the operation \($0.integer(0)), which does not exist.") }
    }

    /// Checks the attempts. An operation in flight must have sent values. The kind of sent requests must be known.
    private func checkAttempts(of operation: StoredOperation, attempted: AttemptedValues, name: String) {
        // A held operation that is in flight may still get a response.
        let statesInFlight: Set<PendingOperation.State> =
            operation.sent == nil ? [.pending, .failed, .held] : [.attempted, .held]
        if !statesInFlight.contains(operation.state) || (operation.sent != nil) != (operation.sentKind != nil) {
            report("\(name) has the state \(operation.state), but its sent values contradict that.")
        }
        let kinds = operation.attemptedKinds
        if !kinds.isSuperset(of: operation.kindsBefore) || operation.sent == nil && !operation.kindsBefore.isEmpty
            || operation.sentKind.map({ !kinds.contains(AttemptedKinds($0)) }) ?? false
            || kinds.isEmpty && !attempted.isEmpty
            // Another device's delete can also show that the server has a tombstone.
            || operation.attempts == 0 && !kinds.subtracting(.delete).isEmpty
        {
            report("\(name) has attempts that contradict its sent values.")
        }
        if attempted.columns.contains(where: {
            $0.entries.isEmpty && $0.current == nil || $0.entries.count > AttemptedValues.limit
        }) {
            report("\(name) has too many attempted values, or none.")
        }
    }
}

import Foundation

/// Converts a stored value to its form after a round trip over the wire: a date in the server's precision, JSON in its
/// canonical form. Throws if the value can't be sent.
package typealias WireRounding = (PropertyDefinition, StorageValue) throws -> StorageValue

/// The effects of sending on the queue.
extension SyncTransaction {
    /// Marks an operation as being sent.
    ///
    /// - Parameters:
    ///   - leavingOut: The references, by their names in Swift, that an insert omits. They would close a cycle of
    ///     unsent objects. They stay to be sent as an update.
    ///   - rounding: The conversion of a value by the wire. Sent values are recorded in that form.
    package func beginAttempt(
        _ id: PendingOperation.ID, leavingOut: Set<String>, rounding: WireRounding
    ) throws -> PendingOperation {
        if let object = try outgoing(id) {
            return try beginAttempt(object, leavingOut: leavingOut, rounding: rounding)
        }
        // The store was opened without the object's model.
        let (operation, tableName, _) = try storedOperation(id)
        return try begin(operation, of: nil, in: tableName, leavingOut: leavingOut, rounding: rounding)
    }

    /// Marks the operation of an object as being sent.
    ///
    /// - Parameters:
    ///   - object: The object, as `outgoing` returned it in this transaction. It has not changed since.
    ///   - leavingOut: The references, by their names in Swift, that an insert omits.
    ///   - rounding: The conversion of a value by the wire. Sent values are recorded in that form.
    package func beginAttempt(
        _ object: OutgoingObject, leavingOut: Set<String>, rounding: WireRounding
    ) throws -> PendingOperation {
        try checkUsable()
        let id = object.operation.id
        guard let rows = try object.rows ?? outgoing(id)?.rows else { throw stale(id) }
        return try begin(
            rows.operation, of: (object: object, values: rows.values), in: object.operation.table,
            leavingOut: leavingOut, rounding: rounding)
    }

    /// Marks an operation as being sent.
    ///
    /// - Parameter read: The object, and its values with references by local IDs.
    private func begin(
        _ operation: StoredOperation, of read: (object: OutgoingObject, values: [StorageValue])?,
        in tableName: String, leavingOut: Set<String>, rounding: WireRounding
    ) throws -> PendingOperation {
        let id = operation.id
        guard operation.state != .held else {
            throw TandemError(
                .staleOperation, message: "The operation \(id) is held.", advice: "Release it first.", store: store.path
            )
        }
        // The attempt contains all values of an earlier attempt whose response was lost.
        let isInsert = operation.kind == .insert
        var sent = isInsert ? PropertyBases() : operation.bases
        var left = PropertyBases()
        var attempted = try attemptedValues(id)
        if isInsert {
            // The server may hold the object without the references that an attempt without a response omitted.
            for entry in operation.changes.entries where Self.isEmpty(entry.value) {
                if operation.sent?[entry.column] != nil { attempted.record(entry.value, of: entry.column) }
            }
        }
        // No response reported that an earlier attempt failed, so the server may have executed it.
        attempted.markMayHaveExecuted()
        if let table = store.schema.table(named: tableName), let (object, values) = read {
            if isInsert { left = emptyBases(of: leavingOut, in: table) }
            // If the response to an insert was lost, its object is deleted by sending the insert again.
            let isOfLost = operation.kind == .delete && object.serverID == nil
            if operation.kind != .delete || isOfLost {
                for (index, property) in table.definition.properties.enumerated() where !property.isLocalOnly {
                    if left[property.column] != nil { sent[property.column] = values[index] }
                    let isSent =
                        isOfLost || (isInsert ? left[property.column] == nil : sent[property.column] != nil)
                    guard isSent, let form = object.values[property.name] else { continue }
                    do {
                        attempted.record(try rounding(property, form), of: property.column)
                    } catch  where isOfLost {
                        // A delete must not wait for a value that can't be encoded. It is sent without values.
                    }
                }
            }
        }
        try connection.execute(
            """
            UPDATE "__operations" SET "state" = 1, "attempts" = "attempts" + 1, "sent" = ?, "changes" = ?, \
            "sentKind" = "kind", "attempted" = ?, "attemptedKinds" = ?, "retryAt" = NULL WHERE "id" = ?
            """,
            binding: [
                .blob(sent.bytes), left.encoded, attempted.encoded,
                operation.attemptedKinds.union(AttemptedKinds(operation.kind)).encoded(
                    before: operation.attemptedKinds),
                .integer(id),
            ])
        try transaction.forgetError(of: id)
        transaction.touched.recordOperation(ofTable: tableName)
        guard let result = try OperationReader(store: store).operation(id) else { throw stale(id) }
        return result
    }

    /// Returns the references that an insert omits. Their bases are the values that the server will hold.
    private func emptyBases(of names: Set<String>, in table: TableLayout) -> PropertyBases {
        PropertyBases(
            table.links.map { ($0, table.definition.properties[$0.property]) }
                .filter { names.contains($1.name) && !$1.isLocalOnly }
                .map { ($1.column, Self.emptyReference(isToMany: $0.isToMany)) })
    }

    private static func emptyReference(isToMany: Bool) -> StorageValue {
        isToMany ? .text(LinkList.text([])) : .null
    }

    private static func isEmpty(_ reference: StorageValue) -> Bool {
        [true, false].contains { emptyReference(isToMany: $0) == reference }
    }

    /// Records that an attempt failed, and surely changed nothing on the server.
    ///
    /// The kind of its request stays recorded: the caller does not name the request, and after a crash it may have been
    /// another one.
    ///
    /// - Parameters:
    ///   - error: The reason for the failure.
    ///   - retry: Whether the operation is retried automatically. If not, it waits for the user or for a new change.
    /// - Throws: ``TandemError/Code/staleOperation`` if the operation is no longer in the queue.
    package func fail(_ id: PendingOperation.ID, with error: OperationError, retry: Bool) throws {
        try checkUsable()
        let (operation, table, rowID) = try storedOperation(id)
        try requeue(operation, as: try stateAfterFailing(operation, rowID: rowID, in: table, retry: retry))
        try storeError(error, of: id)
        transaction.touched.recordOperation(ofTable: table)
    }

    /// Records that an attempt failed, and surely changed nothing on the server, if it is still the current attempt.
    ///
    /// The attempt then counts as never made. An object that was thus never sent, and that was deleted meanwhile, is
    /// removed.
    ///
    /// - Parameters:
    ///   - attempt: The value of ``PendingOperation/attempts`` when the attempt began.
    ///   - retryAt: The earliest time of a retry, if the server has sent one.
    /// - Returns: `false`, without a change, if that attempt is no longer under way.
    package func fail(
        _ id: PendingOperation.ID, attempt: Int, with error: OperationError, retry: Bool, retryAt: Date? = nil
    ) throws -> Bool {
        try checkUsable()
        guard let (table, isLeft) = try undoAttempt(id, attempt: attempt, retry: retry) else { return false }
        guard isLeft else { return true }
        try storeError(error, of: id)
        try setRetry(at: retry ? retryAt : nil, of: id)
        transaction.touched.recordOperation(ofTable: table)
        return true
    }

    /// Withdraws an attempt whose request was not sent. The operation is then pending, with the error and the number of
    /// attempts from before. The outcome of an earlier attempt stays unknown: its kind and its values stay recorded.
    ///
    /// An object that was never sent, and that was deleted meanwhile, is removed.
    ///
    /// - Parameters:
    ///   - attempt: The value of ``PendingOperation/attempts`` when the attempt began.
    ///   - error: The operation's error before the attempt.
    ///   - retryAt: The operation's time of a retry before the attempt.
    /// - Returns: `false`, without a change, if that attempt is no longer under way.
    package func withdraw(
        _ id: PendingOperation.ID, attempt: Int, restoring error: OperationError?, retryAt: Date?
    ) throws -> Bool {
        try checkUsable()
        guard let (table, isLeft) = try undoAttempt(id, attempt: attempt, retry: true) else { return false }
        guard isLeft else { return true }
        try connection.execute(
            "UPDATE \"__operations\" SET \"attempts\" = \"attempts\" - 1 WHERE \"id\" = ?", binding: [.integer(id)])
        if let error { try storeError(error, of: id) }
        try setRetry(at: retryAt, of: id)
        transaction.touched.recordOperation(ofTable: table)
        return true
    }

    /// Undoes the effects of an attempt that was not carried out.
    ///
    /// - Returns: The operation's table, and whether the operation is still in the queue; `nil`, without a change, if
    ///   that attempt is no longer under way.
    private func undoAttempt(
        _ id: PendingOperation.ID, attempt: Int, retry: Bool
    ) throws -> (table: String, isLeft: Bool)? {
        guard let (found, tableName, rowID) = try underWay(id, attempt: attempt) else { return nil }
        var operation = found
        let next = try stateAfterFailing(operation, rowID: rowID, in: tableName, retry: retry)
        operation.attemptedKinds = operation.kindsBefore
        if operation.replaced == .insert, operation.attemptedKinds.isEmpty,
            let table = store.schema.table(named: tableName), let state = try state(ofRow: rowID, in: table),
            state.serverID == nil
        {
            try transaction.drop(operation, in: table)
            try eraseRow(of: state, in: table)
            return (tableName, false)
        }
        try requeue(operation, as: next)
        var attempted = try attemptedValues(id)
        attempted.forgetCurrent()
        try save(attempted, of: id)
        return (tableName, true)
    }

    /// Records that the outcome of an attempt is unknown: its response was lost, or could not be read. The server may
    /// have executed the attempt.
    ///
    /// - Parameters:
    ///   - attempt: The value of ``PendingOperation/attempts`` when the attempt began.
    ///   - error: The reason for the unknown outcome.
    ///   - retryAt: The earliest time of a retry, if the server has sent one.
    /// - Returns: `false`, without a change, if that attempt is no longer under way.
    package func markOutcomeUnknown(
        _ id: PendingOperation.ID, attempt: Int, error: OperationError, retryAt: Date? = nil
    ) throws -> Bool {
        try checkUsable()
        guard let (operation, table, _) = try underWay(id, attempt: attempt) else { return false }
        // From now on no response can prove that the attempt was not executed.
        var attempted = try attemptedValues(id)
        attempted.markMayHaveExecuted()
        try save(attempted, of: id)
        try connection.execute(
            "UPDATE \"__operations\" SET \"attemptedKinds\" = ? WHERE \"id\" = ?",
            binding: [operation.attemptedKinds.encoded(before: operation.attemptedKinds), .integer(id)])
        try storeError(error, of: id)
        try setRetry(at: retryAt, of: id)
        transaction.touched.recordOperation(ofTable: table)
        return true
    }

    // MARK: -

    /// Returns the operation's state after an attempt that was not executed. The server did not reject a change made
    /// meanwhile: that change waits to be sent.
    private func stateAfterFailing(
        _ operation: StoredOperation, rowID: Int64, in table: String, retry: Bool
    ) throws -> PendingOperation.State {
        if operation.state == .held { return .held }
        if retry { return .pending }
        guard operation.sent != nil else { return .failed }
        return try operation.sentKind != operation.kind || hasNewChanges(operation, rowID: rowID, tableName: table)
            ? .pending : .failed
    }

    /// Returns whether the object changed during an attempt. A reference that an insert omitted has not changed if it
    /// still has the same value.
    private func hasNewChanges(_ operation: StoredOperation, rowID: Int64, tableName: String) throws -> Bool {
        guard operation.sentKind == .insert, let left = operation.sent, !left.isEmpty,
            let table = store.schema.table(named: tableName), let state = try state(ofRow: rowID, in: table)
        else { return !operation.changes.isEmpty }
        let values = try valuesIncludingUnresolved(of: state, in: table)
        return table.definition.properties.enumerated().contains { index, property in
            operation.changes[property.column] != nil && left[property.column] != values[index]
        }
    }

    /// Ends an attempt that was not executed. Its changes are to be sent again.
    private func requeue(_ operation: StoredOperation, as state: PendingOperation.State) throws {
        // An insert sends all values, so changes made meanwhile need no record.
        let isNew = operation.kind == .insert || operation.replaced == .insert
        try connection.execute(
            """
            UPDATE "__operations" SET "state" = ?, "changes" = ?, "sent" = NULL, "sentKind" = NULL, \
            "attemptedKinds" = ?, "retryAt" = NULL WHERE "id" = ?
            """,
            binding: [
                .integer(Int64(state.rawValue)), isNew ? .null : operation.bases.encoded,
                operation.attemptedKinds.encoded(), .integer(operation.id),
            ])
    }

    private func save(_ attempted: AttemptedValues, of id: PendingOperation.ID) throws {
        try connection.execute(
            "UPDATE \"__operations\" SET \"attempted\" = ? WHERE \"id\" = ?",
            binding: [attempted.encoded, .integer(id)])
    }

    private func storeError(_ error: OperationError, of id: PendingOperation.ID) throws {
        try connection.execute(
            """
            INSERT INTO "__operation_errors" ("operation", "status", "message", "at", "serverItem") \
            VALUES (?, ?, ?, ?, ?) ON CONFLICT ("operation") DO UPDATE SET "status" = excluded."status", \
            "message" = excluded."message", "at" = excluded."at", "serverItem" = excluded."serverItem"
            """,
            binding: [
                .integer(id), error.status.map { .integer(Int64($0)) } ?? .null, .text(error.message),
                .real(error.at.timeIntervalSinceReferenceDate), error.serverItem.map { .blob([UInt8]($0)) } ?? .null,
            ])
    }

    private func setRetry(at date: Date?, of id: PendingOperation.ID) throws {
        try connection.execute(
            "UPDATE \"__operations\" SET \"retryAt\" = ? WHERE \"id\" = ?",
            binding: [date.map { .real($0.timeIntervalSinceReferenceDate) } ?? .null, .integer(id)])
    }

    func storedOperation(_ id: PendingOperation.ID) throws -> (operation: StoredOperation, table: String, rowID: Int64)
    {
        guard let found = try operation(id) else { throw stale(id) }
        return found
    }

    /// Returns an operation whose attempt is under way or has no response. Returns `nil` if that attempt has ended or
    /// another one has begun.
    func underWay(
        _ id: PendingOperation.ID, attempt: Int
    ) throws -> (operation: StoredOperation, table: String, rowID: Int64)? {
        guard let found = try operation(id), found.0.sent != nil, found.0.attempts == Int64(attempt) else {
            return nil
        }
        return found
    }

    func stale(_ id: PendingOperation.ID) -> TandemError {
        TandemError(
            .staleOperation, message: "The operation \(id) is not under way.",
            advice: "Read the queue again: the operation got a response, or was merged with a change.",
            store: store.path)
    }
}

extension ReadTransaction {
    func state(ofRow rowID: Int64, in table: TableLayout) throws -> ObjectState? {
        let statement = try connection.statement(
            "SELECT \(table.selectList) FROM \(table.quotedTable) WHERE \"__rid\" = ?")
        statement.bind(1, to: rowID)
        defer { statement.reset() }
        return try statement.step() ? try state(of: statement, in: table) : nil
    }
}

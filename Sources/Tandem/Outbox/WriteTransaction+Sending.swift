import Foundation

/// How a property's stored value comes back from the wire after it was sent: a date to the server's precision, JSON in
/// its canonical form. Throws what can't be sent.
package typealias WireRounding = (PropertyDefinition, StorageValue) throws -> StorageValue

/// What sending does to the queue. Tandem's sync calls these; so can an app that brings its own.
extension WriteTransaction {
    /// Marks an operation as being sent: from now on the server may have it.
    ///
    /// Changes made to the object before the answer comes stay pending after it.
    ///
    /// - Returns: The operation as it is being sent.
    /// - Throws: ``TandemError/Code/staleOperation`` if it is no longer in the queue, or is held.
    @discardableResult
    public func beginAttempt(_ id: Operation.ID) throws -> Operation {
        try beginAttempt(id, leavingOut: []) { $1 }
    }

    /// Marks an operation as being sent.
    ///
    /// - Parameters:
    ///   - leavingOut: References, by their names in Swift, that an insert does not take along: they would close a
    ///     cycle of objects none of which is there yet. They stay to be sent, as an update.
    ///   - rounding: What the wire makes of a value. What is sent is remembered in that form.
    package func beginAttempt(
        _ id: Operation.ID, leavingOut: Set<String>, rounding: WireRounding
    ) throws -> Operation {
        try checkUsable()
        let (operation, tableName, rowID) = try stored(id)
        guard operation.state != .held else {
            throw TandemError(
                .staleOperation, "The operation \(id) is held.", advice: "Release it first.", store: store.path)
        }
        // What an attempt whose answer was lost had taken along is taken along again.
        let isInsert = operation.kind == .insert
        var sent = isInsert ? PropertyBases() : operation.bases
        var left = PropertyBases()
        var attempted = try attemptedValues(id)
        if isInsert {
            // What an attempt without an answer has left out may be there without it.
            for entry in operation.changes.entries where Self.isEmpty(entry.value) {
                if operation.sent?[entry.column] != nil { attempted.note(entry.value, of: entry.column) }
            }
        }
        // Whatever became of an earlier one, it was not said to have failed.
        attempted.settle()
        if let table = store.schema.table(named: tableName), let state = try state(ofRow: rowID, in: table) {
            if isInsert { left = emptyBases(of: leavingOut, table) }
            // What an insert may make whose answer was lost is deleted by sending that once more.
            let isOfLost = operation.kind == .delete && state.serverID == nil
            if operation.kind != .delete || isOfLost {
                let values = try wholeValues(of: state, in: table)
                for (index, property) in table.definition.properties.enumerated() where !property.isLocalOnly {
                    if left[property.column] != nil { sent[property.column] = values[index] }
                    let isSent =
                        isOfLost || (isInsert ? left[property.column] == nil : sent[property.column] != nil)
                    guard isSent else { continue }
                    let form = try wireForm(
                        values[index], of: index, in: table, over: operation.base(of: property.column))
                    do {
                        attempted.note(try rounding(property, form), of: property.column)
                    } catch  where isOfLost {
                        // What can't be sent keeps no delete back: that goes without values then.
                    }
                }
            }
        }
        try connection.execute(
            """
            UPDATE "__operations" SET "state" = 1, "attempts" = "attempts" + 1, "sent" = ?, "changes" = ?, \
            "sentKind" = "kind", "attempted" = ?, "attemptedKinds" = ?, "retryAt" = NULL WHERE "id" = ?
            """,
            [
                .blob(sent.bytes), left.stored, attempted.stored,
                operation.attemptedKinds.union(AttemptedKinds(operation.kind)).stored(before: operation.attemptedKinds),
                .integer(id),
            ])
        try forgetError(of: id)
        touched.noteOperation(ofTable: tableName)
        guard let result = try store.operations.one(id) else { throw stale(id) }
        return result
    }

    /// References that an insert leaves out, with what the server will hold of them as their bases.
    private func emptyBases(of names: Set<String>, _ table: TableLayout) -> PropertyBases {
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

    /// Notes that an attempt failed, and surely changed nothing on the server.
    ///
    /// That a request of its kind was sent is not forgotten: whoever calls this does not say which one it was, and after
    /// a crash that may have been another one.
    ///
    /// - Parameters:
    ///   - error: What happened.
    ///   - retry: Whether it waits to be sent again by itself. If not, it waits for the user or for a new change.
    /// - Throws: ``TandemError/Code/staleOperation`` if the operation is no longer in the queue.
    public func fail(_ id: Operation.ID, _ error: OperationError, retry: Bool) throws {
        try checkUsable()
        let (operation, table, rowID) = try stored(id)
        try putBack(operation, as: try stateAfterFailing(operation, rowID, table, retry: retry))
        try keep(error, of: id)
        touched.noteOperation(ofTable: table)
    }

    /// Notes that an attempt failed, and surely changed nothing on the server: unless it is another one by now.
    ///
    /// It is as if it had never been made: an object that the server has then never been sent, and that was deleted
    /// meanwhile, is gone.
    ///
    /// - Parameters:
    ///   - attempt: Which one, by ``Operation/attempts`` when it began.
    ///   - retryAt: When it may be sent again, if the server has said so.
    /// - Returns: `false`, and nothing is changed, if that attempt is no longer under way.
    package func fail(
        _ id: Operation.ID, attempt: Int, _ error: OperationError, retry: Bool, retryAt: Date? = nil
    ) throws -> Bool {
        try checkUsable()
        guard let (found, tableName, rowID) = try underWay(id, attempt: attempt) else { return false }
        var operation = found
        let next = try stateAfterFailing(operation, rowID, tableName, retry: retry)
        operation.attemptedKinds = operation.kindsBefore
        if operation.replaced == .insert, operation.attemptedKinds.isEmpty,
            let table = store.schema.table(named: tableName), let state = try state(ofRow: rowID, in: table),
            state.serverID == nil
        {
            try drop(operation, in: table)
            try eraseRow(of: state, in: table)
            return true
        }
        try putBack(operation, as: next)
        var attempted = try attemptedValues(id)
        attempted.forgetCurrent()
        try save(attempted, of: id)
        try keep(error, of: id)
        try setRetry(at: retry ? retryAt : nil, of: id)
        touched.noteOperation(ofTable: tableName)
        return true
    }

    /// Notes that nobody knows what became of an attempt: its answer was lost, or could not be read. It goes on being
    /// one that the server may have carried out.
    ///
    /// - Parameters:
    ///   - attempt: Which one, by ``Operation/attempts`` when it began.
    ///   - error: What happened.
    ///   - retryAt: When it may be sent again, if the server has said so.
    /// - Returns: `false`, and nothing is changed, if that attempt is no longer under way.
    package func leaveUncertain(
        _ id: Operation.ID, attempt: Int, _ error: OperationError, retryAt: Date? = nil
    ) throws -> Bool {
        try checkUsable()
        guard let (operation, table, _) = try underWay(id, attempt: attempt) else { return false }
        // From now on nobody can say that it was not carried out.
        var attempted = try attemptedValues(id)
        attempted.settle()
        try save(attempted, of: id)
        try connection.execute(
            "UPDATE \"__operations\" SET \"attemptedKinds\" = ? WHERE \"id\" = ?",
            [operation.attemptedKinds.stored(before: operation.attemptedKinds), .integer(id)])
        try keep(error, of: id)
        try setRetry(at: retryAt, of: id)
        touched.noteOperation(ofTable: table)
        return true
    }

    // MARK: -

    /// What an operation is in after an attempt that was not carried out. A change made meanwhile was not refused: it
    /// waits to be sent.
    private func stateAfterFailing(
        _ operation: StoredOperation, _ rowID: Int64, _ table: String, retry: Bool
    ) throws -> Operation.State {
        if operation.state == .held { return .held }
        if retry { return .pending }
        guard operation.sent != nil else { return .failed }
        return try operation.sentKind != operation.kind || hasNewChanges(operation, rowID, table) ? .pending : .failed
    }

    /// Whether something was changed while an attempt was under way. What an insert has left out was not, if it is as it
    /// was then.
    private func hasNewChanges(_ operation: StoredOperation, _ rowID: Int64, _ tableName: String) throws -> Bool {
        guard operation.sentKind == .insert, let left = operation.sent, !left.isEmpty,
            let table = store.schema.table(named: tableName), let state = try state(ofRow: rowID, in: table)
        else { return !operation.changes.isEmpty }
        let values = try wholeValues(of: state, in: table)
        return table.definition.properties.enumerated().contains { index, property in
            operation.changes[property.column] != nil && left[property.column] != values[index]
        }
    }

    /// Ends an attempt that was not carried out: what it had taken along is to be sent again.
    private func putBack(_ operation: StoredOperation, as state: Operation.State) throws {
        // What is new is sent whole, whatever has changed of it meanwhile.
        let isNew = operation.kind == .insert || operation.replaced == .insert
        try connection.execute(
            """
            UPDATE "__operations" SET "state" = ?, "changes" = ?, "sent" = NULL, "sentKind" = NULL, \
            "attemptedKinds" = ?, "retryAt" = NULL WHERE "id" = ?
            """,
            [
                .integer(Int64(state.rawValue)), isNew ? .null : operation.bases.stored,
                operation.attemptedKinds.stored(), .integer(operation.id),
            ])
    }

    private func save(_ attempted: AttemptedValues, of id: Operation.ID) throws {
        try connection.execute(
            "UPDATE \"__operations\" SET \"attempted\" = ? WHERE \"id\" = ?", [attempted.stored, .integer(id)])
    }

    private func keep(_ error: OperationError, of id: Operation.ID) throws {
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
    }

    private func setRetry(at date: Date?, of id: Operation.ID) throws {
        try connection.execute(
            "UPDATE \"__operations\" SET \"retryAt\" = ? WHERE \"id\" = ?",
            [date.map { .real($0.timeIntervalSinceReferenceDate) } ?? .null, .integer(id)])
    }

    func stored(_ id: Operation.ID) throws -> (operation: StoredOperation, table: String, rowID: Int64) {
        guard let found = try operation(id) else { throw stale(id) }
        return found
    }

    /// An operation of which an attempt is under way, or has got no answer; `nil` if it is over, or another one is.
    func underWay(
        _ id: Operation.ID, attempt: Int
    ) throws -> (operation: StoredOperation, table: String, rowID: Int64)? {
        guard let found = try operation(id), found.0.sent != nil, found.0.attempts == Int64(attempt) else {
            return nil
        }
        return found
    }

    func state(ofRow rowID: Int64, in table: TableLayout) throws -> ObjectState? {
        let statement = try connection.statement(
            "SELECT \(table.selectList) FROM \(table.quotedTable) WHERE \"__rid\" = ?")
        statement.bind(1, rowID)
        defer { statement.reset() }
        return try statement.step() ? try state(of: statement, table) : nil
    }

    func stale(_ id: Operation.ID) -> TandemError {
        TandemError(
            .staleOperation, "The operation \(id) is not under way.",
            advice: "Look at the queue again: it was answered, or collapsed by a change.", store: store.path)
    }
}

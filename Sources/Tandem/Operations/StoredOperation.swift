import Foundation

/// A row of the table `__operations`.
struct StoredOperation {
    var id: Int64
    var kind: PendingOperation.Kind
    var state: PendingOperation.State
    var attempts: Int64
    /// The changes since the operation was last sent, or all changes if it was not sent.
    var changes: PropertyBases
    /// The changes in the current attempt, or `nil` if none is under way. For an insert, which sends all values, these
    /// are the omitted references, with their values at that time.
    var sent: PropertyBases?
    /// The kind of the current attempt, or `nil` if none is under way. The object may since have been deleted or
    /// restored.
    var sentKind: PendingOperation.Kind?
    var replaced: PendingOperation.Kind?
    /// The kinds of requests sent since the server's last response.
    var attemptedKinds: AttemptedKinds
    /// The kinds of requests sent before the current attempt.
    var kindsBefore: AttemptedKinds

    /// The columns that are read, in this order. The column `attempted` is omitted because it is long and seldom
    /// needed.
    static let columnNames = [
        "id", "kind", "state", "attempts", "changes", "sent", "sentKind", "replaced", "attemptedKinds",
    ]
    static let columns = columnNames.map(\.quotedSQL).joined(separator: ", ")

    init(_ statement: Statement) throws {
        id = statement.integer(0)
        kind = try Self.value(statement, column: 1, make: PendingOperation.Kind.init)
        state = try Self.value(statement, column: 2, make: PendingOperation.State.init)
        attempts = statement.integer(3)
        changes = try statement.isNull(4) ? PropertyBases() : PropertyBases(bytes: statement.bytes(4))
        sent = try statement.isNull(5) ? nil : PropertyBases(bytes: statement.bytes(5))
        sentKind = statement.isNull(6) ? nil : try Self.value(statement, column: 6, make: PendingOperation.Kind.init)
        replaced = statement.isNull(7) ? nil : try Self.value(statement, column: 7, make: PendingOperation.Kind.init)
        let kinds = statement.integer(8)
        guard (0..<64).contains(kinds) else {
            throw InvalidEncoding("an operation", code: .malformed, problem: "\(kinds) in column 8 has no meaning")
        }
        attemptedKinds = AttemptedKinds(rawValue: kinds & 7)
        kindsBefore = AttemptedKinds(rawValue: kinds >> 3)
    }

    /// The changed properties, including those of the current attempt, with their oldest bases.
    var bases: PropertyBases {
        guard sentKind != .insert, var bases = sent else { return changes }
        bases.merge(later: changes)
        return bases
    }

    /// Returns a property's value before the change, or `nil` if the operation does not change it.
    func base(of column: String) -> StorageValue? {
        (sentKind == .insert ? nil : sent?[column]) ?? changes[column]
    }

    /// The state of the remaining operation after a response. An operation that was held during the attempt stays held.
    var stateAfterResponse: StorageValue {
        .integer(Int64((state == .held && sent != nil ? PendingOperation.State.held : .pending).rawValue))
    }

    private static func value<T>(_ statement: Statement, column: Int32, make: (Int) -> T?) throws -> T {
        let raw = Int(statement.integer(column))
        guard let value = make(raw) else {
            throw InvalidEncoding(
                "an operation", code: .malformed, problem: "\(raw) in column \(column) has no meaning")
        }
        return value
    }
}

extension ReadTransaction {
    func operation(_ id: PendingOperation.ID) throws -> (StoredOperation, table: String, rowID: Int64)? {
        try connection.rows(
            "SELECT \(StoredOperation.columns), \"table\", \"object\" FROM \"__operations\" WHERE \"id\" = ?",
            binding: [.integer(id)]
        ) { row in (try connection.decodingOperation { try StoredOperation(row) }, try row.text(9), row.integer(10)) }
        .first
    }

    /// Returns the operation of an object, or `nil` if it has none.
    func operation(of rowID: Int64, in table: TableLayout) throws -> StoredOperation? {
        let statement = try connection.statement(OperationStatement.ofObject)
        statement.bind(1, to: table.table)
        statement.bind(2, to: rowID)
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        return try connection.decodingOperation { try StoredOperation(statement) }
    }

    /// Returns the values sent for an operation since the server's last response.
    func attemptedValues(_ id: PendingOperation.ID) throws -> AttemptedValues {
        try connection.rows(
            "SELECT \"attempted\" FROM \"__operations\" WHERE \"id\" = ? AND \"attempted\" IS NOT NULL",
            binding: [.integer(id)]
        ) { row in try connection.decodingOperation { try AttemptedValues(bytes: row.bytes(0)) } }.first
            ?? AttemptedValues()
    }
}

extension Connection {
    /// Decodes data of the queue. Reports unreadable data as damage of the store.
    ///
    /// - Parameter model: The name of the model in the error.
    func decodingOperation<T>(of model: String? = nil, _ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch let error as InvalidEncoding {
            throw TandemError(
                .corrupt, message: "An operation in the queue can't be read.", advice: "Restore a backup.",
                store: path, model: model, underlying: error)
        }
    }
}

extension WriteTransaction {
    /// Saves an operation after a change by the app. The operation waits to be sent (again), and its error is cleared.
    func save(_ operation: StoredOperation, in table: TableLayout) throws {
        let statement = try connection.statement(OperationStatement.save)
        statement.bind(1, to: Int64(operation.kind.rawValue))
        statement.bind(2, to: Int64(operation.state == .failed ? 0 : operation.state.rawValue))
        statement.bind(3, to: operation.changes.encoded)
        if let replaced = operation.replaced {
            statement.bind(4, to: Int64(replaced.rawValue))
        } else {
            statement.bindNull(4)
        }
        statement.bind(5, to: now.timeIntervalSinceReferenceDate)
        statement.bind(6, to: operation.id)
        try statement.run()
        if operation.state == .failed { try forgetError(of: operation.id) }
        touched.recordOperation(of: table)
    }

    /// Removes an operation from the queue.
    func drop(_ operation: StoredOperation, in table: TableLayout) throws {
        try connection.execute("DELETE FROM \"__operations\" WHERE \"id\" = ?", binding: [.integer(operation.id)])
        try forgetError(of: operation.id)
        touched.recordOperation(of: table)
    }

    func forgetError(of id: PendingOperation.ID) throws {
        try connection.execute("DELETE FROM \"__operation_errors\" WHERE \"operation\" = ?", binding: [.integer(id)])
    }
}

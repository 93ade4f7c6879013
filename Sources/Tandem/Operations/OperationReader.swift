import Foundation

/// Reads the stored operations, with their tables and errors.
struct OperationReader {
    let store: Store

    /// Returns the operation with an ID, or `nil` if it is not in the queue.
    func operation(_ id: PendingOperation.ID) throws -> PendingOperation? {
        try fetch("WHERE o.\"id\" = ?", binding: [.integer(id)]).first
    }

    /// Returns the operation of an object, or `nil` if it has none.
    func operation(of localID: LocalID, in table: String) throws -> PendingOperation? {
        try fetch(condition(onObjectIn: table), binding: [.text(table), .text(localID.rawValue)]).first
    }

    /// Returns the condition for the operation of an object: its table, then its local ID. The index of the operations
    /// contains the object's row, which only an existing table has.
    func condition(onObjectIn table: String) -> String {
        guard store.schema.table(named: table) != nil else { return "WHERE o.\"table\" = ?1 AND o.\"localID\" = ?2" }
        return """
            WHERE o."table" = ?1 \
            AND o."object" = (SELECT "__rid" FROM \(table.quotedSQL) WHERE "localID" = ?2)
            """
    }

    /// Returns the number of operations in a state.
    func count(in state: PendingOperation.State) throws -> Int {
        try count("WHERE \(Self.condition(state))", binding: [.integer(Int64(state.rawValue))])
    }

    /// An index finds all states but `pending`. SQLite uses it only if the query repeats its condition.
    static func condition(_ state: PendingOperation.State) -> String {
        state == .pending ? "\"state\" = ?" : "\"state\" <> 0 AND \"state\" = ?"
    }

    /// Returns the number of operations that satisfy a condition in SQL.
    func count(_ condition: String, binding values: [StorageValue]) throws -> Int {
        try store.reading { connection in
            try connection.count("SELECT count(*) FROM \"__operations\" \(condition)", binding: values)
        }
    }

    /// Returns the operations that satisfy a condition in SQL, in the order of the queue.
    func fetch(_ condition: String, binding values: [StorageValue], limit: Int? = nil) throws -> [PendingOperation] {
        try store.reading { connection in
            try connection.rows(Self.select(condition, limit: limit), binding: values) { try read($0, on: connection) }
        }
    }

    /// Returns the statement that reads operations and their errors.
    static func select(_ condition: String, limit: Int? = nil) -> String {
        """
        SELECT \(columns), o."table", o."localID", o."changedAt", o."retryAt", \
        e."status", e."message", e."at", e."serverItem" FROM "__operations" o \
        LEFT JOIN "__operation_errors" e ON e."operation" = o."id" \(condition) \
        ORDER BY o."id" LIMIT \(limit ?? -1)
        """
    }

    private static let columns = StoredOperation.columnNames.map { "o.\($0.quotedSQL)" }.joined(separator: ", ")

    private func read(_ statement: Statement, on connection: Connection) throws -> PendingOperation {
        let stored = try connection.decodingOperation { try StoredOperation(statement) }
        let table = try statement.text(9)
        let definition = store.schema.table(named: table)?.definition
        func named(_ bases: PropertyBases) -> [String: StorageValue] {
            Dictionary(
                bases.entries.map { entry in
                    (definition?.properties.first { $0.column == entry.column }?.name ?? entry.column, entry.value)
                }, uniquingKeysWith: { first, _ in first })
        }
        func date(_ column: Int32) -> Date { Date(timeIntervalSinceReferenceDate: statement.real(column)) }
        let error: OperationError? =
            statement.isNull(14)
            ? nil
            : OperationError(
                status: statement.isNull(13) ? nil : Int(statement.integer(13)), message: try statement.text(14),
                at: date(15), serverItem: statement.isNull(16) ? nil : Data(statement.bytes(16)))
        return PendingOperation(
            id: stored.id, model: definition?.name ?? table, table: table, localID: LocalID(try statement.text(10)),
            kind: stored.kind, state: stored.state, changedAt: date(11), attempts: Int(stored.attempts),
            base: named(stored.changes),
            sent: named(stored.sentKind == .insert ? PropertyBases() : stored.sent ?? PropertyBases()),
            replaced: stored.replaced,
            error: error, retryAt: statement.isNull(12) ? nil : date(12))
    }
}

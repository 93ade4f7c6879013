import Foundation

/// The pending changes, in the order of the objects' first changes. See <doc:TheOperationQueue>.
///
/// For example:
///
/// ```swift
/// print(try store.operations.count())
/// for operation in try store.operations.all(of: Card.self) {
///     print(operation.kind, operation.localID, operation.changedProperties)
/// }
/// ```
public struct OperationQueue: Sendable {
    let store: Store

    /// Returns all operations.
    public func all() throws -> [PendingOperation] {
        try fetch("", [])
    }

    /// Returns the operations of one model's objects.
    public func all<M: Model>(of model: M.Type) throws -> [PendingOperation] {
        try fetch("WHERE o.\"table\" = ?", [.text(try store.schema.table(M.self).table)])
    }

    /// Returns the first operations in a state.
    ///
    /// - Parameter limit: The maximum number of operations, or `nil` for all.
    public func all(in state: PendingOperation.State, limit: Int? = nil) throws -> [PendingOperation] {
        try fetch("WHERE \(Self.condition(state))", [.integer(Int64(state.rawValue))], limit: limit)
    }

    /// Returns the operation of an object, or `nil` if it has none.
    public func operation<M: Model>(of object: M) throws -> PendingOperation? {
        try fetch(
            "WHERE o.\"table\" = ? AND o.\"localID\" = ?",
            [.text(try store.schema.table(M.self).table), .text(object.localID.rawValue)]
        ).first
    }

    /// Returns the number of operations.
    public func count() throws -> Int {
        try count("", [])
    }

    /// Returns the number of operations of one model's objects.
    public func count<M: Model>(of model: M.Type) throws -> Int {
        try count("WHERE \"table\" = ?", [.text(try store.schema.table(M.self).table)])
    }

    /// Returns the number of operations in a state.
    public func count(in state: PendingOperation.State) throws -> Int {
        try count("WHERE \(Self.condition(state))", [.integer(Int64(state.rawValue))])
    }

    /// Returns the number of operations of a kind.
    public func count(_ kind: PendingOperation.Kind) throws -> Int {
        try count("WHERE \"kind\" = ?", [.integer(Int64(kind.rawValue))])
    }

    /// Returns the first operations of the queue.
    ///
    /// - Parameter limit: The maximum number of operations.
    public func first(_ limit: Int) throws -> [PendingOperation] {
        try fetch("", [], limit: limit)
    }

    func one(_ id: PendingOperation.ID) throws -> PendingOperation? {
        try fetch("WHERE o.\"id\" = ?", [.integer(id)]).first
    }

    // MARK: -

    /// An index finds all states but `pending`. SQLite uses it only if the query repeats its condition.
    private static func condition(_ state: PendingOperation.State) -> String {
        state == .pending ? "\"state\" = ?" : "\"state\" <> 0 AND \"state\" = ?"
    }

    func count(_ condition: String, _ values: [StorageValue]) throws -> Int {
        try store.reading { connection in
            guard
                case .integer(let count)? = try connection.value(
                    "SELECT count(*) FROM \"__operations\" \(condition)", values)
            else { return 0 }
            return Int(count)
        }
    }

    func fetch(_ condition: String, _ values: [StorageValue], limit: Int? = nil) throws -> [PendingOperation] {
        try store.reading { connection in
            let statement = try connection.statement(
                """
                SELECT \(Self.columns), o."table", o."localID", o."changedAt", o."retryAt", \
                e."status", e."message", e."at", e."serverItem" FROM "__operations" o \
                LEFT JOIN "__operation_errors" e ON e."operation" = o."id" \(condition) \
                ORDER BY o."id" LIMIT \(limit ?? -1)
                """)
            defer { statement.reset() }
            statement.bind(values)
            var operations: [PendingOperation] = []
            while try statement.step() { operations.append(try read(statement)) }
            return operations
        }
    }

    private static let columns = StoredOperation.columnNames.map { "o.\($0.quotedSQL)" }.joined(separator: ", ")

    private func read(_ statement: Statement) throws -> PendingOperation {
        let stored: StoredOperation
        do {
            stored = try StoredOperation(statement)
        } catch let error as InvalidEncoding {
            throw TandemError(
                .corrupt, "An operation in the queue can't be read.", advice: "Restore a backup.", store: store.path,
                underlying: error)
        }
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

extension Store {
    /// The operation queue: the pending changes.
    public var operations: OperationQueue { OperationQueue(store: self) }
}

extension ReadTransaction {
    /// The operation queue: the pending changes.
    public var operations: OperationQueue { OperationQueue(store: store) }
}

/// The reads of the queue that sync needs.
extension ReadTransaction {
    /// Returns the operations in the order of the queue. Tables whose model the store was opened without are skipped.
    ///
    /// - Parameters:
    ///   - id: The operation after which to begin, or `nil` to begin with the first.
    ///   - limit: The maximum number of operations.
    package func operations(after id: PendingOperation.ID?, limit: Int) throws -> [PendingOperation] {
        try checkUsable()
        let reader = OperationReader(store: store)
        var (after, operations) = (id ?? 0, [PendingOperation]())
        while operations.count < limit {
            let next = try reader.fetch("WHERE o.\"id\" > ?", binding: [.integer(after)], limit: limit)
            operations += next.lazy.filter { self.store.schema.table(named: $0.table) != nil }
                .prefix(limit - operations.count)
            guard next.count == limit, let last = next.last else { break }
            after = last.id
        }
        return operations
    }

    package func operation(withID id: PendingOperation.ID) throws -> PendingOperation? {
        try checkUsable()
        return try OperationReader(store: store).operation(id)
    }

    package func operation(on localID: LocalID, in table: String) throws -> PendingOperation? {
        try checkUsable()
        return try OperationReader(store: store).operation(of: localID, in: table)
    }

    /// Returns the number of operations on a table's objects.
    package func countOfOperations(in table: String) throws -> Int {
        try checkUsable()
        return try OperationReader(store: store).count("WHERE \"table\" = ?", binding: [.text(table)])
    }

    package func countOfOperations() throws -> Int {
        try checkUsable()
        return try OperationReader(store: store).count("", binding: [])
    }

    package func countOfOperations(in state: PendingOperation.State) throws -> Int {
        try checkUsable()
        return try OperationReader(store: store).count(in: state)
    }

    /// Returns the number of failed operations that wait for an automatic retry.
    package func countOfOperationsToRetry() throws -> Int {
        try checkUsable()
        // Query the errors: they are few, however long the queue is.
        return try connectionForReading(searching: false).count(
            """
            SELECT count(*) FROM "__operation_errors" e JOIN "__operations" o ON o."id" = e."operation" \
            WHERE o."state" IN (0, 1)
            """)
    }

    /// Returns whether a delete of the operation's object was sent and may have been executed. This operation, or one
    /// before the object was restored, may have sent it.
    package func mayHaveDeleted(_ id: PendingOperation.ID) throws -> Bool {
        let kinds = try connectionForReading(searching: false).value(
            "SELECT \"attemptedKinds\" FROM \"__operations\" WHERE \"id\" = ?", binding: [.integer(id)])
        guard case .integer(let bits)? = kinds else { return false }
        return AttemptedKinds(rawValue: bits).contains(.delete)
    }

    /// Returns whether an object has a local ID. Includes deleted objects whose delete is unacknowledged.
    package func hasObject(_ localID: LocalID, in table: String) throws -> Bool {
        try value("__rid", where: "localID", is: localID.rawValue, in: table) != nil
    }

    /// Returns the server ID of an object, including deleted ones. Returns `nil` if the object does not exist or has
    /// none.
    package func serverID(of localID: LocalID, in table: String) throws -> ServerID? {
        let found = try value("serverID", where: "localID", is: localID.rawValue, in: table)
        return if case .text(let text)? = found { ServerID(text) } else { nil }
    }

    /// Returns the number of the row that has a server ID.
    package func row(of serverID: ServerID, in table: String) throws -> Int64? {
        let found = try value("__rid", where: "serverID", is: serverID.rawValue, in: table)
        return if case .integer(let row)? = found { row } else { nil }
    }

    private func value(_ column: String, where key: String, is text: String, in table: String) throws -> StorageValue? {
        guard let table = store.schema.table(named: table) else { return nil }
        return try connectionForReading(searching: false).value(
            "SELECT \"\(column)\" FROM \(table.quotedTable) WHERE \"\(key)\" = ?", binding: [.text(text)])
    }
}

extension Store {
    /// The models with which the store was opened.
    package var modelDefinitions: [ModelDefinition] { schema.tables.map(\.definition) }
}

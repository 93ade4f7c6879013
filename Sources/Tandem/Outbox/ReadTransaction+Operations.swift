/// The queue as sync goes through it.
extension ReadTransaction {
    /// The operations in the order of the queue, but those of tables whose model the store was opened without.
    ///
    /// - Parameters:
    ///   - id: Those after this one; `nil` for the first ones.
    ///   - limit: How many at most.
    package func operations(after id: Operation.ID?, limit: Int) throws -> [Operation] {
        try checkUsable()
        let queue = OperationQueue(store: store)
        var (after, operations) = (id ?? 0, [Operation]())
        while operations.count < limit {
            let next = try queue.fetch("WHERE o.\"id\" > ?", [.integer(after)], limit: limit)
            operations += next.lazy.filter { self.store.schema.table(named: $0.table) != nil }
                .prefix(limit - operations.count)
            guard next.count == limit, let last = next.last else { break }
            after = last.id
        }
        return operations
    }

    package func operation(withID id: Operation.ID) throws -> Operation? {
        try checkUsable()
        return try OperationQueue(store: store).one(id)
    }

    package func operation(on localID: LocalID, in table: String) throws -> Operation? {
        try checkUsable()
        return try OperationQueue(store: store).fetch(
            "WHERE o.\"table\" = ? AND o.\"localID\" = ?", [.text(table), .text(localID.rawValue)]
        ).first
    }

    /// The number of operations on a table's objects.
    package func countOfOperations(in table: String) throws -> Int {
        try checkUsable()
        return try OperationQueue(store: store).count("WHERE \"table\" = ?", [.text(table)])
    }

    package func countOfOperations() throws -> Int {
        try checkUsable()
        return try OperationQueue(store: store).count()
    }

    package func countOfOperations(in state: Operation.State) throws -> Int {
        try checkUsable()
        return try OperationQueue(store: store).count(in: state)
    }

    /// The number of operations that have failed, and wait to be sent again by themselves.
    package func countOfOperationsToRetry() throws -> Int {
        try checkUsable()
        // From the errors: they are few, however long the queue is.
        let count = try connectionForReading(searching: false).value(
            """
            SELECT count(*) FROM "__operation_errors" e JOIN "__operations" o ON o."id" = e."operation" \
            WHERE o."state" IN (0, 1)
            """)
        return if case .integer(let count)? = count { Int(count) } else { 0 }
    }

    /// Whether a delete of the operation's object was sent, by this operation or before the object was brought back, and
    /// may have been carried out.
    package func mayHaveDeleted(_ id: Operation.ID) throws -> Bool {
        let kinds = try connectionForReading(searching: false).value(
            "SELECT \"attemptedKinds\" FROM \"__operations\" WHERE \"id\" = ?", [.integer(id)])
        guard case .integer(let bits)? = kinds else { return false }
        return AttemptedKinds(rawValue: bits).contains(.delete)
    }

    /// Whether there is an object with a local ID, deleted ones that the server has not heard of included.
    package func hasObject(_ localID: LocalID, in table: String) throws -> Bool {
        try value("__rid", where: "localID", is: localID.rawValue, in: table) != nil
    }

    /// The server ID of an object, deleted ones included; `nil` if it has none, or there is no such object.
    package func serverID(of localID: LocalID, in table: String) throws -> ServerID? {
        let found = try value("serverID", where: "localID", is: localID.rawValue, in: table)
        return if case .text(let text)? = found { ServerID(text) } else { nil }
    }

    /// The number of the row that has a server ID.
    package func row(of serverID: ServerID, in table: String) throws -> Int64? {
        let found = try value("__rid", where: "serverID", is: serverID.rawValue, in: table)
        return if case .integer(let row)? = found { row } else { nil }
    }

    private func value(_ column: String, where key: String, is text: String, in table: String) throws -> StorageValue? {
        guard let table = store.schema.table(named: table) else { return nil }
        return try connectionForReading(searching: false).value(
            "SELECT \"\(column)\" FROM \(table.quotedTable) WHERE \"\(key)\" = ?", [.text(text)])
    }
}

extension Store {
    /// The models that the store was opened with.
    package var modelDefinitions: [ModelDefinition] { schema.tables.map(\.definition) }
}

extension WriteTransaction {
    /// Updates the objects with the given keys. The result equals that of updating each object, in that order.
    func update<M: Model>(_ keys: [(localID: LocalID, rowID: Int64)], findsDeleted: Bool, by plan: UpdatePlan<M>) throws
    {
        if plan.assignments.isEmpty && !findsDeleted { return }
        // The error for a deleted object is that of its own update.
        if !findsDeleted, let update = try columnUpdate(plan) {
            try poisoningOnError { try run(update, on: keys) }
        } else {
            try savepoint { try updateRowByRow(keys, by: plan) }
        }
    }

    // MARK: In SQL

    /// Returns the SQL of an update, or `nil` if it must run row by row.
    private func columnUpdate<M: Model>(_ plan: UpdatePlan<M>) throws -> ColumnUpdate? {
        let row = RowEncoder()
        for property in plan.table.definition.properties.indices {
            row.append(plan.assignments.first { $0.property == property }?.assignment.constant ?? .null)
        }
        let properties = plan.properties
        if plan.table.links.contains(where: { properties.contains($0.property) }) {
            // An assigned reference can end the wait of another one, or wait itself.
            if try hasUnresolved() { return nil }
            let unresolved = try resolveLinks(row, of: plan.table, only: properties, from: .app)
            if !unresolved.isEmpty { return nil }
        }
        return ColumnUpdate(
            plan, constants: row, twins: connection.twins, collation: connection.collation)
    }

    private func run(_ update: ColumnUpdate, on keys: [(localID: LocalID, rowID: Int64)]) throws {
        try connection.cache(ChangedBases.self).register(on: connection)
        let isSent = !update.sentColumns.isEmpty
        // Only earlier operations are merged: each row changes once.
        let tableHasOperations = try isSent && hasOperations(of: update.table)
        try RowIDList.batches(of: keys) { batch in
            if isSent {
                try queueOperations(of: batch.map(\.rowID), changedBy: update, tableHasOperations: tableHasOperations)
            }
            let rows = RowIDList(batch.lazy.map(\.rowID))
            let indexed = update.isSearched ? try indexedTexts(of: rows, changedBy: update) : []
            try connection.run(update.update(rows))
            for (rowID, texts) in indexed {
                pendingSearch.recordChange(update.table, row: rowID, indexed: texts)
            }
            if pendingSearch.count > pendingSearchLimit { try flushSearch() }
        }
    }

    private func hasOperations(of table: TableLayout) throws -> Bool {
        try connection.value(
            "SELECT EXISTS (SELECT 1 FROM \"__operations\" WHERE \"table\" = ?)", binding: [.text(table.table)])
            == .integer(1)
    }

    /// Queues the operations of rows that are about to change, or merges the change into the existing operations.
    ///
    /// - Parameter tableHasOperations: Whether the table had operations before the update.
    private func queueOperations(
        of rowIDs: [Int64], changedBy update: ColumnUpdate, tableHasOperations: Bool
    ) throws {
        var queued: [(rowID: Int64, bases: PropertyBases)] = []
        if tableHasOperations {
            try connection.forEachRow(of: update.selectQueued(RowIDList(rowIDs))) { statement in
                queued.append((statement.integer(0), try readable { try PropertyBases(bytes: statement.bytes(1)) }))
            }
        }
        for (rowID, bases) in queued {
            guard var operation = try operation(of: rowID, in: update.table) else { continue }
            try merge(bases, into: &operation, in: update.table)
        }
        let merged = Set(queued.map(\.rowID))
        let others = RowIDList(rowIDs.lazy.filter { !merged.contains($0) })
        try connection.run(update.insertOperations(others, time: now.timeIntervalSinceReferenceDate))
        if connection.changes > 0 { touched.recordOperation(of: update.table) }
    }

    /// Returns the indexed texts of the rows whose search keys are about to change.
    private func indexedTexts(
        of rows: RowIDList, changedBy update: ColumnUpdate
    ) throws -> [(rowID: Int64, texts: [String?])] {
        var indexed: [(rowID: Int64, texts: [String?])] = []
        try connection.forEachRow(of: update.selectIndexed(rows)) { statement in
            let rowID = statement.integer(0)
            guard !pendingSearch.contains(update.table, row: rowID) else { return }
            let texts = try update.table.searched.indices.map { try statement.optionalText(Int32($0 + 1)) }
            indexed.append((rowID, texts))
        }
        return indexed
    }

    // MARK: Row by row

    /// Updates objects one by one. It reads and compares only the assigned properties, and the values that they depend
    /// on.
    private func updateRowByRow<M: Model>(
        _ keys: [(localID: LocalID, rowID: Int64)], by plan: UpdatePlan<M>
    ) throws {
        let properties = plan.properties
        let sql = try selectLeaves(of: plan)
        let row = connection.row
        for (localID, rowID) in keys {
            let values = try newValues(of: localID, rowID: rowID, by: plan, reading: sql)
            let statements = try connection.tableStatements(plan.table)
            guard let statement = try statements.find(localID, rowID: rowID) else {
                throw notFound(localID, in: plan.table)
            }
            row.removeAll()
            for property in plan.table.definition.properties.indices { row.append(values[property] ?? .null) }
            hasRewrittenLinks = false
            // A value that is assigned to many objects does not name the references that wait in one of them.
            _ = try update(statement, with: row, in: plan.table, only: properties, keepsWaiting: true)
        }
    }

    /// Returns the query that reads the values of one object for its assignments. The rowid is its last value. It is
    /// `nil` if all new values are constants.
    private func selectLeaves<M: Model>(of plan: UpdatePlan<M>) throws -> SQL? {
        let leaves = plan.leaves
        guard !leaves.isEmpty else { return nil }
        return try store.compiled { compiler in
            // For a single row, a search in its text is cheaper.
            compiler.usesSearchIndexes = false
            return compiler.select(
                QueryDescription(plan.table.definition).living(.any), ordered: false,
                also: { scope in "\(alias: scope.alias).\"__rid\" = \(bind: .integer(0))" },
                columns: { compiler, scope in
                    var columns: [SQL] = []
                    for leaf in leaves { columns.append(compiler.value(leaf, in: scope)) }
                    return columns.joined(", ")
                })
        }
    }

    /// Returns the new values of an object's assigned properties, by property.
    private func newValues<M: Model>(
        of localID: LocalID, rowID: Int64, by plan: UpdatePlan<M>, reading sql: SQL?
    ) throws -> [Int: StorageValue] {
        var statement: Statement?
        defer { statement?.reset() }
        if let sql {
            let found = try connection.statement(sql.text)
            found.bind(sql.values)
            found.bind(Int32(sql.values.count), to: rowID)
            statement = found
            guard try found.step() else { throw notFound(localID, in: plan.table) }
        }
        var values: [Int: StorageValue] = [:]
        var column: Int32 = 0
        for (property, assignment) in plan.assignments {
            if let constant = assignment.constant {
                values[property] = constant
                continue
            }
            guard let statement else { continue }
            do {
                values[property] = try assignment.value(statement.row(), column: column)
            } catch {
                throw explain(error, property: property, of: localID, in: plan.table)
            }
            column += Int32(assignment.leaves.count)
        }
        return values
    }

    /// Explains an error of a computation in terms of the model.
    private func explain(
        _ error: any Error, property: Int, of localID: LocalID, in table: TableLayout
    ) -> any Error {
        let model = table.definition
        switch error {
        case is ArithmeticOverflow:
            return TandemError(
                .overflow, message: "The new value of the object \(localID) does not fit the property's type.",
                advice: "Declare the property with a wider type, such as BigInt.", store: store.path,
                model: model.name, property: model.properties[property].name, localID: localID)
        case let error as UnreadableLeaf:
            return TandemError(
                .invalidValue, message: "A stored value can't be read: \(error.reason).",
                advice: "Another version of the app, or another program, wrote it. Migrate or correct it.",
                store: store.path, model: error.column.model.name, property: error.column.propertyName,
                localID: localID)
        default: return error
        }
    }
}

extension Connection {
    /// Runs a statement that returns no rows.
    func run(_ sql: SQL) throws {
        let statement = try statement(sql.text)
        defer { statement.clearBindings() }
        statement.bind(sql.values)
        try statement.run()
    }

    /// Calls a function at each row of a query. The function must not run the same query.
    func forEachRow(of sql: SQL, body: (Statement) throws -> Void) throws {
        let statement = try statement(sql.text)
        defer {
            statement.reset()
            statement.clearBindings()
        }
        statement.bind(sql.values)
        while try statement.step() { try body(statement) }
    }
}

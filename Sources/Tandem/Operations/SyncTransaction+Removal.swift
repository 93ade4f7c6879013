// The removal of objects that the server no longer has, or that the app no longer needs on this device.

extension ReadTransaction {
    /// Calls a closure for each live object that has a server ID and no operation.
    ///
    /// The closure receives the object's row number and server ID.
    ///
    /// - Parameter filter: A condition on the objects, or `nil` for all.
    /// - Complexity: O(*n*) for *n* objects in the table. If an index supports the filter, O(*k*) for *k* matches.
    package func forEachSyncedRow(
        in table: String, matching filter: PredicateNode?, _ body: (Int64, ServerID) throws -> Void
    ) throws {
        guard let layout = store.schema.table(named: table) else { throw store.hasNoModel(of: table) }
        var query = QueryDescription(layout.definition)
        if let filter { query = query.filtered(filter.resolved(by: store.collation)) }
        try forEachRow(of: query, selecting: ["__rid", "serverID"]) { alias in
            """
            \(alias: alias)."serverID" IS NOT NULL AND NOT EXISTS (SELECT 1 FROM "__operations" o \
            WHERE o."table" = \(bind: .text(table)) AND o."object" = \(alias: alias)."__rid")
            """
        } body: { statement in
            try body(statement.integer(0), ServerID(try statement.text(1)))
        }
    }

    /// Returns the number of distinct server IDs of a table's objects and deferred items.
    ///
    /// Deleted objects count, but tombstones among the deferred items do not.
    ///
    /// - Complexity: O(*n*) for *n* objects, by the index of the server IDs.
    package func countOfServerItems(in table: String) throws -> Int {
        try checkUsable()
        guard let layout = store.schema.table(named: table) else { throw store.hasNoModel(of: table) }
        return try connectionForReading(searching: false).count(
            """
            SELECT (SELECT count(*) FROM \(layout.quotedTable) WHERE "serverID" IS NOT NULL) \
            + (SELECT count(*) FROM "__server_items" k WHERE k."table" = ? AND k."deleted" = 0 \
            AND NOT EXISTS (SELECT 1 FROM \(layout.quotedTable) t WHERE t."serverID" = k."serverID"))
            """, binding: [.text(table)])
    }

    /// Iterates over the rows of a query, in no particular order.
    fileprivate func forEachRow(
        of query: QueryDescription, selecting columns: [String], also condition: @escaping (String) -> SQL,
        body: (Statement) throws -> Void
    ) throws {
        try checkUsable()
        var compiler = SQLCompiler()
        let sql = compiler.select(query, ordered: false, also: { condition($0.alias) }) { _, scope in
            columns.map { "\(alias: scope.alias).\(name: $0)" as SQL }.joined(", ")
        }
        for model in compiler.models { try store.requireModel(model) }
        try connectionForReading(searching: compiler.searches).forEachRow(of: sql, body: body)
    }
}

extension SyncTransaction {
    /// Removes those of the given rows that are live, have a server ID, and have no operation. Their deferred items are
    /// removed too. References to them become unresolved.
    ///
    /// - Returns: The number of removed rows.
    package func removeSynced(_ rows: [Int64], in table: String) throws -> Int {
        try removeSynced(rows, in: table, leavingKept: false)
    }

    /// Removes rows as ``removeSynced(_:in:)`` does. A pull with a filter requested these rows, but the server did not
    /// list them.
    ///
    /// A deferred live item stays, without an object. It is newer than the row, so it may no longer match the filter.
    package func removeUnlisted(_ rows: [Int64], in table: String) throws -> Int {
        try removeSynced(rows, in: table, leavingKept: true)
    }

    private func removeSynced(_ rows: [Int64], in table: String, leavingKept: Bool) throws -> Int {
        try checkUsable()
        guard let table = store.schema.table(named: table) else { throw store.hasNoModel(of: table) }
        var count = 0
        for row in rows {
            guard let state = try state(ofRow: row, in: table), let serverID = state.serverID, !state.isDeleted,
                try operation(of: row, in: table) == nil
            else { continue }
            // A pending file is unsent, so the object is handled like an edited one.
            if try recordPending(against: ServerItem(serverID: serverID, isDeleted: true), state: state, in: table)
                != nil
            {
                continue
            }
            if !leavingKept { try dropDeferred(of: row, serverID: serverID, in: table) }
            try eraseObject(state, in: table)
            count += 1
        }
        return count
    }

    /// Discards the operations of some tables' objects, and removes these objects, including tombstones.
    ///
    /// References to an object with a server ID become unresolved. An object without a server ID is removed by the
    /// delete rules of its references. It is removed after those referring objects that are removed as well.
    ///
    /// - Parameter filter: Limits the operations to those of matching objects, in a single table; `nil` for all.
    /// - Returns: The number of lost operations.
    /// - Throws: ``TandemError/Code/deleteDenied`` if a reference to an object without a server ID denies its removal.
    ///   Nothing is changed then.
    package func dropOperations(in tables: [String], matching filter: PredicateNode?) throws -> Int {
        try checkUsable()
        let layouts = try tables.map { table in
            guard let layout = store.schema.table(named: table) else { throw store.hasNoModel(of: table) }
            return layout
        }
        return try savepoint {
            var count = 0
            // A removal by the app's rules may change another object, which then has an operation.
            while true {
                let rows = try layouts.map { ($0, try rowsWithOperation(in: $0, where: filter)) }
                guard rows.contains(where: { !$0.1.isEmpty }) else { return count }
                let before = count
                var denial: TandemError?
                // Objects with a server ID come first, because their removal changes no other object. The others
                // follow, newest first, because newer objects refer to older ones.
                let turns =
                    rows.flatMap { layout, rows in rows.map { (layout, $0, true) } }
                    + rows.flatMap { layout, rows in rows.reversed().map { (layout, $0, false) } }
                for (layout, row, isKnown) in turns {
                    do {
                        if try giveUp(row, ifKnown: isKnown, in: layout) { count += 1 }
                    } catch let error as TandemError where error.code == .deleteDenied && transaction.brokenBy == nil {
                        // The reference that denies the removal may belong to an object that is removed later in this
                        // pass.
                        denial = error
                    }
                }
                if count == before, let denial { throw denial }
            }
        }
    }

    private func rowsWithOperation(in table: TableLayout, where filter: PredicateNode?) throws -> [Int64] {
        var rows: [Int64] = []
        var query = QueryDescription(table.definition)
        if let filter { query = query.filtered(filter.resolved(by: store.collation)) }
        let name = table.definition.table
        try forEachRow(of: query.living(.any), selecting: ["__rid"]) { alias in
            """
            \(alias: alias)."__rid" IN (SELECT "object" FROM "__operations" WHERE "table" = \(bind: .text(name)))
            """
        } body: { statement in
            rows.append(statement.integer(0))
        }
        return rows
    }

    private func giveUp(_ row: Int64, ifKnown: Bool, in table: TableLayout) throws -> Bool {
        guard let state = try state(ofRow: row, in: table), (state.serverID != nil || state.isDeleted) == ifKnown,
            let operation = try operation(of: row, in: table)
        else { return false }
        try savepoint {
            try dropDeferred(of: row, serverID: state.serverID, in: table)
            try transaction.drop(operation, in: table)
            guard ifKnown else {
                _ = try transaction.delete(state.localID, in: table)
                return
            }
            try eraseObject(state, in: table)
        }
        return true
    }
}

extension Store {
    /// The error for a table without a model.
    func hasNoModel(of table: String) -> TandemError {
        TandemError(
            .unknownModel, message: "The store was not opened with a model of the table \(table).",
            advice: "Add it to the models given to Store(at:models:).", store: path)
    }
}

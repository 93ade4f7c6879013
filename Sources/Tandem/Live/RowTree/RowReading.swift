import Synchronization

/// The reading of a live query's rows from the store.
struct RowReading: Sendable {
    let maker: RowMaker
    /// The order of the sections.
    let section: RowOrder?
    let order: RowOrder

    /// Returns the columns to select: the rows' own columns, those of the section's order, and those of the order.
    func columns(_ compiler: inout SQLCompiler, in scope: SQLCompiler.Scope) -> SQL {
        var columns = [maker.columns(&compiler, scope)]
        if let section { columns += section.columns(&compiler, in: scope) }
        columns += order.columns(&compiler, in: scope)
        return columns.joined(", ")
    }

    /// Makes the row of a statement.
    func row(_ statement: Statement, path: String) throws -> LiveRow {
        var key: [UInt8] = []
        return try maker.make(statement, at: position(statement, key: &key), path: path)
    }

    /// - Parameter key: An empty array for the key.
    private func position(_ statement: Statement, key: inout [UInt8]) -> RowMaker.Position {
        let source = StatementColumns(statement)
        var first = maker.width
        section?.appendKey(source, first: first, to: &key)
        let sectionLength = key.count
        first += section?.columnCount ?? 0
        order.appendKey(source, first: first, to: &key)
        return RowMaker.Position(
            rowID: statement.integer(0), key: key, sectionLength: sectionLength,
            sectionColumn: Int32(maker.width - 1))
    }

    // MARK: Reading all rows

    /// Reads all rows of a query, in undefined order. Two threads read a long table.
    func rows(_ query: QueryDescription, in snapshot: LiveSnapshot, threads: TwoThreads) throws -> RowBuffer {
        let sql = select(query)
        let buffer = RowBuffer()
        if let middle = try middle(of: query, sql, in: snapshot, threads: threads) {
            let upper = try snapshot.withSecondConnection { second in
                try appendHalves(query, to: buffer, middle: middle, on: snapshot.connection, and: second)
            }
            if let upper {
                buffer.append(contentsOf: upper)
                return buffer
            }
        }
        try append(sql, to: buffer, on: snapshot.connection)
        return buffer
    }

    /// Returns the rowid that divides the rows of a query's table, or `nil` if one thread should read them.
    ///
    /// With a condition on the rowid, SQLite uses no other index, and both threads would evaluate a subquery. So only
    /// the scan of a table is divided, with or without joined rows.
    private func middle(
        of query: QueryDescription, _ sql: SQL, in snapshot: LiveSnapshot, threads: TwoThreads
    ) throws -> Int64? {
        guard query.limit == nil, query.offset == 0, snapshot.position != nil, threads.leastRows < .max else {
            return nil
        }
        let (connection, table) = (snapshot.connection, query.model.table.quotedSQL)
        let range = "SELECT (SELECT min(\"__rid\") FROM \(table)), (SELECT max(\"__rid\") FROM \(table))"
        let ends = try connection.rows(range) { ($0.integer(0), $0.integer(1)) }
        guard let (first, last) = ends.first else { return nil }
        let (distance, isTooLong) = last.subtractingReportingOverflow(first)
        guard !isTooLong, distance >= Int64(threads.leastRows) else { return nil }
        let plan = try connection.plan(of: sql)
        let isScan = plan.first == "SCAN \(SQLCompiler.firstAlias)"
        return isScan && plan.dropFirst().allSatisfy { $0.hasPrefix("SEARCH ") } ? first + distance / 2 : nil
    }

    /// Reads all rows of a query, on two threads with a connection each. Appends the rows up to `middle` to a buffer.
    ///
    /// - Returns: The rows above `middle`.
    private func appendHalves(
        _ query: QueryDescription, to buffer: RowBuffer, middle: Int64, on first: Connection, and second: Connection
    ) throws -> RowBuffer {
        let upper = RowBuffer()
        let failure = Mutex<(any Error)?>(nil)
        TwoThreads.run(2, middle: 1) { half in
            do {
                if half.contains(0) {
                    try append(select(query, rowIDs: .min...middle), to: buffer, on: first)
                } else {
                    try append(select(query, rowIDs: middle + 1 ... .max), to: upper, on: second)
                }
            } catch {
                failure.withLock { $0 = $0 ?? error }
                // Stops the other half.
                first.mustStop.isSet = true
            }
        }
        guard let error = failure.withLock({ $0 }) else { return upper }
        first.mustStop.isSet = false
        throw error
    }

    /// Compiles a query that selects the columns of the rows.
    ///
    /// - Parameter rowIDs: The rowids of the rows to read, or `nil` for all rows.
    private func select(_ query: QueryDescription, rowIDs: ClosedRange<Int64>? = nil) -> SQL {
        var compiler = SQLCompiler()
        var condition: ((SQLCompiler.Scope) -> SQL)?
        if let rowIDs {
            let (first, last) = (StorageValue.integer(rowIDs.lowerBound), StorageValue.integer(rowIDs.upperBound))
            condition = { "\(alias: $0.alias).\"__rid\" BETWEEN \(bind: first) AND \(bind: last)" }
        }
        return compiler.select(query, ordered: query.limit != nil || query.offset > 0, also: condition) {
            columns(&$0, in: $1)
        }
    }

    /// Appends all rows of a statement to a buffer.
    private func append(_ sql: SQL, to buffer: RowBuffer, on connection: Connection) throws {
        let statement = try connection.uncachedStatement(sql.text)
        defer { statement.finalize() }
        statement.bind(sql.values)
        // The key's memory is reused.
        var key: [UInt8] = []
        while try statement.step() {
            key.removeAll(keepingCapacity: true)
            try maker.append(statement, position(statement, key: &key), buffer, connection.path)
        }
    }
}

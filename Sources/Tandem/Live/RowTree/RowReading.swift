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

    /// Reads all rows of a query, in undefined order.
    func rows(_ query: QueryDescription, on connection: Connection) throws -> RowBuffer {
        var compiler = SQLCompiler()
        let sql = compiler.select(query, ordered: query.limit != nil || query.offset > 0) { columns(&$0, in: $1) }
        let statement = try connection.uncachedStatement(sql.text)
        defer { statement.finalize() }
        statement.bind(sql.values)
        let buffer = RowBuffer()
        // The key's memory is reused.
        var key: [UInt8] = []
        while try statement.step() {
            key.removeAll(keepingCapacity: true)
            try maker.append(statement, position(statement, key: &key), buffer, connection.path)
        }
        return buffer
    }
}

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

    /// Creates the row from a statement.
    func row(_ statement: Statement, path: String) throws -> LiveRow {
        let source = StatementColumns(statement: statement.handle)
        var key: [UInt8] = []
        var first = maker.width
        section?.appendKey(source, first: first, to: &key)
        let sectionLength = key.count
        first += section?.columnCount ?? 0
        order.appendKey(source, first: first, to: &key)
        return try maker.make(
            statement, statement.integer(0), key, sectionLength, Int32(maker.width - 1), ObjectBox(), path)
    }

    /// Reads all rows of a query, in undefined order.
    func rows(_ query: QueryDescription, on connection: Connection) throws -> [LiveRow] {
        var compiler = SQLCompiler()
        let sql = compiler.select(query, ordered: query.limit != nil || query.offset > 0) { columns(&$0, in: $1) }
        let statement = try connection.uncachedStatement(sql.text)
        defer { statement.finalize() }
        statement.bind(sql.values)
        var rows: [LiveRow] = []
        while try statement.step() { rows.append(try row(statement, path: connection.path)) }
        return rows
    }
}

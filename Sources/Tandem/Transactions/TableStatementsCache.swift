/// A connection's statements for each table.
final class TableStatementsCache: ConnectionCache {
    private var statements: [ObjectIdentifier: TableStatements] = [:]
    /// The last requested statements. Rows of a table are mostly written in sequence, and hashing costs more.
    private var latest: TableStatements?

    func statements(of table: TableLayout, on connection: Connection) -> TableStatements {
        if let latest, latest.table === table { return latest }
        if let known = statements[ObjectIdentifier(table)] {
            latest = known
            return known
        }
        let new = TableStatements(table, on: connection)
        statements[ObjectIdentifier(table)] = new
        latest = new
        return new
    }
}

extension Connection {
    func tableStatements(_ table: TableLayout) throws -> TableStatements {
        cache(TableStatementsCache.self).statements(of: table, on: self)
    }
}

/// The data of a connection that ``ChangeCapture`` reuses for later transactions.
final class CaptureCache: ConnectionCache {
    /// The indices of the tables' columns, for recording their changes.
    var columnPlaces: [ObjectIdentifier: [String: Int32]] = [:]
    var tableColumns: [ObjectIdentifier: TableColumns] = [:]
    /// The columns that were added with a default other than NULL.
    var defaultedColumns: [ObjectIdentifier: Set<Int32>] = [:]
    /// Reusable records of the tables that a transaction changes, by name.
    var capturedTables: [String: CapturedTable] = [:]
    /// The statements for reading changed rows, by table.
    var changedRowStatements: [ObjectIdentifier: (extraColumns: [String], statement: Statement)] = [:]

    /// Returns the number of a table's columns, and those that were added with a default other than NULL. Returns `nil`
    /// if they were not looked up.
    func columns(of table: TableLayout) -> (width: Int, defaulted: Set<Int32>)? {
        let key = ObjectIdentifier(table)
        return columnPlaces[key].map { ($0.count, defaultedColumns[key] ?? []) }
    }
}

extension Connection {
    var captureCache: CaptureCache { cache(CaptureCache.self) }
}

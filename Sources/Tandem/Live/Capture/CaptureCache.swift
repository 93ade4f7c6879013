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
}

extension Connection {
    var captureCache: CaptureCache { cache(CaptureCache.self) }
}

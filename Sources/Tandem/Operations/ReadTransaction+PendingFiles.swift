extension ReadTransaction {
    /// Returns whether a row without an operation is synced as far as its files are concerned.
    func hasNoPendingFiles(_ rowID: Int64, in table: TableLayout) throws -> Bool {
        guard table.sendsFiles else { return true }
        return try connection.value(
            "SELECT \(table.noPendingFilesSQL) FROM \(table.quotedTable) WHERE \"__rid\" = ?",
            binding: [.integer(rowID)])
            == .integer(1)
    }
}

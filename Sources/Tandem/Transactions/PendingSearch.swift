/// Rows whose search index entries are outdated, until the end of the transaction or the next query in it.
///
/// FTS5 is several times as fast if entries arrive in the order of their rowids, so changes are collected. To remove a
/// text from an external-content index, the exact indexed text is needed. Therefore the texts from before the first
/// change are kept here.
struct PendingSearch {
    /// The indexed texts of a row, one for each search column, or `nil` if the row is not indexed.
    typealias Indexed = [String?]?

    fileprivate(set) var rows: [ObjectIdentifier: (table: TableLayout, indexed: [Int64: Indexed])] = [:]

    var isEmpty: Bool { rows.isEmpty }

    mutating func removeAll() {
        rows.removeAll(keepingCapacity: true)
    }

    /// Records that a row changes. Only the first record counts: it has the indexed texts.
    mutating func recordChange(_ table: TableLayout, row: Int64, indexed: @autoclosure () throws -> Indexed) rethrows {
        let key = ObjectIdentifier(table)
        if rows[key] == nil { rows[key] = (table, [:]) }
        if rows[key]!.indexed[row] == nil { rows[key]!.indexed[row] = .some(try indexed()) }
    }

    func contains(_ table: TableLayout, row: Int64) -> Bool {
        rows[ObjectIdentifier(table)]?.indexed[row] != nil
    }

    var count: Int { rows.values.reduce(0) { $0 + $1.indexed.count } }
}

extension WriteTransaction {
    /// Updates the search indexes for the changed rows.
    func flushSearch() throws {
        guard !pendingSearch.isEmpty else { return }
        let pending = pendingSearch
        pendingSearch.removeAll()
        try poisoningOnError {
            for (table, indexed) in pending.rows.values {
                let statements = try connection.tableStatements(table)
                for (row, texts) in indexed.sorted(by: { $0.key < $1.key }) {
                    if let texts { try statements.removeFromSearch(row: row, texts: texts) }
                    try statements.addToSearch(row: row)
                }
            }
        }
    }
}

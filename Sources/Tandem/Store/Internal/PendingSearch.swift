/// Rows whose search index entry is out of step, until the end of the transaction or the next query in it.
///
/// FTS5 is several times faster when entries come in the order of their rowids, one after the other; so changes are
/// gathered. An external-content index must be given the very text that it has indexed to take it out again: that
/// text, from before the first change, is what is kept here.
struct PendingSearch {
    /// What the index holds for a row: its texts, one for each search column; `nil` if it holds nothing.
    typealias Indexed = [String?]?

    fileprivate(set) var rows: [ObjectIdentifier: (table: TableLayout, indexed: [Int64: Indexed])] = [:]

    var isEmpty: Bool { rows.isEmpty }

    mutating func removeAll() {
        rows.removeAll(keepingCapacity: true)
    }

    /// Notes that a row changes. Only the first note counts: it holds what the index has.
    mutating func note(_ table: TableLayout, row: Int64, indexed: @autoclosure () throws -> Indexed) rethrows {
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
    /// Brings the search indexes in step with the rows.
    func flushSearch() throws {
        guard !pendingSearch.isEmpty else { return }
        let pending = pendingSearch
        pendingSearch.removeAll()
        try following {
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

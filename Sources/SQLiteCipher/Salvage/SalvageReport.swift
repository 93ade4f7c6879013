/// The result of ``EncryptedDatabase/salvage(to:)``.
public struct SalvageReport: Sendable, Equatable {
    /// The numbers of the unreadable pages, in order. The first page is 1. At most 65,536 pages truncated from the end
    /// of the file are listed.
    public internal(set) var damagedPages: [UInt32] = []
    /// The number of copied rows, by table.
    public internal(set) var rows: [String: Int] = [:]
    /// The number of rows whose table is unknown, because the page above them is damaged. They are in the table
    /// `lost_and_found`: page, rowid, number of values, then the values `c0`, `c1` and so on.
    public internal(set) var rowsWithoutTable = 0
    /// The number of rows that were found but not copied. Part of such a row was on a damaged page, or a constraint
    /// rejected it.
    public internal(set) var lostRows = 0
    /// The statements of tables whose definition could not be parsed. Their rows are in `lost_and_found`.
    public internal(set) var failedStatements: [String] = []

    /// Statements of the stored schema that were omitted, in whole or in part. They are indexes, views, triggers,
    /// virtual tables, and tables with a `CHECK`, a foreign key or a computed column. Execute those that you trust.
    public internal(set) var skippedStatements: [String] = []

    /// Whether a truncated rollback journal prevented the full rollback of an interrupted transaction. The copied rows
    /// may then include changes that were never committed.
    public internal(set) var isRollbackPartial = false

    /// Whether every row was recovered. Skipped statements do not affect it.
    public var isComplete: Bool {
        !isRollbackPartial && damagedPages.isEmpty && rowsWithoutTable == 0 && lostRows == 0 && failedStatements.isEmpty
    }
}

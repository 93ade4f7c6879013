/// What ``EncryptedDatabase/salvage(to:)`` found.
public struct SalvageReport: Sendable, Equatable {
    /// The pages that could not be read, in order. The first is 1. Of those that were cut off the file's end, at most
    /// 65,536.
    public internal(set) var damagedPages: [UInt32] = []
    /// The rows that were copied, by table.
    public internal(set) var rows: [String: Int] = [:]
    /// Rows whose table is not known, because the page that led to them is damaged. They are in the table
    /// `lost_and_found`: page, rowid, number of values, then the values `c0`, `c1` and so on.
    public internal(set) var rowsWithoutTable = 0
    /// Rows that were seen and could not be copied: a part of them lay on a damaged page, or a constraint refused them.
    public internal(set) var lostRows = 0
    /// The statements of tables whose definition is not understood. Their rows are in `lost_and_found`.
    public internal(set) var failedStatements: [String] = []

    /// Statements of the stored schema that were not run, whole or in part: indexes, views, triggers, virtual tables, and
    /// tables with a `CHECK`, a foreign key, a computed column or the like. Run those that you trust.
    public internal(set) var skippedStatements: [String] = []

    /// Whether a transaction was interrupted and its rollback journal was cut, so that it could not be taken back whole:
    /// rows that it had changed, and never committed, may be among those that were copied.
    public internal(set) var isRollbackPartial = false

    /// Whether every row was there. Statements that were skipped take none away.
    public var isComplete: Bool {
        !isRollbackPartial && damagedPages.isEmpty && rowsWithoutTable == 0 && lostRows == 0 && failedStatements.isEmpty
    }
}

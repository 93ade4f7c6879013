/// The statements for the operation of a changed object.
enum OperationStatement: Int, FixedStatement {
    case insert
    case ofObject
    case save

    var sql: String {
        switch self {
        case .insert:
            """
            INSERT INTO "__operations" ("table", "object", "localID", "kind", "changedAt", "changes") \
            VALUES (?, ?, ?, ?, ?, ?)
            """
        case .ofObject:
            "SELECT \(StoredOperation.columns) FROM \"__operations\" WHERE \"table\" = ? AND \"object\" = ?"
        case .save:
            """
            UPDATE "__operations" SET "kind" = ?, "state" = ?, "changes" = ?, "replaced" = ?, \
            "changedAt" = CASE WHEN "changedAt" >= ?5 AND "changedAt" - ?5 < \(PendingOperation.clockStep) \
            THEN "changedAt" + \(PendingOperation.leastStep) ELSE ?5 END WHERE "id" = ?6
            """
        }
    }
}

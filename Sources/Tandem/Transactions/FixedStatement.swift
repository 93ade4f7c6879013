/// The statements that every transaction or every change runs.
///
/// They are found by index: hashing a statement's text costs a tenth of an insert.
enum FixedStatement: Int, CaseIterable {
    case begin
    case commit
    case rollback
    case emptyWrite
    case dataVersion
    case schemaStamp
    case insertOperation
    case operationOfObject
    case saveOperation

    var sql: String {
        switch self {
        case .begin: "BEGIN IMMEDIATE"
        case .commit: "COMMIT"
        case .rollback: "ROLLBACK"
        case .emptyWrite: "DELETE FROM \"__settings\" WHERE 0"
        case .dataVersion: "PRAGMA data_version"
        case .schemaStamp: "SELECT \"value\" FROM \"__settings\" WHERE \"key\" = 'schemaStamp'"
        case .insertOperation:
            """
            INSERT INTO "__operations" ("table", "object", "localID", "kind", "changedAt", "changes") \
            VALUES (?, ?, ?, ?, ?, ?)
            """
        case .operationOfObject:
            "SELECT \(StoredOperation.columns) FROM \"__operations\" WHERE \"table\" = ? AND \"object\" = ?"
        case .saveOperation:
            """
            UPDATE "__operations" SET "kind" = ?, "state" = ?, "changes" = ?, "replaced" = ?, \
            "changedAt" = CASE WHEN "changedAt" >= ?5 AND "changedAt" - ?5 < \(PendingOperation.clockStep) \
            THEN "changedAt" + \(PendingOperation.leastStep) ELSE ?5 END WHERE "id" = ?6
            """
        }
    }
}

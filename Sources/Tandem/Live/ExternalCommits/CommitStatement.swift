/// The statements on the table of recent commits: see ``CommitRecorder``.
enum CommitStatement: Int, FixedStatement {
    /// The table is created by the first commit that is recorded. It does nothing if the table exists.
    case create
    case insert
    case trim
    case clear
    case read

    var sql: String {
        switch self {
        case .create:
            """
            CREATE TABLE IF NOT EXISTS "__recent_commits" \
            ("id" INTEGER PRIMARY KEY, "position" BLOB NOT NULL, "changes" BLOB NOT NULL)
            """
        case .insert:
            """
            INSERT INTO "__recent_commits" ("id", "position", "changes") \
            VALUES ((SELECT coalesce(max("id"), 0) + 1 FROM "__recent_commits"), ?, ?)
            """
        case .trim:
            """
            DELETE FROM "__recent_commits" WHERE "id" <= (SELECT max("id") FROM "__recent_commits") - ?
            """
        case .clear: "DELETE FROM \"__recent_commits\""
        case .read: "SELECT \"position\", \"changes\" FROM \"__recent_commits\" ORDER BY \"id\" DESC LIMIT ?"
        }
    }
}

/// The tables that every store has beside those of its models. They are documented in StorageFormat.md.
enum MetaTables {
    static let sql = """
        CREATE TABLE "__settings" ("key" TEXT PRIMARY KEY, "value") WITHOUT ROWID;
        CREATE TABLE "__operations" (
            "id" INTEGER PRIMARY KEY AUTOINCREMENT,
            "table" TEXT NOT NULL,
            "object" INTEGER NOT NULL,
            "localID" TEXT NOT NULL,
            "kind" INTEGER NOT NULL,
            "state" INTEGER NOT NULL DEFAULT 0,
            "changedAt" NOT NULL,
            "attempts" INTEGER NOT NULL DEFAULT 0,
            "changes" BLOB,
            "sent" BLOB,
            "sentKind" INTEGER,
            "replaced" INTEGER,
            "attempted" BLOB,
            "attemptedKinds" INTEGER NOT NULL DEFAULT 0,
            "retryAt",
            UNIQUE ("table", "object")
        );
        CREATE TABLE "__operation_errors" (
            "operation" INTEGER PRIMARY KEY,
            "status" INTEGER,
            "message" TEXT NOT NULL,
            "at" NOT NULL,
            "serverItem" BLOB
        );
        CREATE TABLE "__unresolved" (
            "target" TEXT NOT NULL,
            "id" TEXT NOT NULL,
            "table" TEXT NOT NULL,
            "object" INTEGER NOT NULL,
            "column" TEXT NOT NULL,
            "position" INTEGER NOT NULL,
            PRIMARY KEY ("target", "id", "table", "object", "column", "position")
        ) WITHOUT ROWID;
        CREATE INDEX "__unresolved_object" ON "__unresolved" ("table", "object");
        """ + "\n" + addedInFormat2 + "\n" + addedInFormat3

    /// What format 2 has beside the columns that it adds to `__operations`.
    ///
    /// The index is partial: an insert, update or delete of the app's leaves it alone, and what is not merely pending
    /// is found without a walk over the whole queue.
    private static let addedInFormat2 = """
        CREATE INDEX "__operations_state" ON "__operations" ("state", "id") WHERE "state" <> 0;
        CREATE TABLE "__server_items" (
            "table" TEXT NOT NULL,
            "serverID" TEXT NOT NULL,
            "object" INTEGER,
            "version" TEXT,
            "updatedAt",
            "deleted" INTEGER NOT NULL,
            "item" BLOB NOT NULL,
            "reason" INTEGER NOT NULL,
            "message" TEXT,
            PRIMARY KEY ("table", "serverID")
        );
        CREATE INDEX "__server_items_object" ON "__server_items" ("table", "object");
        CREATE TABLE "__server_extras" (
            "table" TEXT NOT NULL,
            "object" INTEGER NOT NULL,
            "members" BLOB NOT NULL,
            PRIMARY KEY ("table", "object")
        ) WITHOUT ROWID;
        CREATE TABLE "__sync_tokens" (
            "table" TEXT NOT NULL,
            "queryID" TEXT NOT NULL,
            "digest" BLOB NOT NULL,
            "time" TEXT,
            "settled" INTEGER NOT NULL,
            "lastSuccess",
            PRIMARY KEY ("table", "queryID")
        ) WITHOUT ROWID;
        """

    /// What format 3 has: files beside the store, who uses which, and those that nobody does any more.
    ///
    /// A file is garbage as soon as its last use goes, and is looked at again when the transaction ends: it may have been
    /// given to another object meanwhile. What lay in the folder for a row that names it no more is left over, until it
    /// is removed there: see ``FileCollecting``. What an upload may have brought to the server, and had no answer, is
    /// queued for deletion there when the store lets go of it: see ``SendingNote``.
    private static let addedInFormat3 = """
        CREATE TABLE "__files" (
            "id" TEXT PRIMARY KEY,
            "blob" TEXT UNIQUE,
            "sealed" INTEGER NOT NULL,
            "name" TEXT NOT NULL,
            "type" TEXT NOT NULL,
            "size" INTEGER,
            "sha256" TEXT,
            "state" INTEGER NOT NULL,
            "url" TEXT,
            "etag" TEXT,
            "offset" INTEGER NOT NULL DEFAULT 0,
            "reason" TEXT,
            "attempts" INTEGER NOT NULL DEFAULT 0,
            "retryAt",
            "usedAt" NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX "__files_used" ON "__files" ("usedAt") WHERE "state" = 2 AND "blob" IS NOT NULL;
        CREATE INDEX "__files_pending" ON "__files" ("state") WHERE "state" <> 2;
        CREATE INDEX "__files_url" ON "__files" ("url") WHERE "url" IS NOT NULL;
        CREATE TABLE "__file_uses" (
            "file" TEXT NOT NULL,
            "table" TEXT NOT NULL,
            "object" INTEGER NOT NULL,
            "sent" INTEGER NOT NULL,
            PRIMARY KEY ("file", "table", "object")
        ) WITHOUT ROWID;
        CREATE INDEX "__file_uses_object" ON "__file_uses" ("table", "object");
        CREATE TABLE "__file_garbage" ("file" TEXT PRIMARY KEY) WITHOUT ROWID;
        CREATE TABLE "__file_leftovers" ("blob" TEXT PRIMARY KEY) WITHOUT ROWID;
        CREATE TABLE "__file_deletions" (
            "url" TEXT PRIMARY KEY,
            "etag" TEXT,
            "attempts" INTEGER NOT NULL,
            "retryAt",
            "arriving" INTEGER NOT NULL DEFAULT 0
        ) WITHOUT ROWID;
        CREATE TABLE "__file_uploads" ("file" TEXT PRIMARY KEY, "url" TEXT) WITHOUT ROWID;
        CREATE TRIGGER "__file_uses_delete" AFTER DELETE ON "__file_uses" BEGIN
            INSERT OR IGNORE INTO "__file_garbage" SELECT old."file"
            WHERE NOT EXISTS (SELECT 1 FROM "__file_uses" WHERE "file" = old."file");
        END;
        CREATE TRIGGER "__files_forget" AFTER DELETE ON "__files" WHEN old."blob" IS NOT NULL BEGIN
            INSERT OR IGNORE INTO "__file_leftovers" VALUES (old."blob");
        END;
        CREATE TRIGGER "__files_leave" AFTER UPDATE OF "blob" ON "__files"
        WHEN old."blob" IS NOT NULL AND old."blob" IS NOT new."blob" BEGIN
            INSERT OR IGNORE INTO "__file_leftovers" VALUES (old."blob");
        END;
        CREATE TRIGGER "__files_sent" AFTER UPDATE OF "state" ON "__files" WHEN new."state" = 2 BEGIN
            DELETE FROM "__file_uploads" WHERE "file" = new."id";
        END;
        CREATE TRIGGER "__files_unanswered" AFTER DELETE ON "__files" BEGIN
            INSERT OR IGNORE INTO "__file_deletions" ("url", "attempts", "arriving")
            SELECT "url", 0, 1 FROM "__file_uploads" WHERE "file" = old."id" AND "url" IS NOT NULL;
            DELETE FROM "__file_uploads" WHERE "file" = old."id";
        END;
        """

    static let creatingIfMissing = ifMissing(sql)

    private static func ifMissing(_ sql: String) -> String {
        sql.replacingOccurrences(of: "CREATE TABLE", with: "CREATE TABLE IF NOT EXISTS")
            .replacingOccurrences(of: "CREATE INDEX", with: "CREATE INDEX IF NOT EXISTS")
            .replacingOccurrences(of: "CREATE TRIGGER", with: "CREATE TRIGGER IF NOT EXISTS")
    }

    // MARK: Older formats

    /// Brings the tables of an older format to today's, inside the transaction that opens the store.
    ///
    /// Each step does what is missing and no more: of a store that was salvaged some tables may be new already.
    static func lift(_ connection: Connection, from format: Int64) throws {
        if format < 2 { try liftTo2(connection) }
        if format < 3 { try connection.execute(ifMissing(addedInFormat3)) }
    }

    /// Format 2: what an operation has sent since the server last answered, and what sync keeps.
    private static func liftTo2(_ connection: Connection) throws {
        let added = [("attempted", "BLOB"), ("attemptedKinds", "INTEGER NOT NULL DEFAULT 0"), ("retryAt", "")]
        for (column, type) in added {
            let isThere = try connection.value(
                "SELECT 1 FROM pragma_table_info('__operations') WHERE name = ?", [.text(column)])
            guard isThere == nil else { continue }
            try connection.execute("ALTER TABLE \"__operations\" ADD COLUMN \(column.quotedSQL) \(type)")
        }
        // What was sent and not answered is known by its kind, though not by its values. A delete that took the place
        // of another change may have been sent, or that change, or both.
        try connection.execute(
            """
            UPDATE "__operations" SET "attemptedKinds" = (1 << (coalesce("sentKind", "kind") - 1)) \
            | CASE WHEN "replaced" IS NULL THEN 0 ELSE 1 << ("replaced" - 1) END WHERE "attempts" > 0
            """)
        // Nobody knows any more what had been sent before the attempt under way: all of it, so that its failing makes
        // nothing of it forgotten. Of an insert what was sent names what it has left out by now.
        try connection.execute(
            """
            UPDATE "__operations" SET "attemptedKinds" = ("attemptedKinds" & 7) * 9, \
            "sent" = CASE WHEN coalesce("sentKind", "kind") = 1 THEN x'0100' ELSE "sent" END WHERE "sent" IS NOT NULL
            """)
        try connection.execute(ifMissing(addedInFormat2))
    }
}

/// The tables of every store besides those of its models. StorageFormat.md documents them.
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

    /// The additions of format 2 besides the new columns of `__operations`.
    ///
    /// The index is partial: an ordinary insert, update or delete of the app does not touch it. Operations in other
    /// states are found without a scan of the whole queue.
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

    /// The additions of format 3: files beside the store, their uses, and unused files.
    ///
    /// A file becomes garbage when its last use is removed. It is checked again at the end of the transaction, because
    /// another object may have got it in the meantime. A file in the folder that no row names any more is a leftover
    /// until it is removed there: see ``BlobGarbageCollector``. An upload may have reached the server without a
    /// response. If the store then drops the file, the deletion of the file on the server is queued: see
    /// ``UploadRecord``.
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

    /// Upgrades the tables of an older format, in the transaction that opens the store.
    ///
    /// Each step only adds what is missing: a salvaged store may already have some of the new tables.
    static func lift(_ connection: Connection, from format: Int64) throws {
        if format < 2 { try liftTo2(connection) }
        if format < 3 { try connection.execute(ifMissing(addedInFormat3)) }
    }

    /// Upgrades to format 2.
    ///
    /// The format adds the values that an operation has sent since the last response, and the data of sync.
    private static func liftTo2(_ connection: Connection) throws {
        let added = [("attempted", "BLOB"), ("attemptedKinds", "INTEGER NOT NULL DEFAULT 0"), ("retryAt", "")]
        for (column, type) in added {
            let isThere = try connection.value(
                "SELECT 1 FROM pragma_table_info('__operations') WHERE name = ?", binding: [.text(column)])
            guard isThere == nil else { continue }
            try connection.execute("ALTER TABLE \"__operations\" ADD COLUMN \(column.quotedSQL) \(type)")
        }
        // A request without a response is known by its kind, but not by its values. If a delete replaced another
        // change, either or both may have been sent.
        try connection.execute(
            """
            UPDATE "__operations" SET "attemptedKinds" = (1 << (coalesce("sentKind", "kind") - 1)) \
            | CASE WHEN "replaced" IS NULL THEN 0 ELSE 1 << ("replaced" - 1) END WHERE "attempts" > 0
            """)
        // It is unknown what was sent before the current attempt. Assume all of it, so that a failed attempt loses no
        // information. For an insert, the sent values name the properties that it left out.
        try connection.execute(
            """
            UPDATE "__operations" SET "attemptedKinds" = ("attemptedKinds" & 7) * 9, \
            "sent" = CASE WHEN coalesce("sentKind", "kind") = 1 THEN x'0100' ELSE "sent" END WHERE "sent" IS NOT NULL
            """)
        try connection.execute(ifMissing(addedInFormat2))
    }
}

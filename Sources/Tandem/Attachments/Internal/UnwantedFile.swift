import Foundation

/// A file on the server that is no longer needed, and waits to be deleted there.
package struct UnwantedFile: Hashable, Sendable {
    /// The file's ID in the store, or `nil` if it is no longer known.
    package var file: FileID?
    /// The file's URL on the server.
    package var url: String
    /// The server's token for the file.
    package var etag: String?
    /// The number of attempts to delete it.
    package var attempts = 0
    /// The earliest time of its delete.
    package var retryAt: Date?

    /// Creates a file on a server.
    package init(_ file: FileID? = nil, url: String, etag: String?, attempts: Int = 0) {
        (self.file, self.url, self.etag, self.attempts) = (file, url, etag, attempts)
    }
}

extension SyncTransaction {
    /// Queues a file for deletion on the server, unless a local object has it. It is queued again when that object
    /// releases it. That also holds if the object has left this device and still exists on the server.
    package func addUnwanted(_ file: UnwantedFile) throws {
        try checkUsable()
        try connection.execute(
            """
            INSERT OR IGNORE INTO "__file_deletions" ("url", "etag", "attempts") SELECT ?1, ?2, 0 \
            WHERE NOT EXISTS (SELECT 1 FROM "__file_uses" WHERE "file" = ?3) \
            AND NOT EXISTS (SELECT 1 FROM "__files" f JOIN "__file_uses" u ON u."file" = f."id" WHERE f."url" = ?1) \
            ON CONFLICT ("url") DO UPDATE SET "etag" = excluded."etag", "arriving" = 0, "retryAt" = NULL \
            WHERE "arriving" = 1
            """,
            binding: [
                .text(file.url), file.etag.map { .text($0) } ?? .null,
                file.file.map { .text($0.rawValue) } ?? .null,
            ])
    }

    /// Returns the files that an object on the server no longer names after an operation. These are all files of a
    /// deleted object, and the files that an update replaces or clears.
    ///
    /// Files that an update removes from a list are excluded: another client that adds to the same list sends it whole,
    /// with that file.
    ///
    /// - Parameters:
    ///   - item: The server's item, or `nil` if it is unknown.
    ///   - isOver: Whether the operation was executed. If not, only its sent part has arrived and counts.
    package func filesReleased(
        by id: PendingOperation.ID, for item: ServerItem?, isOver: Bool = true
    ) throws -> [UnwantedFile] {
        try checkUsable()
        let (operation, tableName, rowID) = try storedOperation(id)
        guard operation.kind == .update || operation.kind == .delete && isOver,
            let table = store.schema.table(named: tableName), table.sendsFiles,
            let state = try state(ofRow: rowID, in: table)
        else { return [] }
        let isDelete = operation.kind == .delete
        let attempted = try isOver ? nil : attemptedValues(id)
        let values = try valuesIncludingUnresolved(of: state, in: table)
        var files: [FileID: UnwantedFile] = [:]
        for column in table.attachments where column.isSent && (isDelete || !column.isList) {
            let property = table.definition.properties[column.property]
            let base = operation.base(of: property.column) ?? .null
            let said = item.flatMap { $0.isDeleted ? nil : $0.values[property.name] }
            if let attempted {
                guard let said, attempted.contains(said, of: property.column) else { continue }
            }
            let here = try attachments(in: values[column.property], of: property)
            let there = base == .null ? [] : try attachments(in: base, of: property)
            // A server may name a file by its URL alone.
            let named = said.map { property.form($0, like: base, values[column.property]) }
            let now = try named ?? withoutPending(values[column.property], of: column.property, in: table, over: base)
            let kept = try isDelete ? [] : Set((here + attachments(in: now, of: property)).map(\.id))
            for file in (isDelete ? here : []) + there where !kept.contains(file.id) {
                let known = try connection.file(file.id)
                guard let url = known?.attachment.serverURL ?? file.serverURL else { continue }
                files[file.id] = UnwantedFile(file.id, url: url, etag: known?.etag)
            }
        }
        return Array(files.values)
    }

    /// Removes a file from the queue: it is not on the server, it is not ours, or an object names it again.
    package func forgetUnwanted(_ url: String) throws {
        try checkUsable()
        try connection.forgetUnwanted(url)
    }

    /// Forgets all files that wait to be deleted, or may have to be: they belong to another server or user.
    package func forgetUnwantedFiles() throws {
        try checkUsable()
        try connection.execute(UploadOwnershipSQL.leaveAll)
        try connection.execute(#"DELETE FROM "__file_deletions""#)
    }

    /// Postpones the deletion of a file.
    package func postponeUnwanted(_ url: String, until date: Date) throws {
        try checkUsable()
        try connection.execute(
            """
            UPDATE "__file_deletions" SET "attempts" = "attempts" + 1, "retryAt" = ?, "arriving" = 0 WHERE "url" = ?
            """, binding: [.real(date.timeIntervalSinceReferenceDate), .text(url)])
    }
}

extension ReadTransaction {
    /// Returns the files that may be deleted on the server.
    ///
    /// No local object names them. That remains true if an unsent change is discarded, or if a conflict is resolved for
    /// the server.
    ///
    /// - Parameter url: The URL of a single file, or `nil` for all.
    package func unwantedFiles(only url: String? = nil) throws -> [UnwantedFile] {
        let tables = store.schema.tables.filter(\.sendsFiles).map(\.table.quotedText)
        guard !tables.isEmpty else { return [] }
        return try connectionForReading(searching: false).rows(
            """
            SELECT d."url", d."etag", d."attempts", d."retryAt" FROM "__file_deletions" d \
            WHERE (?1 IS NULL OR d."url" = ?1) \
            AND NOT EXISTS (SELECT 1 FROM "__files" f WHERE f."url" = d."url") \
            AND NOT EXISTS (SELECT 1 FROM "__operations" o WHERE o."table" IN (\(tables.joined(separator: ", "))) \
            AND (instr(o."changes", CAST(d."url" AS BLOB)) > 0 OR instr(o."sent", CAST(d."url" AS BLOB)) > 0)) \
            AND NOT EXISTS (SELECT 1 FROM "__operation_errors" e \
            WHERE instr(e."serverItem", CAST(d."url" AS BLOB)) > 0) \
            AND NOT EXISTS (SELECT 1 FROM "__server_items" i WHERE instr(i."item", CAST(d."url" AS BLOB)) > 0) \
            ORDER BY d."url"
            """, binding: [url.map { .text($0) } ?? .null]
        ) { row in
            var file = UnwantedFile(
                url: try row.text(0), etag: try row.optionalText(1), attempts: Int(row.integer(2)))
            file.retryAt = row.isNull(3) ? nil : Date(timeIntervalSinceReferenceDate: row.real(3))
            return file
        }
    }
}

extension Connection {
    /// Removes a file from the queue of files to delete on the server.
    func forgetUnwanted(_ url: String) throws {
        try execute(#"DELETE FROM "__file_deletions" WHERE "url" = ?"#, binding: [.text(url)])
    }
}

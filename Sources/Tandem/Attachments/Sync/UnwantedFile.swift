import Foundation

/// A file that a server has and that nobody needs any more: it waits to be deleted there.
package struct UnwantedFile: Hashable, Sendable {
    /// Which file of the store it was; `nil` if that is not known any more.
    package var file: FileID?
    /// Where the server has it.
    package var url: String
    /// Which file that is, in the server's words.
    package var etag: String?
    /// How often its delete was tried.
    package var attempts = 0
    /// Whether its last bytes may be on their way still: its upload had no answer.
    package var isArriving = false
    /// When its delete is to be tried, at the earliest.
    package var retryAt: Date?

    /// A file on a server.
    package init(_ file: FileID? = nil, url: String, etag: String?, attempts: Int = 0) {
        (self.file, self.url, self.etag, self.attempts) = (file, url, etag, attempts)
    }
}

extension WriteTransaction {
    /// Queues a file for deletion on the server, unless an object here has it: it is queued again when that one lets it
    /// go, also if the object has left this device meanwhile and is on the server for all that.
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
            [
                .text(file.url), file.etag.map { .text($0) } ?? .null,
                file.file.map { .text($0.rawValue) } ?? .null,
            ])
    }

    /// The files that an object on the server names no more when an operation has been carried out there: all of one that
    /// is deleted; those in whose place an update puts another one, or none.
    ///
    /// What an update takes out of a list is none of them: who adds to the same list elsewhere sends it whole, with that
    /// file.
    ///
    /// - Parameters:
    ///   - item: What the server holds now; `nil` if it does not say.
    ///   - isOver: Whether the operation is carried out. If not, only what was sent of it counts, and has arrived.
    package func filesLetGo(
        by id: Operation.ID, for item: ServerItem?, isOver: Bool = true
    ) throws -> [UnwantedFile] {
        try checkUsable()
        let (operation, tableName, rowID) = try stored(id)
        guard operation.kind == .update || operation.kind == .delete && isOver,
            let table = store.schema.table(named: tableName), table.sendsFiles,
            let state = try state(ofRow: rowID, in: table)
        else { return [] }
        let isDelete = operation.kind == .delete
        let attempted = try isOver ? nil : attemptedValues(id)
        let values = try wholeValues(of: state, in: table)
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

    /// A file is no longer on the server, or is none of ours, or an object names it again.
    package func forgetUnwanted(_ url: String) throws {
        try checkUsable()
        try connection.execute(#"DELETE FROM "__file_deletions" WHERE "url" = ?"#, [.text(url)])
    }

    /// Forgets all that waits to be deleted, or may have to be: it is on another server, or another user's.
    package func forgetUnwantedFiles() throws {
        try checkUsable()
        try connection.execute(SentFiles.leaveAll)
        try connection.execute(#"DELETE FROM "__file_deletions""#)
    }

    /// A file could not be deleted now.
    package func putOffUnwanted(_ url: String, until date: Date) throws {
        try checkUsable()
        try connection.execute(
            """
            UPDATE "__file_deletions" SET "attempts" = "attempts" + 1, "retryAt" = ?, "arriving" = 0 WHERE "url" = ?
            """, [.real(date.timeIntervalSinceReferenceDate), .text(url)])
    }

    /// A file that may be on its way has arrived by then, if ever.
    package func awaitUnwanted(_ url: String, until date: Date) throws {
        try checkUsable()
        try connection.execute(
            #"UPDATE "__file_deletions" SET "retryAt" = ? WHERE "url" = ? AND "arriving" = 1"#,
            [.real(date.timeIntervalSinceReferenceDate), .text(url)])
    }
}

extension ReadTransaction {
    /// The files that may be deleted on the server: those that no object here names, nor will name if a change that was not
    /// sent is given up, or a conflict decided for the server.
    ///
    /// - Parameter url: The one that is asked for; all if `nil`.
    package func unwantedFiles(only url: String? = nil) throws -> [UnwantedFile] {
        let tables = store.schema.tables.filter(\.sendsFiles).map(\.table.quotedText)
        guard !tables.isEmpty else { return [] }
        let statement = try connectionForReading(searching: false).statement(
            """
            SELECT d."url", d."etag", d."attempts", d."arriving", d."retryAt" FROM "__file_deletions" d \
            WHERE (?1 IS NULL OR d."url" = ?1) \
            AND NOT EXISTS (SELECT 1 FROM "__files" f WHERE f."url" = d."url") \
            AND NOT EXISTS (SELECT 1 FROM "__operations" o WHERE o."table" IN (\(tables.joined(separator: ", "))) \
            AND (instr(o."changes", CAST(d."url" AS BLOB)) > 0 OR instr(o."sent", CAST(d."url" AS BLOB)) > 0)) \
            AND NOT EXISTS (SELECT 1 FROM "__operation_errors" e WHERE instr(e."serverItem", CAST(d."url" AS BLOB)) > 0) \
            AND NOT EXISTS (SELECT 1 FROM "__server_items" i WHERE instr(i."item", CAST(d."url" AS BLOB)) > 0) \
            ORDER BY d."url"
            """)
        statement.bind(1, url)
        defer { statement.reset() }
        var files: [UnwantedFile] = []
        while try statement.step() {
            var file = UnwantedFile(
                url: try statement.text(0), etag: try statement.optionalText(1), attempts: Int(statement.integer(2)))
            file.isArriving = statement.integer(3) != 0
            file.retryAt = statement.isNull(4) ? nil : Date(timeIntervalSinceReferenceDate: statement.real(4))
            files.append(file)
        }
        return files
    }
}

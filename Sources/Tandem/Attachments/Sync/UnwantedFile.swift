import Foundation

/// A file that a server has and that nobody needs any more: it waits to be deleted there.
package struct UnwantedFile: Hashable, Sendable {
    /// Where the server has it.
    package var url: String
    /// Which file that is, in the server's words.
    package var etag: String?
    /// How often its delete was tried.
    package var attempts: Int
}

extension WriteTransaction {
    /// Queues a file for deletion on the server, unless an object here names it.
    package func addUnwanted(_ url: String, etag: String?) throws {
        try checkUsable()
        try connection.execute(
            """
            INSERT OR IGNORE INTO "__file_deletions" ("url", "etag", "attempts") SELECT ?1, ?2, 0 \
            WHERE NOT EXISTS (SELECT 1 FROM "__files" f JOIN "__file_uses" u ON u."file" = f."id" WHERE f."url" = ?1)
            """, [.text(url), etag.map { .text($0) } ?? .null])
    }

    /// Queues the files of an object for deletion on the server: it is about to go. Those that another object names stay,
    /// and are queued with that one: what the server has of it may outlive it here.
    package func addUnwantedFiles(of localID: LocalID, in table: String) throws {
        try checkUsable()
        guard let layout = store.schema.table(named: table), layout.sendsFiles else { return }
        try connection.execute(
            """
            INSERT OR IGNORE INTO "__file_deletions" ("url", "etag", "attempts") \
            SELECT f."url", f."etag", 0 FROM "__files" f \
            JOIN "__file_uses" u ON u."file" = f."id" AND u."sent" = 1 AND u."table" = ?1 \
            JOIN \(layout.quotedTable) t ON t."__rid" = u."object" \
            WHERE t."localID" = ?2 AND f."url" IS NOT NULL AND NOT EXISTS (\
            SELECT 1 FROM "__files" other JOIN "__file_uses" use ON use."file" = other."id" \
            WHERE other."url" = f."url" AND NOT (use."table" = ?1 AND use."object" = t."__rid"))
            """, [.text(table), .text(localID.rawValue)])
    }

    /// The URLs of the files in whose place an update puts another one, or none: what the server held of the object named
    /// them. They are unwanted once the server has acknowledged it, and nothing is left to be sent of the object.
    ///
    /// What is taken out of a list is none of them: who adds to the same list elsewhere sends it whole, with that file.
    package func filesReplaced(by id: Operation.ID) throws -> [String] {
        try checkUsable()
        let (operation, tableName, rowID) = try stored(id)
        guard operation.kind == .update, let table = store.schema.table(named: tableName), table.sendsFiles,
            let state = try state(ofRow: rowID, in: table)
        else { return [] }
        let values = try wholeValues(of: state, in: table)
        return try table.attachments.filter { $0.isSent && !$0.isList }.flatMap { column -> [String] in
            let property = table.definition.properties[column.property]
            guard let base = operation.base(of: property.column), base != .null else { return [] }
            let kept = Set(try attachments(in: values[column.property], of: property).map(\.id))
            return try attachments(in: base, of: property).filter { !kept.contains($0.id) }.compactMap(\.serverURL)
        }
    }

    /// A file is no longer on the server, or is none of ours, or an object names it again.
    package func forgetUnwanted(_ url: String) throws {
        try checkUsable()
        try connection.execute(#"DELETE FROM "__file_deletions" WHERE "url" = ?"#, [.text(url)])
    }

    /// Forgets all that waits to be deleted: it is on another server, or another user's.
    package func forgetAllUnwanted() throws {
        try checkUsable()
        try connection.execute(#"DELETE FROM "__file_deletions""#)
    }

    /// A file could not be deleted now.
    package func putOffUnwanted(_ url: String, until date: Date) throws {
        try checkUsable()
        try connection.execute(
            #"UPDATE "__file_deletions" SET "attempts" = "attempts" + 1, "retryAt" = ? WHERE "url" = ?"#,
            [.real(date.timeIntervalSinceReferenceDate), .text(url)])
    }
}

extension ReadTransaction {
    /// The files that may be deleted on the server now: those that no object here names.
    ///
    /// - Parameter date: Those that failed, and are to be tried again later than this, are left out.
    package func unwantedFiles(at date: Date) throws -> [UnwantedFile] {
        guard store.schema.hasAttachments else { return [] }
        let statement = try connectionForReading(searching: false).statement(
            """
            SELECT d."url", d."etag", d."attempts" FROM "__file_deletions" d \
            WHERE (d."retryAt" IS NULL OR d."retryAt" <= ?) \
            AND NOT EXISTS (SELECT 1 FROM "__files" f WHERE f."url" = d."url") ORDER BY d."url"
            """)
        statement.bind(1, StorageValue.real(date.timeIntervalSinceReferenceDate))
        defer { statement.reset() }
        var files: [UnwantedFile] = []
        while try statement.step() {
            files.append(
                UnwantedFile(
                    url: try statement.text(0), etag: try statement.optionalText(1), attempts: Int(statement.integer(2))
                ))
        }
        return files
    }
}

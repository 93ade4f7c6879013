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
    /// Queues a file for deletion on the server.
    package func addUnwanted(_ url: String, etag: String?) throws {
        try checkUsable()
        try connection.execute(
            #"INSERT OR IGNORE INTO "__file_deletions" ("url", "etag", "attempts") VALUES (?, ?, 0)"#,
            [.text(url), etag.map { .text($0) } ?? .null])
    }

    /// Queues the files of an object for deletion on the server: it is about to go.
    package func addUnwantedFiles(of localID: LocalID, in table: String) throws {
        try checkUsable()
        guard let layout = store.schema.table(named: table), layout.sendsFiles else { return }
        try connection.execute(
            """
            INSERT OR IGNORE INTO "__file_deletions" ("url", "etag", "attempts") \
            SELECT f."url", f."etag", 0 FROM "__files" f \
            JOIN "__file_uses" u ON u."file" = f."id" AND u."sent" = 1 AND u."table" = ? \
            JOIN \(layout.quotedTable) t ON t."__rid" = u."object" \
            WHERE t."localID" = ? AND f."url" IS NOT NULL
            """, [.text(table), .text(localID.rawValue)])
    }

    /// A file is no longer on the server, or is none of ours.
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

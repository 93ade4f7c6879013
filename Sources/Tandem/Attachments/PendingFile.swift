import Foundation

/// A file to be uploaded, with the data that an upload needs.
package struct PendingFile: Sendable {
    /// The attachment that the rows contain.
    package var attachment: Attachment
    /// The table of the first object that uses it, and its IDs.
    package var table: String
    package var localID: LocalID
    package var serverID: ServerID
    /// The number of bytes that the server has, as far as it has reported them.
    package var offset: Int64
    /// The number of upload attempts since the last success.
    package var attempts: Int
    /// The earliest time of the next attempt after a failure.
    package var retryAt: Date?
}

extension ReadTransaction {
    /// Returns the files that can be uploaded: those of live objects with a server ID, in the order of their rows. A
    /// file that several objects use is returned once.
    ///
    /// - Parameter date: The current time. Failed files with a later retry time are left out.
    /// - Complexity: O(*n* log *n*), *n* files that are not uploaded.
    package func pendingFiles(at date: Date) throws -> [PendingFile] {
        let connection = try connectionForReading(searching: false)
        var pending: [PendingFile] = []
        var known: Set<FileID> = []
        for table in store.schema.tables where table.sendsFiles {
            let statement = try connection.uncachedStatement(
                """
                SELECT \(FileRow.columns), t."localID", t."serverID" FROM "__files" f \
                JOIN "__file_uses" u ON u."file" = f."id" AND u."table" = \(table.table.quotedText) AND u."sent" = 1 \
                JOIN \(table.quotedTable) t ON t."__rid" = u."object" \
                WHERE \(FileState.waitsSQL) AND t."serverID" IS NOT NULL AND t."deleted" = 0 \
                AND (f."retryAt" IS NULL OR f."retryAt" <= ?) ORDER BY t."__rid", f."id"
                """)
            statement.bind(1, to: StorageValue.real(date.timeIntervalSinceReferenceDate))
            while try statement.step() {
                let file = try FileRow(statement)
                guard known.insert(file.attachment.id).inserted else { continue }
                pending.append(
                    PendingFile(
                        attachment: file.attachment, table: table.table, localID: LocalID(try statement.text(14)),
                        serverID: ServerID(try statement.text(15)), offset: file.offset, attempts: Int(file.attempts),
                        retryAt: file.status.retryAt))
            }
        }
        return pending
    }
}

import Foundation

/// A file that is to be uploaded, for who uploads it.
package struct PendingFile: Sendable {
    /// What the rows say of it.
    package var attachment: Attachment
    /// The table of the first object that uses it, and its IDs.
    package var table: String
    package var localID: LocalID
    package var serverID: ServerID
    /// How many bytes of it the server has, as far as it has said.
    package var offset: Int64
    /// How often an upload was tried since the last success.
    package var attempts: Int
    /// When it is tried again at the earliest, after a failure.
    package var retryAt: Date?
}

extension ReadTransaction {
    /// The files that are to be uploaded and can be: those of objects that the server knows and that are not deleted, in
    /// the order of their rows. A file that several objects use is named once.
    ///
    /// - Parameter date: Those that failed, and are to be tried again later than this, are left out.
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
            statement.bind(1, StorageValue.real(date.timeIntervalSinceReferenceDate))
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

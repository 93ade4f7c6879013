/// The state of a file's upload, as stored in `__files`.
enum FileState: Int64 {
    case pending = 0
    case uploading = 1
    case uploaded = 2
    case failed = 3

    /// The reason why a file can't be uploaded: no known device has its bytes.
    static let lost = "The file is not on this device, and no server is known to have it."

    /// An SQL condition on a row of `__files` named `f`: whether the file waits for its upload.
    static let waitsSQL = #"(f."state" <> 2 AND f."blob" IS NOT NULL)"#
}

extension TableLayout {
    /// An SQL condition on a row without an operation: whether it is synced. Evaluate it if the table has its own name
    /// in the statement.
    ///
    /// It is the only definition: the server has stored the object, and has all files that are sent. A file whose bytes
    /// are lost does not count.
    var isSyncedSQL: String { "(\"serverID\" IS NOT NULL AND \(noPendingFilesSQL))" }

    /// An SQL condition: whether the server has all files of a row that are sent.
    var noPendingFilesSQL: String {
        guard sendsFiles else { return "1" }
        return """
            NOT EXISTS (SELECT 1 FROM "__file_uses" u JOIN "__files" f ON f."id" = u."file" \
            WHERE u."table" = \(table.quotedText) AND u."object" = \(quotedTable)."__rid" AND u."sent" = 1 \
            AND \(FileState.waitsSQL))
            """
    }
}

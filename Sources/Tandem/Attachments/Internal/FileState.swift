/// How far a file is on its way to the server, as `__files` keeps it.
enum FileState: Int64 {
    case pending = 0
    case uploading = 1
    case uploaded = 2
    case failed = 3

    /// Why a file that has not been uploaded can't be: its bytes are on no device that is known.
    static let lost = "The file is not on this device, and no server is known to have it."
}

extension FileRow {
    /// Whether it is to be uploaded and can be: the server has it not, and its bytes are here. In SQL it is
    /// ``FileState/waitsSQL``.
    var waits: Bool { state != .uploaded && blob != nil }
}

extension FileState {
    /// Whether a file is to be uploaded and can be: SQL, of a row of `__files` named `f`.
    static let waitsSQL = #"(f."state" <> 2 AND f."blob" IS NOT NULL)"#
}

extension TableLayout {
    /// Whether a row, which has no operation, is synced: SQL, to be evaluated where the table stands under its own name.
    ///
    /// It is the one place that says so: the server knows the object, and has all the files that it is to have. A file
    /// whose bytes are lost holds nothing up.
    var settledSQL: String { "(\"serverID\" IS NOT NULL AND \(filesSettledSQL))" }

    /// Whether the server has all the files of a row that it is to have.
    var filesSettledSQL: String {
        guard sendsFiles else { return "1" }
        return """
            NOT EXISTS (SELECT 1 FROM "__file_uses" u JOIN "__files" f ON f."id" = u."file" \
            WHERE u."table" = \(table.quotedText) AND u."object" = \(quotedTable)."__rid" AND u."sent" = 1 \
            AND \(FileState.waitsSQL))
            """
    }
}

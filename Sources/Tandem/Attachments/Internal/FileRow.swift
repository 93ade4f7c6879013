/// A row of the table `__files`.
struct FileRow {
    var attachment: Attachment
    /// The file's name in the folder; `nil` if it is not on this device.
    var blob: String?
    /// Whether the blob is encrypted.
    var isSealed: Bool
    var state: FileState
    var etag: String?
    /// How much of it the server has.
    var offset: Int64
    var reason: String?
    var attempts: Int64
    var retryAt: Double?

    /// The columns that are read, in this order.
    static let columns = [
        "id", "blob", "sealed", "name", "type", "size", "sha256", "state", "url", "etag", "offset", "reason",
        "attempts",
        "retryAt",
    ].map { "f.\($0.quotedSQL)" }.joined(separator: ", ")

    init(_ row: Statement) throws {
        guard let id = FileID(try row.text(0)), let state = FileState(rawValue: row.integer(7)) else {
            throw InvalidEncoding("a file", .malformed, "its ID or its state is none")
        }
        let digest = try row.optionalText(6)
        let file = Attachment(
            id: id, name: try row.text(3), contentType: try row.text(4), size: row.isNull(5) ? nil : row.integer(5),
            sha256: try digest.map { text in
                guard let digest = FileDigest(hex: text) else {
                    throw InvalidEncoding("a file", .malformed, "its digest is none")
                }
                return digest
            }, serverURL: try row.optionalText(8))
        attachment = file.asSaid
        blob = try row.optionalText(1)
        isSealed = row.integer(2) != 0
        self.state = state
        etag = try row.optionalText(9)
        offset = row.integer(10)
        reason = try row.optionalText(11)
        attempts = row.integer(12)
        retryAt = row.isNull(13) ? nil : row.real(13)
    }
}

extension Attachment {
    /// What somebody has said of a file. Of one that was named by its URL alone a download has measured the rest: there
    /// may be another under that URL by the next one, and it goes back to the server as the URL that it was.
    fileprivate var asSaid: Attachment {
        guard size != nil || sha256 != nil, serverURL != nil else { return self }
        let bare = Attachment(
            id: id, name: name, contentType: contentType, size: nil, sha256: nil, serverURL: serverURL)
        return bare.isPlainURL ? bare : self
    }
}

extension Connection {
    /// What is known of a file, `nil` if nothing.
    func file(_ id: FileID) throws -> FileRow? {
        let statement = try statement("SELECT \(FileRow.columns) FROM \"__files\" f WHERE f.\"id\" = ?")
        statement.bind(1, id.rawValue)
        defer { statement.reset() }
        return try statement.step() ? try FileRow(statement) : nil
    }
}

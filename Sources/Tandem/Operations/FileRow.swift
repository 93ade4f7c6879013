/// A row of the table `__files`.
struct FileRow {
    var attachment: Attachment
    /// The file's name in the folder, or `nil` if the file is not on this device.
    var blob: String?
    /// Whether the blob is encrypted.
    var isSealed: Bool
    var state: FileState
    var etag: String?
    /// The number of bytes that the server has.
    var offset: Int64
    var reason: String?
    var attempts: Int64
    var retryAt: Double?

    /// Whether the file waits for its upload: the server lacks it, and its bytes are here. The SQL form is
    /// ``FileState/waitsSQL``.
    var waits: Bool { state != .uploaded && blob != nil }

    /// The columns that are read, in this order.
    static let columns = [
        "id", "blob", "sealed", "name", "type", "size", "sha256", "state", "url", "etag", "offset", "reason",
        "attempts",
        "retryAt",
    ].map { "f.\($0.quotedSQL)" }.joined(separator: ", ")

    init(_ row: Statement) throws {
        guard let id = FileID(try row.text(0)), let state = FileState(rawValue: row.integer(7)) else {
            throw InvalidEncoding("a file", code: .malformed, problem: "its ID or its state is not valid")
        }
        let digest = try row.optionalText(6)
        let file = Attachment(
            id: id, name: try row.text(3), contentType: try row.text(4), size: row.isNull(5) ? nil : row.integer(5),
            sha256: try digest.map { text in
                guard let digest = FileDigest(hex: text) else {
                    throw InvalidEncoding("a file", code: .malformed, problem: "its digest is not valid")
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
    /// The attachment as the app or the server has described it. If only its URL was given, the other values were
    /// measured by a download. The server may replace the file under that URL, so only the URL is sent back.
    fileprivate var asSaid: Attachment {
        guard size != nil || sha256 != nil, serverURL != nil else { return self }
        let bare = Attachment(
            id: id, name: name, contentType: contentType, size: nil, sha256: nil, serverURL: serverURL)
        return bare.isPlainURL ? bare : self
    }
}

extension Connection {
    /// Returns the row of a file, or `nil` if there is none.
    func file(_ id: FileID) throws -> FileRow? {
        let sql = "SELECT \(FileRow.columns) FROM \"__files\" f WHERE f.\"id\" = ?"
        return try rows(sql, binding: [.text(id.rawValue)], FileRow.init).first
    }
}

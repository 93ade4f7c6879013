import Foundation

/// An object whose row names a file that the server has just acknowledged: the server is to be told of the URL, unless it
/// set it itself.
package struct FileOwner: Hashable, Sendable {
    package let table: String
    package let localID: LocalID
    /// The properties that hold the file, by their names in Swift.
    package let properties: [String]
}

extension WriteTransaction {
    /// Notes that an upload is under way.
    ///
    /// - Parameter offset: How many bytes earlier tries had sent.
    /// - Returns: `false` if the file is not to be uploaded any more: it was replaced, its object is gone, or the server
    ///   has it.
    package func noteUploading(_ id: FileID, offset: Int64) throws -> Bool {
        try checkUsable()
        guard try isPending(id) else { return false }
        try connection.execute(
            #"UPDATE "__files" SET "state" = 1, "offset" = ?, "reason" = NULL, "retryAt" = NULL WHERE "id" = ?"#,
            [.integer(max(0, offset)), .text(id.rawValue)])
        touched.noteFiles()
        return true
    }

    /// The server has the file: it says so in every row that uses it, and the file is cache from now on. No operation is
    /// made of it: what the server has to be told is for the caller to record.
    ///
    /// Once this has been committed the file may be taken off the device: `StoreAttachments.trimCache()`.
    ///
    /// - Parameters:
    ///   - url: Where the server has it.
    ///   - etag: The server's token for what it has.
    /// - Returns: Who uses it; empty if nobody does any more.
    package func acknowledgeUpload(of id: FileID, at url: String, etag: String?) throws -> [FileOwner] {
        try checkUsable()
        guard try connection.file(id) != nil else { return [] }
        return try savepoint {
            try forgetUnwanted(url)
            try connection.execute(
                """
                UPDATE "__files" SET "state" = 2, "url" = ?, "etag" = ?, "offset" = 0, "reason" = NULL, "attempts" = 0, \
                "retryAt" = NULL, "usedAt" = ? WHERE "id" = ?
                """,
                [
                    .text(url), etag.map { .text($0) } ?? .null, .real(now.timeIntervalSinceReferenceDate),
                    .text(id.rawValue),
                ])
            touched.noteFiles()
            var owners: [FileOwner] = []
            for (table, rowID) in try users(of: id) {
                if let owner = try write(url, of: id, into: rowID, of: table) { owners.append(owner) }
            }
            return owners
        }
    }

    /// An upload failed.
    ///
    /// - Parameters:
    ///   - reason: Why, in a sentence.
    ///   - retryAt: When it is to be tried again; `nil` if at once.
    ///   - offset: How many bytes had been sent; `nil` if that is not known.
    package func failUpload(of id: FileID, reason: String, retryAt: Date?, offset: Int64? = nil) throws {
        try checkUsable()
        try connection.execute(
            """
            UPDATE "__files" SET "state" = 3, "reason" = ?, "attempts" = "attempts" + 1, "retryAt" = ?, \
            "offset" = ifnull(?, "offset") WHERE "id" = ? AND "state" <> 2
            """,
            [
                .text(reason), retryAt.map { .real($0.timeIntervalSinceReferenceDate) } ?? .null,
                offset.map { .integer(max(0, $0)) } ?? .null, .text(id.rawValue),
            ])
        touched.noteFiles()
    }

    /// Puts a file that was downloaded in its place.
    ///
    /// - Parameter source: What it was fetched as, and held against.
    /// - Returns: `false` if it goes: nobody uses it any more, it is here already, or the store knows another file by
    ///   that ID by now.
    func install(_ taken: TakenFile, from source: DownloadSource) throws -> Bool {
        try checkUsable()
        guard let row = try connection.file(source.id), row.blob == nil else { return false }
        if let size = row.attachment.size, size != taken.size { return false }
        if let digest = row.attachment.sha256 {
            // What has the right bytes is the file, wherever it came from.
            guard digest.bytes == taken.sha256 else { return false }
        } else {
            guard row.attachment.serverURL == source.url, row.etag == source.etag else { return false }
        }
        try connection.execute(
            """
            UPDATE "__files" SET "blob" = ?, "sealed" = ?, "size" = ?, "sha256" = ?, "usedAt" = ? WHERE "id" = ?
            """,
            [
                .text(taken.blob.rawValue), .integer(taken.isSealed ? 1 : 0), .integer(taken.size),
                .text(FileDigest(taken.sha256)?.hex ?? ""), .real(now.timeIntervalSinceReferenceDate),
                .text(source.id.rawValue),
            ])
        touched.noteFiles()
        return true
    }

    // MARK: -

    func users(of id: FileID) throws -> [(TableLayout, Int64)] {
        let statement = try connection.uncachedStatement(
            #"SELECT "table", "object" FROM "__file_uses" WHERE "file" = ? ORDER BY "table", "object""#)
        statement.bind(1, id.rawValue)
        var users: [(TableLayout, Int64)] = []
        while try statement.step() {
            // The objects of a model that was not given when the store was opened learn of it when they are written.
            if let table = store.schema.table(named: try statement.text(0)) {
                users.append((table, statement.integer(1)))
            }
        }
        statement.reset()
        return users
    }

    private func write(_ url: String, of id: FileID, into rowID: Int64, of table: TableLayout) throws -> FileOwner? {
        var properties: [String] = []
        guard let state = try state(ofRow: rowID, in: table) else { return nil }
        for column in table.attachments {
            let property = table.definition.properties[column.property]
            let value = try connection.value(
                "SELECT \(column.column.quotedSQL) FROM \(table.quotedTable) WHERE \"__rid\" = ?", [.integer(rowID)])
            guard let value, value != .null else { continue }
            let node = try property.node(of: value)
            let nodes: [JSONNode] = if case .array(let nodes) = node { nodes } else { [node] }
            let written = nodes.map { node -> JSONNode in
                guard let attachment = Attachment(__json: node), attachment.id == id else { return node }
                return attachment.at(url).__json
            }
            guard written != nodes else { continue }
            let row = RowBuffer()
            row.append(json: column.isList ? .array(written) : written[0])
            try connection.execute(
                "UPDATE \(table.quotedTable) SET \(column.column.quotedSQL) = ? WHERE \"__rid\" = ?",
                [row.value(at: 0), .integer(rowID)])
            properties.append(property.name)
        }
        // With the last file the object itself may be in step with the server.
        try connection.execute(
            """
            UPDATE \(table.quotedTable) SET "synced" = \(table.settledSQL) WHERE "__rid" = ? AND "deleted" = 0 \
            AND NOT EXISTS (SELECT 1 FROM "__operations" WHERE "table" = \(table.table.quotedText) \
            AND "object" = \(quotedRow(table)))
            """, [.integer(rowID)])
        return FileOwner(table: table.table, localID: state.localID, properties: properties)
    }

    private func quotedRow(_ table: TableLayout) -> String { "\(table.quotedTable).\"__rid\"" }
}

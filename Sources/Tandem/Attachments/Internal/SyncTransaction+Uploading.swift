import Foundation

/// An object whose row names a file that the server has just acknowledged. The URL must be sent to the server, unless
/// the server sets it itself.
package struct FileOwner: Hashable, Sendable {
    package let table: String
    package let localID: LocalID
    /// The properties that contain the file, by their names in Swift.
    package let properties: [String]
}

extension SyncTransaction {
    /// Records that an upload is under way.
    ///
    /// - Parameter offset: The number of bytes that earlier attempts have sent.
    /// - Returns: `false` if the file no longer needs an upload: it was replaced, its object was removed, or the server
    ///   has it.
    package func recordUploading(_ id: FileID, offset: Int64) throws -> Bool {
        try checkUsable()
        guard try isPending(id) else { return false }
        try connection.execute(
            #"UPDATE "__files" SET "state" = 1, "offset" = ?, "reason" = NULL, "retryAt" = NULL WHERE "id" = ?"#,
            binding: [.integer(max(0, offset)), .text(id.rawValue)])
        transaction.touched.recordFiles()
        return true
    }

    /// Records the server URL of an uploaded file in every row that uses it. The local file is then a cache entry. No
    /// operation is queued: the caller records the changes to send.
    ///
    /// After the commit the file may be evicted from the device: `AttachmentStore.trimCache()`.
    ///
    /// - Parameters:
    ///   - url: The file's URL on the server.
    ///   - etag: The server's token for the file.
    /// - Returns: The objects that use the file. Empty if it is no longer used.
    package func acknowledgeUpload(of id: FileID, at url: String, etag: String?) throws -> [FileOwner] {
        try checkUsable()
        guard try connection.file(id) != nil else { return [] }
        return try savepoint {
            try connection.forgetUnwanted(url)
            try connection.execute(
                """
                UPDATE "__files" SET "state" = 2, "url" = ?, "etag" = ?, "offset" = 0, "reason" = NULL, \
                "attempts" = 0, "retryAt" = NULL, "usedAt" = ? WHERE "id" = ?
                """,
                binding: [
                    .text(url), etag.map { .text($0) } ?? .null, .real(transaction.now.timeIntervalSinceReferenceDate),
                    .text(id.rawValue),
                ])
            transaction.touched.recordFiles()
            var owners: [FileOwner] = []
            for (table, rowID) in try users(of: id) {
                if let owner = try write(url, of: id, into: rowID, of: table) { owners.append(owner) }
            }
            return owners
        }
    }

    /// Records that an upload failed.
    ///
    /// - Parameters:
    ///   - reason: The reason, as one sentence.
    ///   - retryAt: The time of the next attempt, or `nil` for at once.
    ///   - offset: The number of bytes sent, or `nil` if unknown.
    package func failUpload(of id: FileID, reason: String, retryAt: Date?, offset: Int64? = nil) throws {
        try checkUsable()
        try connection.execute(
            """
            UPDATE "__files" SET "state" = 3, "reason" = ?, "attempts" = "attempts" + 1, "retryAt" = ?, \
            "offset" = ifnull(?, "offset") WHERE "id" = ? AND "state" <> 2
            """,
            binding: [
                .text(reason), retryAt.map { .real($0.timeIntervalSinceReferenceDate) } ?? .null,
                offset.map { .integer(max(0, $0)) } ?? .null, .text(id.rawValue),
            ])
        transaction.touched.recordFiles()
    }

    // MARK: -

    func users(of id: FileID) throws -> [(TableLayout, Int64)] {
        let users = try connection.rows(
            #"SELECT "table", "object" FROM "__file_uses" WHERE "file" = ? ORDER BY "table", "object""#,
            binding: [.text(id.rawValue)]
        ) { (try $0.text(0), $0.integer(1)) }
        // Objects of a model with which the store was not opened are updated when they are written.
        return users.compactMap { name, row in store.schema.table(named: name).map { ($0, row) } }
    }

    private func write(_ url: String, of id: FileID, into rowID: Int64, of table: TableLayout) throws -> FileOwner? {
        var properties: [String] = []
        guard let state = try state(ofRow: rowID, in: table) else { return nil }
        for column in table.attachments {
            let property = table.definition.properties[column.property]
            let value = try connection.value(
                "SELECT \(column.column.quotedSQL) FROM \(table.quotedTable) WHERE \"__rid\" = ?",
                binding: [.integer(rowID)])
            guard let value, value != .null else { continue }
            let nodes = try property.node(of: value).elements
            let written = nodes.map { node -> JSONNode in
                guard let attachment = Attachment(__json: node), attachment.id == id else { return node }
                return attachment.at(url).__json
            }
            guard written != nodes else { continue }
            let row = RowEncoder()
            row.append(json: column.isList ? .array(written) : written[0])
            try connection.execute(
                "UPDATE \(table.quotedTable) SET \(column.column.quotedSQL) = ? WHERE \"__rid\" = ?",
                binding: [row.value(at: 0), .integer(rowID)])
            properties.append(property.name)
        }
        // With its last file uploaded, the object itself may be synced.
        try connection.execute(
            """
            UPDATE \(table.quotedTable) SET "synced" = \(table.isSyncedSQL) WHERE "__rid" = ? AND "deleted" = 0 \
            AND NOT EXISTS (SELECT 1 FROM "__operations" WHERE "table" = \(table.table.quotedText) \
            AND "object" = \(quotedRow(table)))
            """, binding: [.integer(rowID)])
        return FileOwner(table: table.table, localID: state.localID, properties: properties)
    }

    private func quotedRow(_ table: TableLayout) -> String { "\(table.quotedTable).\"__rid\"" }
}

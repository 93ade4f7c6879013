import Foundation

// The effects of an upload on the queue: the URL must be sent to the server.

extension SyncTransaction {
    /// Records a file's URL in every row that uses it, and queues the updates that send the URL.
    ///
    /// Both are part of one transaction.
    ///
    /// - Parameters:
    ///   - url: The file's URL on the server.
    ///   - etag: The server's token for the file.
    ///   - isSetByServer: Whether the server sets the URL in its objects itself. The URL then only joins queued
    ///     updates, such as that of a file that replaces another one.
    /// - Returns: The operations that send the URL. `nil` if only deleted objects use the file, or none. The file then
    ///   waits until such an object is restored.
    package func finishUpload(
        of id: FileID, at url: String, etag: String?, isSetByServer: Bool
    ) throws -> [PendingOperation.ID]? {
        guard try hasLivingObject(with: id) else { return nil }
        let owners = try acknowledgeUpload(of: id, at: url, etag: etag)
        var operations: [PendingOperation.ID] = []
        for owner in owners {
            guard let table = store.schema.table(named: owner.table), !table.isLocalOnly,
                let state = try state(at: connection.tableStatements(table).find(owner.localID), in: table)
            else { continue }
            let values = try valuesIncludingUnresolved(of: state, in: table)
            let bases = try table.attachments.filter(\.isSent).compactMap { column -> (String, StorageValue)? in
                let property = table.definition.properties[column.property]
                guard owner.properties.contains(property.name) else { return nil }
                let base = try without(id, value: values[column.property], column: column, property: property)
                return (property.column, try withoutPending(base, of: column.property, in: table))
            }
            if isSetByServer {
                let queued = try self.operation(of: state.rowID, in: table)
                guard bases.contains(where: { queued?.base(of: $0.0) != nil }) else { continue }
            }
            if !bases.isEmpty, let operation = try recordURL(state, in: table, bases: PropertyBases(bases)) {
                operations.append(operation)
            }
        }
        return operations
    }

    private func without(
        _ id: FileID, value: StorageValue, column: AttachmentColumn, property: PropertyDefinition
    ) throws -> StorageValue {
        let attachments = try attachments(in: value, of: property)
        guard column.isList || property.isOptional else {
            // It was sent without its URL.
            return storedValue(of: [attachments[0].at(nil)], in: column)
        }
        return storedValue(of: column.isList ? attachments.filter { $0.id != id } : [], in: column)
    }

    /// Leaves a pending file for the next time, as if no attempt had been made.
    ///
    /// - Parameter offset: The number of bytes sent.
    package func requeueUpload(of id: FileID, offset: Int64) throws {
        try checkUsable()
        try connection.execute(
            #"UPDATE "__files" SET "state" = 0, "offset" = ? WHERE "id" = ? AND "state" = 1"#,
            binding: [.integer(max(0, offset)), .text(id.rawValue)])
        transaction.touched.recordFiles()
    }
}

extension ReadTransaction {
    /// Returns whether a file still waits for its upload, for a live object.
    package func isPending(_ id: FileID) throws -> Bool {
        guard try connectionForReading(searching: false).file(id)?.waits == true else { return false }
        return try hasLivingObject(with: id)
    }

    /// Returns whether a live object has a file that is sent.
    func hasLivingObject(with id: FileID) throws -> Bool {
        let connection = try connectionForReading(searching: false)
        return try store.schema.tables.contains { table in
            guard table.sendsFiles else { return false }
            return try connection.value(
                """
                SELECT 1 FROM "__file_uses" u JOIN \(table.quotedTable) t ON t."__rid" = u."object" \
                WHERE u."file" = ? AND u."table" = ? AND u."sent" = 1 AND t."deleted" = 0
                """, binding: [.text(id.rawValue), .text(table.table)]) != nil
        }
    }

    /// Returns the server's token for a file, if it was uploaded from here.
    package func etag(of id: FileID) throws -> String? {
        try connectionForReading(searching: false).file(id)?.etag
    }

    /// Returns the number of pending files of synced models, in one table or in all. Files of objects without a server
    /// ID count too.
    package func countOfPendingFiles(in table: String? = nil) throws -> Int {
        guard store.schema.tables.contains(where: \.sendsFiles) else { return 0 }
        return try connectionForReading(searching: false).count(
            """
            SELECT count(DISTINCT f."id") FROM "__files" f JOIN "__file_uses" u ON u."file" = f."id" AND u."sent" = 1 \
            WHERE \(FileState.waitsSQL) AND (?1 IS NULL OR u."table" = ?1)
            """, binding: [table.map { .text($0) } ?? .null])
    }

    /// Returns the number of an object's pending files, and the last error of the first failed one.
    package func pendingFiles(
        of localID: LocalID, in table: String
    ) throws -> (count: Int, reason: String?) {
        guard let layout = store.schema.table(named: table), layout.sendsFiles else { return (0, nil) }
        return try connectionForReading(searching: false).rows(
            """
            SELECT count(*), min(f."reason") FROM "__files" f \
            JOIN "__file_uses" u ON u."file" = f."id" AND u."sent" = 1 AND u."table" = ? \
            JOIN \(layout.quotedTable) t ON t."__rid" = u."object" \
            WHERE t."localID" = ? AND \(FileState.waitsSQL)
            """, binding: [.text(table), .text(localID.rawValue)]
        ) { (Int($0.integer(0)), try $0.optionalText(1)) }.first ?? (0, nil)
    }
}

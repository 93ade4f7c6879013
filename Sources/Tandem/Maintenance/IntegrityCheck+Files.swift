extension IntegrityCheck {
    /// Checks that the recorded uses match the rows, and that each used file is known. Each file on this device must
    /// exist in the folder, with the right length.
    func checkFiles() throws {
        guard schema.hasAttachments else { return }
        for table in schema.tables { try checkUses(of: table) }
        try each(
            """
            SELECT DISTINCT u."file" FROM "__file_uses" u LEFT JOIN "__files" f ON f."id" = u."file" \
            WHERE f."id" IS NULL
            """
        ) { report("The file \(try $0.text(0)) is used, but the store does not know it.") }
        try each(
            """
            SELECT "id" FROM "__files" WHERE "id" NOT IN (SELECT "file" FROM "__file_uses") \
            AND "id" NOT IN (SELECT "file" FROM "__file_garbage")
            """
        ) { report("The file \(try $0.text(0)) is stored, but no object uses it.") }
        var blobs: Set<BlobName> = []
        try each("SELECT \(FileRow.columns) FROM \"__files\" f") { row in
            let file: FileRow
            do {
                file = try FileRow(row)
            } catch {
                return report("The row of the file \(try row.text(0)) can't be read: \(error)")
            }
            let name = "The file \(file.attachment.id)"
            if file.state == .uploaded, file.attachment.serverURL == nil {
                report("\(name) is uploaded, but its URL is missing.")
            }
            if file.blob == nil, file.state == .pending || file.state == .uploading {
                report("\(name) waits for its upload, but is not on this device.")
            }
            guard let text = file.blob else { return }
            guard let blob = BlobName(text) else { return report("\(name) has a blob name that is not valid.") }
            blobs.insert(blob)
            check(file, blob: blob, name: name)
        }
        try each(#"SELECT "blob" FROM "__file_leftovers""#) { row in
            guard let blob = BlobName(try row.text(0)) else { return }
            if !blobs.insert(blob).inserted { report("The file \(blob) is left over, but a row names it.") }
        }
        try each(
            """
            SELECT "file" FROM "__file_uploads" WHERE "file" NOT IN (SELECT "id" FROM "__files" WHERE "state" <> 2)
            """
        ) { report("The file \(try $0.text(0)) has an upload record, but does not wait for its upload.") }
        try checkFolder(naming: blobs)
    }

    private func checkUses(of table: TableLayout) throws {
        guard let uses = FileUses(table.definition) else { return }
        var expected: [String: Bool] = [:]
        for column in uses.columns.reversed() {
            let value = "t.\(column.column.quotedSQL)"
            let select =
                column.isList
                ? "SELECT json_extract(e.value, '$.id'), t.\"__rid\" FROM \(table.quotedTable) t, json_each(\(value)) e"
                : """
                SELECT json_extract(\(value), '$.id'), t."__rid" FROM \(table.quotedTable) t WHERE \(value) IS NOT NULL
                """
            try each(select) { expected["\(try $0.text(0)) in row \($0.integer(1))"] = column.isSent }
        }
        var kept: [String: Bool] = [:]
        try each(
            #"SELECT "file", "object", "sent" FROM "__file_uses" WHERE "table" = ?"#, binding: [.text(table.table)]
        ) {
            kept["\(try $0.text(0)) in row \($0.integer(1))"] = $0.integer(2) != 0
        }
        for use in Set(expected.keys).union(kept.keys).sorted() where expected[use] != kept[use] {
            report("The recorded uses of files do not match the \(table.definition.name)s: \(use).")
        }
    }

    private func check(_ file: FileRow, blob: BlobName, name: String) {
        guard let folder = try? store?.fileFolder() else { return }
        do {
            let reading = try folder.open(blob, sealed: file.isSealed)
            if let size = file.attachment.size, reading.size != size {
                report("\(name) has \(reading.size) bytes, but should have \(size).")
            }
            if file.isSealed != (store?.isEncrypted == true) {
                report("\(name) is\(file.isSealed ? "" : " not") encrypted, unlike the store.")
            }
        } catch {
            report("\(name) can't be read: \(error)")
        }
    }

    /// Checks that each file in the folder is known.
    ///
    /// A known file is named by a row, left over, or an uncommitted draft of this process. Drafts of other processes
    /// are unknown, and are reported.
    private func checkFolder(naming blobs: Set<BlobName>) throws {
        guard let store, let folder = try? store.fileFolder() else { return }
        try folder.eachBlob { blob in
            if !blobs.contains(blob), !store.files.isDraft(blob) { report("No object names the file \(blob).") }
        }
    }
}

extension FileFolder {
    /// Calls `body` with the names of all complete files.
    func eachBlob(_ body: (BlobName) throws -> Void) throws {
        for number in 0..<256 {
            let shard = String(String(256 + number, radix: 16).suffix(2))
            guard let blob = BlobName(shard + String(repeating: "0", count: 30)),
                let folder = try? self.shard(of: blob, making: false)
            else { continue }
            try folder.eachName { entry in
                if let blob = BlobName(entry), blob.shard == shard { try body(blob) }
            }
        }
    }
}

extension WriteTransaction {
    /// Sees to it that the store has what a row's attachments name, and that the row says of each what the store knows: an
    /// app may write a value that it read before the server acknowledged the file.
    ///
    /// - Parameters:
    ///   - only: The properties that are written; all if `nil`.
    ///   - stored: The row as it is: what it holds already is not looked at.
    /// - Throws: ``TandemError/Code/unknownAttachment``.
    func admitAttachments(
        _ row: RowBuffer, _ table: TableLayout, only: Set<Int>? = nil, over stored: RowReader? = nil
    ) throws {
        for column in table.attachments {
            if let only, !only.contains(column.property) { continue }
            guard !row.isNull(column.property) else { continue }
            if let stored, row.equals(column.property, stored, table.column(column.property)) { continue }
            let property = table.definition.properties[column.property]
            let node = try property.node(of: row.value(at: column.property))
            let nodes = Self.nodes(of: node)
            // By whom it is used besides is asked for where a server says that it is another file.
            let before = try stored.map { stored in
                let place = table.column(column.property)
                return stored.isNull(place) ? [] : try Self.nodes(of: stored.json(place))
            }
            let own = Set((before ?? []).compactMap { Attachment(__json: $0)?.id })
            var admitted: [JSONNode] = []
            for node in nodes {
                guard let attachment = Attachment(__json: node) else {
                    throw InvalidEncoding("an attachment", .malformed, "it is none")
                }
                let isOwn = own.contains(attachment.id)
                admitted.append(try admit(attachment, row, property, table, isOwn: isOwn).__json)
            }
            guard admitted != nodes else { continue }
            row.replace(column.property) { $0.append(json: column.isList ? .array(admitted) : admitted[0]) }
            hasRewrittenLinks = true
        }
    }

    /// What the row is to say of a file.
    private func admit(
        _ attachment: Attachment, _ row: RowBuffer, _ property: PropertyDefinition, _ table: TableLayout, isOwn: Bool
    ) throws -> Attachment {
        if let known = try connection.file(attachment.id) {
            if origin == .server { return try admit(serverWord: attachment, of: known, isOwn: isOwn) }
            // Of what the server has, the store knows best: a value may be older than the server's last word.
            if known.state != .uploaded, known.attachment.differs(from: attachment) {
                throw unknown(attachment, property, table, "it is not the file that the store has by its ID")
            }
            return known.attachment
        }
        let held = row.drafts.first { $0.id == attachment.id } ?? store.files.draft(attachment.id)
        if let draft = held, draft.belongs(to: store.files), !draft.isAdopted {
            if draft.attachment.differs(from: attachment) {
                throw unknown(attachment, property, table, "it is not the file that the store has by its ID")
            }
            try insertFile(draft.attachment, blob: draft.blob.rawValue, isSealed: draft.isSealed, .pending)
            files.drafts[draft.id] = draft
            return draft.attachment
        }
        if attachment.serverURL != nil {
            try insertFile(attachment, blob: nil, isSealed: false, .uploaded)
            return attachment
        }
        // What a server says, and what an operation that is taken back had kept, may name a file that has gone.
        if origin == .server {
            try insertFile(attachment, blob: nil, isSealed: false, .failed, reason: FileState.lost)
            return attachment
        }
        throw unknown(
            attachment, property, table, "this store has no such file: it is another's, or its last object is gone")
    }

    /// What the row is to say of a file that is known here, and of which a server says something.
    ///
    /// What waits to be uploaded is known here alone, and stays as it is. Of all else the server has the last word: where
    /// the file is, and which one.
    ///
    /// - Parameter isOwn: Whether the row has it already.
    private func admit(serverWord said: Attachment, of known: FileRow, isOwn: Bool) throws -> Attachment {
        guard let url = said.serverURL else { return known.attachment }
        if known.waits {
            try connection.execute(SentFiles.leaveToOthers, [.text(said.id.rawValue)])
            return known.attachment
        }
        // Nothing but its address tells which file it is, where no hash is known.
        let isElsewhere = url != known.attachment.serverURL
        let isOther = known.attachment.differs(from: said) || known.attachment.sha256 == nil && isElsewhere
        // Who may write one object must not put another file into others that share this one.
        if isOther, known.attachment.serverURL != nil, try isUsed(said.id, besides: isOwn ? 1 : 0) {
            return known.attachment
        }
        let now = Attachment(
            id: said.id, name: said.name, contentType: said.contentType,
            size: said.size ?? (isOther ? nil : known.attachment.size),
            sha256: said.sha256 ?? (isOther ? nil : known.attachment.sha256), serverURL: url)
        guard now != known.attachment || known.state != .uploaded else { return now }
        let isMoved = isOther || isElsewhere
        // The bytes that are here are those of another file then.
        try connection.execute(
            """
            UPDATE "__files" SET "name" = ?, "type" = ?, "size" = ?, "sha256" = ?, "url" = ?, "state" = 2, \
            "reason" = NULL, "attempts" = 0, "retryAt" = NULL, "etag" = CASE WHEN ? THEN NULL ELSE "etag" END, \
            "blob" = CASE WHEN ? THEN NULL ELSE "blob" END, "sealed" = CASE WHEN ? THEN 0 ELSE "sealed" END \
            WHERE "id" = ?
            """,
            [
                .text(now.name), .text(now.contentType), now.size.map { .integer($0) } ?? .null,
                now.sha256.map { .text($0.hex) } ?? .null, .text(url), .integer(isMoved ? 1 : 0),
                .integer(isOther ? 1 : 0), .integer(isOther ? 1 : 0), .text(said.id.rawValue),
            ])
        touched.noteFiles()
        if isMoved { try forgetUnwanted(url) }
        return now
    }

    /// Whether a file has more uses than so many.
    private func isUsed(_ id: FileID, besides count: Int64) throws -> Bool {
        try connection.value(
            #"SELECT 1 FROM "__file_uses" WHERE "file" = ? LIMIT 1 OFFSET ?"#, [.text(id.rawValue), .integer(count)])
            != nil
    }

    private static func nodes(of node: JSONNode) -> [JSONNode] {
        if case .array(let nodes) = node { nodes } else { [node] }
    }

    private func insertFile(
        _ attachment: Attachment, blob: String?, isSealed: Bool, _ state: FileState, reason: String? = nil
    ) throws {
        files.admitted.insert(attachment.id)
        // Somebody needs it after all.
        if let url = attachment.serverURL { try forgetUnwanted(url) }
        try connection.execute(
            """
            INSERT INTO "__files" ("id", "blob", "sealed", "name", "type", "size", "sha256", "state", "url", "reason", \
            "usedAt") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                .text(attachment.id.rawValue), blob.map { .text($0) } ?? .null, .integer(isSealed ? 1 : 0),
                .text(attachment.name), .text(attachment.contentType), attachment.size.map { .integer($0) } ?? .null,
                attachment.sha256.map { .text($0.hex) } ?? .null, .integer(state.rawValue),
                attachment.serverURL.map { .text($0) } ?? .null, reason.map { .text($0) } ?? .null,
                .real(now.timeIntervalSinceReferenceDate),
            ])
    }

    private func unknown(
        _ attachment: Attachment, _ property: PropertyDefinition, _ table: TableLayout, _ reason: String
    ) -> TandemError {
        TandemError(
            .unknownAttachment, "The attachment \(attachment.id) can't be written: \(reason).",
            advice: "Add the file to this store: store.attachments.add.", store: store.path,
            model: table.definition.name, property: property.name)
    }

    /// Whether a row, which has no operation, is synced as far as its files are concerned.
    func areFilesSettled(_ rowID: Int64, _ table: TableLayout) throws -> Bool {
        guard table.sendsFiles else { return true }
        return try connection.value(
            "SELECT \(table.filesSettledSQL) FROM \(table.quotedTable) WHERE \"__rid\" = ?", [.integer(rowID)])
            == .integer(1)
    }
}

extension Attachment {
    /// Whether both can't be of one file.
    func differs(from other: Attachment) -> Bool {
        func differ<T: Equatable>(_ lhs: T?, _ rhs: T?) -> Bool {
            guard let lhs, let rhs else { return false }
            return lhs != rhs
        }
        return differ(size, other.size) || differ(sha256, other.sha256)
    }

    /// The same, with what keeps its file.
    func kept(by draft: AttachmentDraft) -> Attachment {
        Attachment(
            id: id, name: name, contentType: contentType, size: size, sha256: sha256, serverURL: serverURL, draft: draft
        )
    }

    /// The same, where the server has it.
    func at(_ url: String?) -> Attachment {
        Attachment(
            id: id, name: name, contentType: contentType, size: size, sha256: sha256, serverURL: url, draft: draft)
    }
}

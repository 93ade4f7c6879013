extension WriteTransaction {
    /// Checks that the store has the files of a row's attachments, and updates the row with the store's values. An app
    /// may write a value that it read before the server acknowledged the file.
    ///
    /// - Parameters:
    ///   - only: The properties that are written, or `nil` for all.
    ///   - stored: The existing row. Attachments that it already contains are not checked.
    ///   - source: The source of the values.
    /// - Throws: ``TandemError/Code/unknownAttachment``.
    func registerAttachments(
        _ row: RowEncoder, in table: TableLayout, only: Set<Int>?, over stored: RowDecoder?, from source: RowSource
    ) throws {
        for column in table.attachments {
            if let only, !only.contains(column.property) { continue }
            guard !row.isNull(column.property) else { continue }
            if let stored, row.equals(column.property, row: stored, column: table.column(column.property)) { continue }
            let property = table.definition.properties[column.property]
            let node = try property.node(of: row.value(at: column.property))
            let nodes = Self.nodes(of: node)
            // Other uses are looked up only if a server names a different file.
            let before = try stored.map { stored in
                let place = table.column(column.property)
                return stored.isNull(place) ? [] : try Self.nodes(of: stored.json(place))
            }
            let own = Set((before ?? []).compactMap { Attachment(__json: $0)?.id })
            var admitted: [JSONNode] = []
            for node in nodes {
                guard let attachment = Attachment(__json: node) else {
                    throw InvalidEncoding("an attachment", code: .malformed, problem: "it is not valid")
                }
                let isOwn = own.contains(attachment.id)
                let stored = try admit(
                    attachment, row: row, property: property, in: table, isOwn: isOwn, from: source)
                admitted.append(stored.__json)
            }
            guard admitted != nodes else { continue }
            row.replace(column.property) { $0.append(json: column.isList ? .array(admitted) : admitted[0]) }
            hasRewrittenLinks = true
        }
    }

    /// Returns the attachment that the row is to contain.
    private func admit(
        _ attachment: Attachment, row: RowEncoder, property: PropertyDefinition, in table: TableLayout, isOwn: Bool,
        from source: RowSource
    ) throws -> Attachment {
        if let known = try connection.file(attachment.id) {
            if source == .server { return try admit(serverWord: attachment, of: known, isOwn: isOwn) }
            // For uploaded files the store's values count: the given value may be older than the server's last item.
            if known.state != .uploaded, known.attachment.differs(from: attachment) {
                throw unknown(
                    attachment, property: property, in: table, reason: "it is not the file that the store has by its ID"
                )
            }
            return known.attachment
        }
        let held =
            row.retainers.lazy.compactMap { $0 as? AttachmentDraft }.first { $0.id == attachment.id }
            ?? store.files.draft(attachment.id)
        if let draft = held, draft.belongs(to: store.files), !draft.isAdopted {
            if draft.attachment.differs(from: attachment) {
                throw unknown(
                    attachment, property: property, in: table, reason: "it is not the file that the store has by its ID"
                )
            }
            try insertFile(draft.attachment, blob: draft.blob.rawValue, isSealed: draft.isSealed, state: .pending)
            files.drafts[draft.id] = draft
            return draft.attachment
        }
        if attachment.serverURL != nil {
            try insertFile(attachment, blob: nil, isSealed: false, state: .uploaded)
            return attachment
        }
        // A server's item, and the base of a discarded operation, may name a file that was removed.
        if source == .server {
            try insertFile(attachment, blob: nil, isSealed: false, state: .failed, reason: FileState.lost)
            return attachment
        }
        throw unknown(
            attachment, property: property, in: table,
            reason: "this store has no such file: it belongs to another store, or its last object was removed")
    }

    /// Returns the attachment that the row is to contain, for a known file that a server's item describes.
    ///
    /// A file that waits for its upload exists only here, and does not change. For all others the server's item decides
    /// the URL and the content.
    ///
    /// - Parameter isOwn: Whether the row already contains it.
    private func admit(serverWord said: Attachment, of known: FileRow, isOwn: Bool) throws -> Attachment {
        guard let url = said.serverURL else { return known.attachment }
        if known.waits {
            try connection.execute(UploadOwnershipSQL.leaveToOthers, binding: [.text(said.id.rawValue)])
            return known.attachment
        }
        // If the hash is unknown, only the URL identifies the file.
        let isElsewhere = url != known.attachment.serverURL
        let isOther = known.attachment.differs(from: said) || known.attachment.sha256 == nil && isElsewhere
        // A client with access to one object must not replace a file that other objects share.
        if isOther, known.attachment.serverURL != nil, try isUsed(said.id, besides: isOwn ? 1 : 0) {
            return known.attachment
        }
        let now = Attachment(
            id: said.id, name: said.name, contentType: said.contentType,
            size: said.size ?? (isOther ? nil : known.attachment.size),
            sha256: said.sha256 ?? (isOther ? nil : known.attachment.sha256), serverURL: url)
        guard now != known.attachment || known.state != .uploaded else { return now }
        let isMoved = isOther || isElsewhere
        // The local bytes then belong to another file.
        try connection.execute(
            """
            UPDATE "__files" SET "name" = ?, "type" = ?, "size" = ?, "sha256" = ?, "url" = ?, "state" = 2, \
            "reason" = NULL, "attempts" = 0, "retryAt" = NULL, "etag" = CASE WHEN ? THEN NULL ELSE "etag" END, \
            "blob" = CASE WHEN ? THEN NULL ELSE "blob" END, "sealed" = CASE WHEN ? THEN 0 ELSE "sealed" END \
            WHERE "id" = ?
            """,
            binding: [
                .text(now.name), .text(now.contentType), now.size.map { .integer($0) } ?? .null,
                now.sha256.map { .text($0.hex) } ?? .null, .text(url), .integer(isMoved ? 1 : 0),
                .integer(isOther ? 1 : 0), .integer(isOther ? 1 : 0), .text(said.id.rawValue),
            ])
        touched.recordFiles()
        if isMoved { try connection.forgetUnwanted(url) }
        return now
    }

    /// Returns whether a file has more than `count` uses.
    private func isUsed(_ id: FileID, besides count: Int64) throws -> Bool {
        try connection.value(
            #"SELECT 1 FROM "__file_uses" WHERE "file" = ? LIMIT 1 OFFSET ?"#,
            binding: [.text(id.rawValue), .integer(count)])
            != nil
    }

    private static func nodes(of node: JSONNode) -> [JSONNode] {
        if case .array(let nodes) = node { nodes } else { [node] }
    }

    private func insertFile(
        _ attachment: Attachment, blob: String?, isSealed: Bool, state: FileState, reason: String? = nil
    ) throws {
        files.admitted.insert(attachment.id)
        // The file is needed again.
        if let url = attachment.serverURL { try connection.forgetUnwanted(url) }
        try connection.execute(
            """
            INSERT INTO "__files" ("id", "blob", "sealed", "name", "type", "size", "sha256", "state", "url", "reason", \
            "usedAt") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            binding: [
                .text(attachment.id.rawValue), blob.map { .text($0) } ?? .null, .integer(isSealed ? 1 : 0),
                .text(attachment.name), .text(attachment.contentType), attachment.size.map { .integer($0) } ?? .null,
                attachment.sha256.map { .text($0.hex) } ?? .null, .integer(state.rawValue),
                attachment.serverURL.map { .text($0) } ?? .null, reason.map { .text($0) } ?? .null,
                .real(now.timeIntervalSinceReferenceDate),
            ])
    }

    private func unknown(
        _ attachment: Attachment, property: PropertyDefinition, in table: TableLayout, reason: String
    ) -> TandemError {
        TandemError(
            .unknownAttachment, message: "The attachment \(attachment.id) can't be written: \(reason).",
            advice: "Add the file to this store: store.attachments.add.", store: store.path,
            model: table.definition.name, property: property.name)
    }
}

extension Attachment {
    /// Returns whether the two values can't describe the same file.
    func differs(from other: Attachment) -> Bool {
        func differ<T: Equatable>(_ lhs: T?, _ rhs: T?) -> Bool {
            guard let lhs, let rhs else { return false }
            return lhs != rhs
        }
        return differ(size, other.size) || differ(sha256, other.sha256)
    }

    /// The draft that retains the file until the value is committed for the first time.
    var draft: AttachmentDraft? { retainer as? AttachmentDraft }

    /// Returns a copy with the draft that retains its file.
    func retained(by draft: AttachmentDraft) -> Attachment {
        Attachment(
            id: id, name: name, contentType: contentType, size: size, sha256: sha256, serverURL: serverURL,
            retainer: draft)
    }

    /// Returns a copy with a server URL.
    func at(_ url: String?) -> Attachment {
        Attachment(
            id: id, name: name, contentType: contentType, size: size, sha256: sha256, serverURL: url,
            retainer: retainer)
    }
}

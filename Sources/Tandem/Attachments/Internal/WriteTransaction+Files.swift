import Foundation

/// The effects of a write transaction on files, until its commit.
struct TouchedFiles {
    /// The drafts that it has written.
    var drafts: [FileID: AttachmentDraft] = [:]
    /// The files that it has registered.
    var admitted: Set<FileID> = []
}

extension WriteTransaction {
    /// Ends the transaction, and releases the files that no object uses any more.
    ///
    /// Their rows are removed in the transaction, and their blobs after it: see ``FileCollecting``.
    func committingFiles<T>(_ commit: () throws -> T) throws -> T {
        guard store.schema.hasAttachments else { return try commit() }
        try connection.note(uses: store.files.takeUses())
        let adopted = try settleAdmitted()
        let removed = store.files.removed
        try connection.strikeLeftovers(removed)
        if try connection.value(FileGarbage.hasAny) != nil {
            try connection.execute(FileGarbage.keepUsed)
            try connection.execute(FileGarbage.forgetFiles)
            try connection.execute(FileGarbage.empty)
            touched.noteFiles()
        }
        let hasLeftovers = try connection.value(FileGarbage.hasLeftovers) != nil
        let result = try commit()
        for draft in adopted { draft.adopt() }
        store.files.didStrike(removed)
        if hasLeftovers { store.collectFiles() }
        return result
    }

    /// Removes files that were registered for a row that was then not written, or was removed.
    ///
    /// - Returns: The drafts whose files rows now own.
    private func settleAdmitted() throws -> [AttachmentDraft] {
        var adopted: [AttachmentDraft] = []
        for id in files.admitted {
            let isUsed = try connection.value(
                #"SELECT 1 FROM "__file_uses" WHERE "file" = ? LIMIT 1"#, [.text(id.rawValue)])
            if isUsed == nil {
                try connection.execute(#"DELETE FROM "__files" WHERE "id" = ?"#, [.text(id.rawValue)])
                try connection.execute(#"DELETE FROM "__file_garbage" WHERE "file" = ?"#, [.text(id.rawValue)])
                // The draft retains its file.
                if let draft = files.drafts[id] { try connection.strikeLeftovers([draft.blob.rawValue]) }
            } else if let draft = files.drafts[id] {
                adopted.append(draft)
            }
        }
        return adopted
    }
}

extension Connection {
    /// Stores the times of the last reads of files.
    func note(uses: [FileID: Date]) throws {
        for (id, date) in uses {
            try execute(
                #"UPDATE "__files" SET "usedAt" = ? WHERE "id" = ?"#,
                [.real(date.timeIntervalSinceReferenceDate), .text(id.rawValue)])
        }
    }
}

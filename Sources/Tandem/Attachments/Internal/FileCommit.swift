/// The files' part in a write transaction: it releases the files that no object uses any more.
///
/// Their rows are removed in the transaction, and their blobs after it: see ``BlobGarbageCollector``.
struct FileCommit: CommitParticipant {
    func prepare(_ transaction: WriteTransaction) throws {
        let (store, connection) = (transaction.store, transaction.connection)
        guard store.schema.hasAttachments else { return }
        try connection.record(uses: store.files.drainUses())
        let files = transaction.files
        files.adopted = try confirmRegistered(transaction)
        let removed = store.files.removed
        try connection.strikeLeftovers(removed)
        files.removed = removed
        if try connection.value(FileGarbage.hasAny) != nil {
            try connection.execute(FileGarbage.keepUsed)
            try connection.execute(FileGarbage.forgetFiles)
            try connection.execute(FileGarbage.empty)
            transaction.touched.recordFiles()
        }
        files.hasLeftovers = try connection.value(FileGarbage.hasLeftovers) != nil
    }

    func didCommit(_ transaction: WriteTransaction) {
        let store = transaction.store
        guard store.schema.hasAttachments else { return }
        let files = transaction.files
        for draft in files.adopted { draft.adopt() }
        store.files.didStrike(files.removed)
        if files.hasLeftovers { store.collectFiles() }
    }

    func end(_ transaction: WriteTransaction) {
        // Release the drafts of uncommitted files with the transaction.
        transaction.connection.row.retainers = []
    }

    /// Removes files that were registered for a row that was then not written, or was removed.
    ///
    /// - Returns: The drafts whose files rows now own.
    private func confirmRegistered(_ transaction: WriteTransaction) throws -> [AttachmentDraft] {
        let (connection, files) = (transaction.connection, transaction.files)
        var adopted: [AttachmentDraft] = []
        for id in files.admitted {
            let isUsed = try connection.value(
                #"SELECT 1 FROM "__file_uses" WHERE "file" = ? LIMIT 1"#, binding: [.text(id.rawValue)])
            if isUsed == nil {
                try connection.execute(#"DELETE FROM "__files" WHERE "id" = ?"#, binding: [.text(id.rawValue)])
                try connection.execute(#"DELETE FROM "__file_garbage" WHERE "file" = ?"#, binding: [.text(id.rawValue)])
                // The draft retains its file.
                if let draft = files.drafts[id] { try connection.strikeLeftovers([draft.blob.rawValue]) }
            } else if let draft = files.drafts[id] {
                adopted.append(draft)
            }
        }
        return adopted
    }
}

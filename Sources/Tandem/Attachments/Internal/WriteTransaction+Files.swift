import Foundation

/// What a write transaction did to files, until it is committed.
struct TouchedFiles {
    /// The drafts that it has written.
    var drafts: [FileID: AttachmentDraft] = [:]
    /// The files that it has made known.
    var admitted: Set<FileID> = []
    /// The blobs that rows named and name no more.
    var freed: [BlobName] = []
}

extension WriteTransaction {
    /// Ends the transaction, and lets go of the files that no object uses any more.
    ///
    /// They leave the tables in the transaction, and the disk after it: what a crash leaves between is swept at the next
    /// opening. While a backup copies files they stay, for the next write.
    func committingFiles<T>(_ commit: () throws -> T) throws -> T {
        guard store.schema.hasAttachments else { return try commit() }
        try connection.note(uses: store.files.takeUses())
        let adopted = try settleAdmitted()
        func end() throws -> T {
            let result = try commit()
            for draft in adopted { draft.adopt() }
            return result
        }
        let hasGarbage = try connection.value("SELECT 1 FROM \"__file_garbage\" LIMIT 1") != nil
        guard hasGarbage || !files.freed.isEmpty, let folder = try? store.fileFolder() else { return try end() }
        // What the block throws is the transaction's; what the lock throws is no reason to refuse a write.
        var outcome: Result<T, any Error>?
        _ = try? folder.tryCollecting {
            outcome = Result {
                let blobs = try forgetGarbage()
                let result = try end()
                // Files must not go before the commit is on the disk: a power cut would bring their rows back.
                if blobs.isEmpty || flushedLog() { store.files.remove(blobs) }
                return result
            }
        }
        guard let outcome else { return try end() }
        return try outcome.get()
    }

    /// Takes what nobody uses out of the tables.
    ///
    /// - Returns: The blobs that are to go after the commit.
    private func forgetGarbage() throws -> [BlobName] {
        try connection.execute(FileGarbage.keepUsed)
        var blobs: [BlobName] = []
        let statement = try connection.statement(FileGarbage.blobs)
        while try statement.step() {
            if let blob = BlobName(try statement.text(0)) { blobs.append(blob) }
        }
        statement.reset()
        try connection.execute(FileGarbage.forgetFiles)
        try connection.execute(FileGarbage.empty)
        for blob in files.freed
        // What freed it may have been undone.
        where try connection.value(#"SELECT 1 FROM "__files" WHERE "blob" = ?"#, [.text(blob.rawValue)]) == nil {
            blobs.append(blob)
        }
        return blobs
    }

    private func flushedLog() -> Bool {
        guard store.readers != nil, store.configuration.durability == .process else { return true }
        return (try? StoreFile.flush(store.path + "-wal")) != nil
    }

    /// Forgets the files that were made known for a row which was then not written, or not kept.
    ///
    /// - Returns: The drafts that rows look after from now on.
    private func settleAdmitted() throws -> [AttachmentDraft] {
        var adopted: [AttachmentDraft] = []
        for id in files.admitted {
            let isUsed = try connection.value(
                #"SELECT 1 FROM "__file_uses" WHERE "file" = ? LIMIT 1"#, [.text(id.rawValue)])
            if isUsed == nil {
                try connection.execute(#"DELETE FROM "__files" WHERE "id" = ?"#, [.text(id.rawValue)])
                try connection.execute(#"DELETE FROM "__file_garbage" WHERE "file" = ?"#, [.text(id.rawValue)])
            } else if let draft = files.drafts[id] {
                adopted.append(draft)
            }
        }
        return adopted
    }
}

extension Connection {
    /// Writes down when files were read last.
    func note(uses: [FileID: Date]) throws {
        for (id, date) in uses {
            try execute(
                #"UPDATE "__files" SET "usedAt" = ? WHERE "id" = ?"#,
                [.real(date.timeIntervalSinceReferenceDate), .text(id.rawValue)])
        }
    }
}

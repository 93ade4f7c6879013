// The files that may have reached the server without a record here: their upload was begun, and has no response yet. If
// such a file is removed from the store, it must be deleted there. A trigger on `__files` queues that, so that it
// happens on every removal, and after kill -9 too.

/// The record of a file's server URL before its upload sends the first byte.
package enum UploadRecord: Sendable {
    /// There was no record: no upload from here has sent any of it.
    case first
    /// An earlier upload may have stored it there, and has had no response.
    case again
    /// Others may know the file. The store is a copy, and its original may have sent the file, or a server has named
    /// its URL. This store must not delete it.
    case known
}

extension SyncTransaction {
    /// Records the future URL of a file, before its first byte is sent.
    ///
    /// - Returns: The earlier record, or `nil` if the file no longer needs an upload.
    package func recordUpload(_ id: FileID, to url: String) throws -> UploadRecord? {
        try checkUsable()
        guard try isPending(id) else { return nil }
        let known = try connection.value(
            #"SELECT "url" FROM "__file_uploads" WHERE "file" = ?"#, binding: [.text(id.rawValue)])
        switch known {
        case nil:
            try connection.execute(
                #"INSERT INTO "__file_uploads" ("file", "url") VALUES (?, ?)"#,
                binding: [.text(id.rawValue), .text(url)])
            return .first
        case .null?: return .known
        case let other?:
            // A file that an earlier attempt left at another URL stays: it may be the same file by another name.
            if other != .text(url) {
                try connection.execute(
                    #"UPDATE "__file_uploads" SET "url" = ? WHERE "file" = ?"#,
                    binding: [.text(url), .text(id.rawValue)])
            }
            return .again
        }
    }

    /// Removes the record of a file's URL. Nothing was sent, or the file there is not this store's, or its deletion is
    /// queued. The record that others may know the file stays.
    ///
    /// - Parameter url: The URL at which nothing is to be deleted, even if the file was removed meanwhile.
    package func forgetSending(_ id: FileID, to url: String? = nil) throws {
        try checkUsable()
        let isNoted =
            try connection.value(#"SELECT 1 FROM "__file_uploads" WHERE "file" = ?"#, binding: [.text(id.rawValue)])
            != nil
        if isNoted {
            try connection.execute(
                #"DELETE FROM "__file_uploads" WHERE "file" = ? AND "url" IS NOT NULL"#, binding: [.text(id.rawValue)])
        } else if let url {
            try connection.execute(
                #"DELETE FROM "__file_deletions" WHERE "url" = ? AND "arriving" = 1"#, binding: [.text(url)])
        }
    }
}

extension ReadTransaction {
    /// Returns whether others may know a pending file, so that this store must not delete it.
    package func isKnownToOthers(_ id: FileID) throws -> Bool {
        try connectionForReading(searching: false).value(
            #"SELECT 1 FROM "__file_uploads" WHERE "file" = ? AND "url" IS NULL"#, binding: [.text(id.rawValue)]) != nil
    }
}

/// The SQL for files that this store must not delete.
enum UploadOwnershipSQL {
    /// The original of a copied store may also send the pending files, and other clients may then use them.
    static let leaveToOriginal = """
        INSERT OR REPLACE INTO "__file_uploads" ("file", "url") SELECT "id", NULL FROM "__files" WHERE "state" <> 2
        """
    /// Another client has sent a pending file's URL to a server.
    static let leaveToOthers = #"INSERT OR REPLACE INTO "__file_uploads" ("file", "url") VALUES (?, NULL)"#
    /// The URLs belong to another server or another user.
    static let leaveAll = #"UPDATE "__file_uploads" SET "url" = NULL"#

    /// The uploads whose files a damaged store has lost.
    static let queueLost = """
        INSERT OR IGNORE INTO "__file_deletions" ("url", "attempts", "arriving") \
        SELECT "url", 0, 1 FROM "__file_uploads" \
        WHERE "url" IS NOT NULL AND "file" NOT IN (SELECT "id" FROM "__files")
        """
    static let forgetLost = """
        DELETE FROM "__file_uploads" WHERE "file" NOT IN (SELECT "id" FROM "__files" WHERE "state" <> 2)
        """
}

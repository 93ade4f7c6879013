// Which files may have come to the server without anybody knowing here: their upload was begun, and has no answer yet. A
// file that goes from the store then is to be deleted there: a trigger on `__files` queues that, so that it happens with
// whatever lets go of the file, and after kill -9 too.

/// What was known of a file's place on the server when an upload came to send its first byte.
package enum SendingNote: Sendable {
    /// Nothing: no upload from here has sent any of it.
    case first
    /// An earlier upload may have brought it there, and has had no answer.
    case again
    /// Others may know of it: the store is a copy, and the one that it was made of may have sent the file; or a server has
    /// named its URL. It is not this store's to take back.
    case known
}

extension WriteTransaction {
    /// Notes where a file will be, before its first byte is sent.
    ///
    /// - Returns: What was known before; `nil` if the file is not to be uploaded any more.
    package func noteSending(_ id: FileID, to url: String) throws -> SendingNote? {
        try checkUsable()
        guard try isPending(id) else { return nil }
        let known = try connection.value(
            #"SELECT "url" FROM "__file_uploads" WHERE "file" = ?"#, [.text(id.rawValue)])
        switch known {
        case nil:
            try connection.execute(
                #"INSERT INTO "__file_uploads" ("file", "url") VALUES (?, ?)"#, [.text(id.rawValue), .text(url)])
            return .first
        case .null?: return .known
        case let other?:
            // What an earlier try may have left elsewhere stays: it may be the same file by another name.
            if other != .text(url) {
                try connection.execute(
                    #"UPDATE "__file_uploads" SET "url" = ? WHERE "file" = ?"#, [.text(url), .text(id.rawValue)])
            }
            return .again
        }
    }

    /// Strikes the note of a file's place: nothing of it was sent, or what is there is none of this store's, or is seen to.
    /// That others may know of the file stays noted.
    ///
    /// - Parameter url: The place, if nothing is to be deleted there either, should the file have gone meanwhile.
    package func forgetSending(_ id: FileID, to url: String? = nil) throws {
        try checkUsable()
        let isNoted =
            try connection.value(#"SELECT 1 FROM "__file_uploads" WHERE "file" = ?"#, [.text(id.rawValue)]) != nil
        if isNoted {
            try connection.execute(
                #"DELETE FROM "__file_uploads" WHERE "file" = ? AND "url" IS NOT NULL"#, [.text(id.rawValue)])
        } else if let url {
            try connection.execute(
                #"DELETE FROM "__file_deletions" WHERE "url" = ? AND "arriving" = 1"#, [.text(url)])
        }
    }
}

extension ReadTransaction {
    /// Whether others may know of a file that waits here: it is not this store's to take back.
    package func isKnownToOthers(_ id: FileID) throws -> Bool {
        try connectionForReading(searching: false).value(
            #"SELECT 1 FROM "__file_uploads" WHERE "file" = ? AND "url" IS NULL"#, [.text(id.rawValue)]) != nil
    }
}

/// The SQL of what is not this store's to take back.
enum SentFiles {
    /// Of what waits to be uploaded in a copy, the store that was copied may send it too, and tell others.
    static let leaveToOriginal = """
        INSERT OR REPLACE INTO "__file_uploads" ("file", "url") SELECT "id", NULL FROM "__files" WHERE "state" <> 2
        """
    /// Somebody else has told a server of a file that waits here.
    static let leaveToOthers = #"INSERT OR REPLACE INTO "__file_uploads" ("file", "url") VALUES (?, NULL)"#
    /// The places are on another server, or another user's.
    static let leaveAll = #"UPDATE "__file_uploads" SET "url" = NULL"#

    /// What a damaged store has lost the files of.
    static let queueLost = """
        INSERT OR IGNORE INTO "__file_deletions" ("url", "attempts", "arriving") SELECT "url", 0, 1 FROM "__file_uploads" \
        WHERE "url" IS NOT NULL AND "file" NOT IN (SELECT "id" FROM "__files")
        """
    static let forgetLost = """
        DELETE FROM "__file_uploads" WHERE "file" NOT IN (SELECT "id" FROM "__files" WHERE "state" <> 2)
        """
}

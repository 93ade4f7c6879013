import Foundation
import GRDB

extension EncryptedDatabase {
    /// Whether the database lies on a medium that nobody can write to.
    var isOnReadOnlyMedium: Bool {
        access((path as NSString).deletingLastPathComponent, W_OK) != 0 && errno == EROFS
    }

    /// Whether a log or a journal lies beside the database, which may hold what must be worked off first.
    var isHot: Bool {
        ["-wal", "-journal"].contains { FileManager.default.fileExists(atPath: path + $0) }
    }

    /// What SQLite means when it can't open, or can't write, a database that would have to be written first: a log's
    /// index can't be made, an interrupted transaction can't be rolled back.
    ///
    /// - Returns: `nil` if the error is about something else.
    func readOnlyFinding(_ error: DatabaseError) -> CipherError? {
        let needsRecovery: [ResultCode] = [
            .SQLITE_READONLY_ROLLBACK, .SQLITE_READONLY_RECOVERY, .SQLITE_READONLY_CANTINIT, .SQLITE_READONLY_DIRECTORY,
        ]
        let isUnopened = error.resultCode == .SQLITE_CANTOPEN && isHot && isOnReadOnlyMedium
        guard needsRecovery.contains(error.extendedResultCode) || isUnopened else { return nil }
        return CipherError(
            .readOnly, "The log or journal beside the database must be worked off, and nothing can be written there.",
            advice: "Open it once where it can be written, or copy it there with the files beside it.", path: path,
            sqliteCode: error.extendedResultCode.rawValue, underlying: error)
    }
}

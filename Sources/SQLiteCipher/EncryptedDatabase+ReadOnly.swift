import Foundation
import GRDB

extension EncryptedDatabase {
    /// Whether the database is on a read-only medium.
    var isOnReadOnlyMedium: Bool {
        access((path as NSString).deletingLastPathComponent, W_OK) != 0 && errno == EROFS
    }

    /// Whether a log or a journal exists beside the database. It may hold changes that must be applied or rolled back
    /// first.
    var isHot: Bool {
        ["-wal", "-journal"].contains { FileManager.default.fileExists(atPath: path + $0) }
    }

    /// Explains SQLite's errors for a database that must be written before it can be read or written. SQLite can't
    /// create a log's index, or can't roll back an interrupted transaction.
    ///
    /// - Returns: `nil` if the error has another cause.
    func readOnlyFinding(_ error: DatabaseError) -> CipherError? {
        let needsRecovery: [ResultCode] = [
            .SQLITE_READONLY_ROLLBACK, .SQLITE_READONLY_RECOVERY, .SQLITE_READONLY_CANTINIT, .SQLITE_READONLY_DIRECTORY,
        ]
        let isUnopened = error.resultCode == .SQLITE_CANTOPEN && isHot && isOnReadOnlyMedium
        guard needsRecovery.contains(error.extendedResultCode) || isUnopened else { return nil }
        return CipherError(
            .readOnly,
            message: "The log or journal beside the database must be recovered, but the folder is not writable.",
            advice: "Copy the database with the files beside it to a writable folder, and open it there once.",
            path: path,
            sqliteCode: error.extendedResultCode.rawValue, underlying: error)
    }
}

import Foundation
import GRDBSQLite

/// SQLite's writes while it rolls back a hot journal, which an interrupted transaction left.
///
/// A journal's headers are not authenticated, and they state the size that the database had. Nothing that follows from
/// that size alone may become an authentic page.
extension MainFile {
    /// Returns whether SQLite takes the exclusive lock to roll back a hot journal. It then takes the lock directly. An
    /// ordinary transaction takes the reserved lock first, and a log is closed by a connection that has it open.
    func isForHotJournal(_ level: Int32) -> Bool {
        level == SQLITE_LOCK_EXCLUSIVE && heldLevel == SQLITE_LOCK_SHARED && context.log == nil
    }

    /// Returns an error code if a wrong key must not roll back a transaction. It would truncate a database that it
    /// can't read.
    func refusalOfRollback() -> Int32? {
        // A file without a salt was never completed, so no key can be proven with it.
        guard isTakingBack, !context.isProven, !saltMayChange, let size = base.size(), size > 0 else { return nil }
        // Rolling back the journal repairs a torn page.
        guard let finding = findingAboutKey(), finding.code != .damagedPage else { return nil }
        context.entry.record(finding, code: SQLITE_IOERR)
        return SQLITE_IOERR_WRITE
    }

    /// Writes the page of zeros that SQLite writes to restore the size of a database. The page is written unencrypted.
    /// If no record of the journal replaces it, it reads as damaged.
    ///
    /// - Returns: `nil` if this is an ordinary page.
    func growBack(_ source: UnsafeRawPointer, at offset: Int64) -> Int32? {
        guard isTakingBack, let size = base.size(), offset >= size else { return nil }
        guard UnsafeRawBufferPointer(start: source, count: pageSize).allSatisfy({ $0 == 0 }) else { return nil }
        // The journal has a record for each page that is restored.
        let records = (context.journal?.size ?? 0) / Int64(pageSize + 8)
        guard (offset - size) / Int64(pageSize) <= records else {
            context.entry.record(
                CipherError(
                    .damagedFile, message: "The rollback journal states a size that the database can't have had.",
                    advice: "Restore a backup, or salvage the readable rows.", path: context.path),
                code: SQLITE_CORRUPT)
            return SQLITE_CORRUPT
        }
        return base.write(source, count: pageSize, at: offset)
    }
}

import Foundation
import GRDBSQLite

/// A hot journal, which a process left that did not end its transaction: what SQLite writes to take that back.
///
/// A journal's headers are not authenticated, and it says what size the database had. So nothing that follows from that
/// size alone may become an authentic page.
extension MainFile {
    /// Whether the exclusive lock was taken as SQLite takes it for a hot journal alone: at once, where a transaction of
    /// its own reserves the database first, and a log is closed by a connection that has it open.
    func isForHotJournal(_ level: Int32) -> Bool {
        level == SQLITE_LOCK_EXCLUSIVE && heldLevel == SQLITE_LOCK_SHARED && context.log == nil
    }

    /// Why a wrong key may not take back a transaction: it would cut a database that it can't read.
    func refusalOfRollback() -> Int32? {
        // A file that has no salt was never finished, and there is no key that could be proven by it.
        guard isTakingBack, !context.isProven, !saltMayChange, let size = base.size(), size > 0 else { return nil }
        // A page that is torn is what the journal mends.
        guard let finding = findingAboutKey(), finding.code != .damagedPage else { return nil }
        context.entry.note(finding, code: SQLITE_IOERR)
        return SQLITE_IOERR_WRITE
    }

    /// The page of zeros that SQLite writes at the end of a database which was longer before the transaction. It is
    /// written as it is: if no record of the journal replaces it, it is damage, and read as such.
    ///
    /// - Returns: `nil` if this is an ordinary page.
    func growBack(_ source: UnsafeRawPointer, at offset: Int64) -> Int32? {
        guard isTakingBack, let size = base.size(), offset >= size else { return nil }
        guard UnsafeRawBufferPointer(start: source, count: pageSize).allSatisfy({ $0 == 0 }) else { return nil }
        // Each page that comes back has a record in the journal.
        let records = (context.journal?.size ?? 0) / Int64(pageSize + 8)
        guard (offset - size) / Int64(pageSize) <= records else {
            context.entry.note(
                CipherError(
                    .damagedFile, "The rollback journal gives the database a size that it can't have had.",
                    advice: "Restore a backup, or salvage what can still be read.", path: context.path),
                code: SQLITE_CORRUPT)
            return SQLITE_CORRUPT
        }
        return base.write(source, pageSize, at: offset)
    }
}

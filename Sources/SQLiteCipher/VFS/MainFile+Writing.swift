import Foundation
import GRDBSQLite

/// SQLite's writes to the database: its own pages and those of a checkpoint.
extension MainFile {
    /// Encrypts and writes a page. A page of a checkpoint is already encrypted, and is written as it is.
    func writePage(_ source: UnsafeRawPointer, at offset: Int64) -> Int32 {
        let page = UInt32(offset / Int64(pageSize)) + 1
        if context.isCheckpointing { return writeCheckpointed(source, page: page, at: offset) }
        if let code = refusalOfRollback() ?? growBack(source, at: offset) { return code }
        if page == 1, let refusal = refusal(ofFirstPage: source) {
            return context.fail(refusal, code: SQLITE_IOERR_WRITE)
        }
        let code = encryptAndWrite(source, page: page, at: offset)
        if code == SQLITE_OK { wrote(page) }
        return code
    }

    private func encryptAndWrite(_ source: UnsafeRawPointer, page: UInt32, at offset: Int64) -> Int32 {
        do {
            try context.readyCodec().encrypt(source, page: page, into: scratch)
        } catch {
            return context.fail(error, code: SQLITE_IOERR_WRITE)
        }
        return base.write(scratch, count: pageSize, at: offset)
    }

    private func wrote(_ page: UInt32) {
        guard page == 1 else { return }
        context.isProven = true
        change = nil
        guard saltMayChange else { return }
        saltMayChange = false
        context.entry.saltIsOnDisk(context.path)
    }

    private func writeCheckpointed(_ source: UnsafeRawPointer, page: UInt32, at offset: Int64) -> Int32 {
        guard context.isProven else { return SQLITE_IOERR_WRITE }
        let trailer = source.loadUnaligned(fromByteOffset: pageSize - 16, as: (UInt64, UInt64).self)
        guard page == context.checkpointPage, trailer == context.checkpointTrailer else {
            return context.refuse("writes", count: pageSize, at: offset, in: "database during a checkpoint")
        }
        let code = base.write(source, count: pageSize, at: offset)
        if code == SQLITE_OK { wrote(page) }
        return code
    }
}

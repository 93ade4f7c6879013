import Foundation
import GRDBSQLite

/// What SQLite writes to the database: pages, its own and a checkpoint's.
extension MainFile {
    /// Writes a page, encrypted, or in a checkpoint as it is.
    func writePage(_ source: UnsafeRawPointer, at offset: Int64) -> Int32 {
        let page = UInt32(offset / Int64(pageSize)) + 1
        if context.isCheckpointing, !context.isProven { return SQLITE_IOERR_WRITE }
        let filled = fillGap(before: offset)
        guard filled == SQLITE_OK else { return filled }
        if context.isCheckpointing { return writeCheckpointed(source, page: page, at: offset) }
        if page == 1, let refusal = refusal(ofFirstPage: source) {
            return context.fail(refusal, code: SQLITE_IOERR_WRITE)
        }
        let code = encryptAndWrite(source, page: page, at: offset)
        if code == SQLITE_OK { wrote(page: page, at: offset) }
        return code
    }

    private func encryptAndWrite(_ source: UnsafeRawPointer, page: UInt32, at offset: Int64) -> Int32 {
        do {
            try context.readyCodec().encrypt(source, page: page, into: scratch)
        } catch {
            return context.fail(error, code: SQLITE_IOERR_WRITE)
        }
        return base.write(scratch, pageSize, at: offset)
    }

    private func wrote(page: UInt32, at offset: Int64) {
        knownSize = max(knownSize, offset + Int64(pageSize))
        if page == 1 {
            context.isProven = true
            change = nil
            if saltMayChange {
                saltMayChange = false
                context.entry.saltIsOnDisk(context.path)
            }
        }
    }

    private func writeCheckpointed(_ source: UnsafeRawPointer, page: UInt32, at offset: Int64) -> Int32 {
        let trailer = source.loadUnaligned(fromByteOffset: pageSize - 16, as: (UInt64, UInt64).self)
        guard page == context.checkpointPage, trailer == context.checkpointTrailer else {
            return context.refuse("writes", pageSize, at: offset, in: "database during a checkpoint")
        }
        let code = base.write(source, pageSize, at: offset)
        if code == SQLITE_OK { wrote(page: page, at: offset) }
        return code
    }

    /// SQLite may leave free pages unwritten; as holes they would be damage to us, so they are written as zeros.
    private func fillGap(before offset: Int64) -> Int32 {
        guard offset > knownSize else { return SQLITE_OK }
        guard var size = base.size() else { return SQLITE_IOERR_FSTAT }
        size -= size % Int64(pageSize)
        knownSize = size
        guard offset > size else { return SQLITE_OK }
        let zeros = UnsafeMutableRawPointer.allocate(byteCount: pageSize, alignment: 16)
        defer { zeros.deallocate() }
        memset(zeros, 0, pageSize)
        while size < offset {
            // Page 1 is never a gap's: a file begins with it or is refused.
            let page = UInt32(size / Int64(pageSize)) + 1
            if page > 1 {
                let code = encryptAndWrite(zeros, page: page, at: size)
                guard code == SQLITE_OK else { return code }
            }
            size += Int64(pageSize)
        }
        knownSize = size
        return SQLITE_OK
    }
}

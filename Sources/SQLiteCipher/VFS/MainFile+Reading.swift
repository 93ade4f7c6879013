import Foundation
import GRDBSQLite

/// SQLite's reads of the database: pages, and two parts of page 1.
extension MainFile {
    /// Reads and decrypts a page.
    func readPage(_ target: UnsafeMutableRawPointer, at offset: Int64) -> Int32 {
        let page = UInt32(offset / Int64(pageSize)) + 1
        // A page that turns out damaged here is read again below, alone.
        if page > 1, context.isProven, readAhead.read(page, into: target, from: base) { return SQLITE_OK }
        let code = base.read(target, count: pageSize, at: offset)
        if code != SQLITE_OK {
            guard code == SQLITE_IOERR_SHORT_READ else { return code }
            guard let size = base.size() else { return SQLITE_IOERR_FSTAT }
            // A database that does not exist yet reads as zeros. SQLite reads no other page that was not written.
            if size == 0, page == 1 { return code }
            return page == 1 ? explainFirstPage() : context.damaged(page: page, place: "of the database")
        }
        do {
            if try context.readyCodec().decrypt(target, page: page, into: target) {
                context.isProven = true
                return SQLITE_OK
            }
            if page == 1, try refreshSalt(), base.read(target, count: pageSize, at: 0) == SQLITE_OK,
                try context.readyCodec().decrypt(target, page: page, into: target)
            {
                context.isProven = true
                return SQLITE_OK
            }
        } catch {
            memset(target, 0, pageSize)
            return context.fail(error, code: SQLITE_IOERR_READ)
        }
        memset(target, 0, pageSize)
        return page == 1 ? explainFirstPage() : context.damaged(page: page, place: "of the database")
    }

    /// Answers SQLite's read in `sqlite3_open`, before it holds a lock. SQLite uses only page size, reserved bytes and
    /// vacuum mode of it, and reads them again from page 1 later. Nothing is read from the file, so nothing can be
    /// torn. A new file gets the reserved bytes that our pages need, without a pragma.
    func readFormat(_ target: UnsafeMutableRawPointer) -> Int32 {
        memset(target, 0, 100)
        if !announcesFormat {
            guard let size = base.size() else { return SQLITE_IOERR_FSTAT }
            if size == 0 { return SQLITE_IOERR_SHORT_READ }
        }
        target.storeBytes(of: UInt8(truncatingIfNeeded: pageSize >> 8), toByteOffset: 16, as: UInt8.self)
        target.storeBytes(of: UInt8(truncatingIfNeeded: pageSize >> 16), toByteOffset: 17, as: UInt8.self)
        target.storeBytes(of: UInt8(context.profile.reserve), toByteOffset: 20, as: UInt8.self)
        return SQLITE_OK
    }

    func readChange(_ target: UnsafeMutableRawPointer) -> Int32 {
        var nonce: (UInt64, UInt64) = (0, 0)
        let place = Int64(context.profile.markOffset)
        let code = withUnsafeMutableBytes(of: &nonce) { base.read($0.baseAddress!, count: 16, at: place) }
        if code == SQLITE_OK, let change, change.nonce == nonce {
            withUnsafeBytes(of: change.bytes) { target.copyMemory(from: $0.baseAddress!, byteCount: 16) }
            return SQLITE_OK
        }
        let whole = readPage(scratch, at: 0)
        guard whole == SQLITE_OK else {
            if whole == SQLITE_IOERR_SHORT_READ { memset(target, 0, 16) }
            return whole
        }
        target.copyMemory(from: scratch + 24, byteCount: 16)
        var bytes: (UInt64, UInt64) = (0, 0)
        withUnsafeMutableBytes(of: &bytes) { $0.copyMemory(from: UnsafeRawBufferPointer(start: target, count: 16)) }
        // The nonce was read apart from its page, and may belong to another version. Keep it only if page 1 still has
        // it.
        var again: (UInt64, UInt64) = (0, 0)
        let check = withUnsafeMutableBytes(of: &again) { base.read($0.baseAddress!, count: 16, at: place) }
        change = check == SQLITE_OK && again == nonce ? (nonce, bytes) : nil
        return SQLITE_OK
    }
}

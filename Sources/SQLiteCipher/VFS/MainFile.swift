import Foundation
import GRDBSQLite

/// The database file itself.
///
/// SQLite reads and writes whole pages, save for two reads: the first 100 bytes when it opens a database, and 16 bytes
/// at 24, by which it notices that others have written.
final class MainFile: VFSFile {
    let context: ConnectionContext
    let pageSize: Int
    private let scratch: UnsafeMutableRawPointer
    private var sharedMemory: SharedMemory?
    private let readAhead: ReadAhead
    /// The file was empty when it was opened: another process may write page 1, with its own salt, before we do.
    private var saltMayChange: Bool
    /// A size that the file had, to notice writes beyond its end without asking for it each time.
    private var knownSize: Int64 = 0
    /// Whether the first 100 bytes are made up for a file that is still empty. `VACUUM INTO` wants them empty.
    private let announcesFormat: Bool
    /// Bytes 24 to 39 of page 1 in the clear, and the nonce that page 1 had.
    private var change: (nonce: (UInt64, UInt64), bytes: (UInt64, UInt64))?

    init(base: BaseFile, context: ConnectionContext, announcesFormat: Bool) throws {
        self.context = context
        self.announcesFormat = announcesFormat
        pageSize = context.pageSize
        saltMayChange = true
        scratch = .allocate(byteCount: pageSize, alignment: 16)
        readAhead = ReadAhead(pageSize: pageSize)
        super.init(base: base)
        if try !readSalt() { context.use(salt: try context.entry.newSalt(for: context.path)) }
    }

    deinit {
        scratch.deallocate()
    }

    /// Takes the salt from the disk, if the file has one.
    private func readSalt() throws -> Bool {
        var salt = [UInt8](repeating: 0, count: PageLayout.saltSize)
        let code = salt.withUnsafeMutableBytes { base.read($0.baseAddress!, $0.count, at: 0) }
        if code == SQLITE_IOERR_SHORT_READ {
            guard let size = base.size(), size > 0 else { return false }
        } else if code != SQLITE_OK {
            throw CipherError(.ioFailure, "The file can't be read.", path: context.path, sqliteCode: code)
        }
        saltMayChange = false
        context.use(salt: salt)
        return true
    }

    /// Reads the salt again, and tells whether it is another than the one used so far: the file was made anew.
    func refreshSalt() throws -> Bool {
        let old = context.salt
        return try readSalt() && context.salt != old
    }

    override func close() -> Int32 {
        sharedMemory?.unmap(delete: false)
        sharedMemory = nil
        return base.close()
    }

    override func lock(_ level: Int32) -> Int32 {
        readAhead.forget()
        let code = base.lock(level)
        guard code == SQLITE_OK else { return code }
        if level == SQLITE_LOCK_SHARED, wasReplaced {
            _ = base.unlock(SQLITE_LOCK_NONE)
            return context.fail(
                CipherError(
                    .cannotOpen,
                    "Another file stands in the database's place: its key was changed, or it was restored.",
                    advice: "Close this connection and open the database anew."),
                code: SQLITE_CANTOPEN)
        }
        guard saltMayChange else { return SQLITE_OK }
        do {
            _ = try readSalt()
            return SQLITE_OK
        } catch {
            return context.fail(error, code: SQLITE_IOERR_READ)
        }
    }

    /// A transaction may begin.
    func forgetReadAhead() { readAhead.forget() }

    // MARK: - Reading

    override func read(_ target: UnsafeMutableRawPointer, _ count: Int, at offset: Int64) -> Int32 {
        if count == pageSize, offset % Int64(pageSize) == 0 { return readPage(target, at: offset) }
        if count == 100, offset == 0 { return readFormat(target) }
        if count == 16, offset == 24 { return readChange(target) }
        return context.refuse("reads", count, at: offset, in: "database")
    }

    private func readPage(_ target: UnsafeMutableRawPointer, at offset: Int64) -> Int32 {
        let page = UInt32(offset / Int64(pageSize)) + 1
        // A page that proves damaged here is read again below, by itself.
        if context.isProven, page > 1, let stored = readAhead.page(at: offset, from: base),
            (try? context.readyCodec().decrypt(stored, page: page, into: target)) == true
        {
            return SQLITE_OK
        }
        let code = base.read(target, pageSize, at: offset)
        if code != SQLITE_OK {
            guard code == SQLITE_IOERR_SHORT_READ else { return code }
            guard let size = base.size() else { return SQLITE_IOERR_FSTAT }
            // Past the end SQLite expects zeros and this code; a page cut in two is damage.
            if size <= offset { return code }
            return page == 1 ? explainFirstPage() : context.damaged(page: page, "of the database")
        }
        do {
            if try context.readyCodec().decrypt(target, page: page, into: target) {
                context.isProven = true
                return SQLITE_OK
            }
            if page == 1, try refreshSalt(), base.read(target, pageSize, at: 0) == SQLITE_OK,
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
        return page == 1 ? explainFirstPage() : context.damaged(page: page, "of the database")
    }

    /// What SQLite reads in `sqlite3_open`, before it holds a lock: only page size, reserved bytes and vacuum mode are
    /// used, and read again from page 1 later. So nothing is read that could be torn, and a new file gets what our
    /// pages need without a pragma.
    private func readFormat(_ target: UnsafeMutableRawPointer) -> Int32 {
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

    private func readChange(_ target: UnsafeMutableRawPointer) -> Int32 {
        var nonce: (UInt64, UInt64) = (0, 0)
        let place = Int64(context.profile.markOffset)
        let code = withUnsafeMutableBytes(of: &nonce) { base.read($0.baseAddress!, 16, at: place) }
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
        // A nonce read apart from its page may be another's; it is kept only if page 1 has it still.
        var again: (UInt64, UInt64) = (0, 0)
        let check = withUnsafeMutableBytes(of: &again) { base.read($0.baseAddress!, 16, at: place) }
        change = check == SQLITE_OK && again == nonce ? (nonce, bytes) : nil
        return SQLITE_OK
    }

    // MARK: - Writing

    override func write(_ source: UnsafeRawPointer, _ count: Int, at offset: Int64) -> Int32 {
        guard count == pageSize, offset % Int64(pageSize) == 0 else {
            return context.refuse("writes", count, at: offset, in: "database")
        }
        let page = UInt32(offset / Int64(pageSize)) + 1
        readAhead.forget()
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

    override func truncate(_ size: Int64) -> Int32 {
        knownSize = min(knownSize, size)
        readAhead.forget()
        // A rolled back creation leaves an empty file, and another process may be the first to fill it.
        if size == 0 { saltMayChange = true }
        return base.truncate(size)
    }

    // MARK: - Control and shared memory

    override func control(_ op: Int32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
        switch op {
        case SQLITE_FCNTL_MMAP_SIZE:
            // A mapped page would be read past us, in ciphertext.
            argument?.storeBytes(of: 0, as: sqlite3_int64.self)
            return SQLITE_OK
        case SQLITE_FCNTL_CHUNK_SIZE:
            return SQLITE_OK
        case SQLITE_FCNTL_BEGIN_ATOMIC_WRITE, SQLITE_FCNTL_COMMIT_ATOMIC_WRITE, SQLITE_FCNTL_ROLLBACK_ATOMIC_WRITE:
            return SQLITE_NOTFOUND
        case SQLITE_FCNTL_CKPT_START:
            context.isCheckpointing = true
            context.checkpointPage = 0
            return base.control(op, argument)
        case SQLITE_FCNTL_CKPT_DONE:
            context.isCheckpointing = false
            return base.control(op, argument)
        default:
            return base.control(op, argument)
        }
    }

    override func shmMap(
        _ region: Int32, _ size: Int32, _ extend: Int32,
        _ result: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) -> Int32 {
        let memory = sharedMemory ?? SharedMemory(base: base, context: context)
        sharedMemory = memory
        return memory.map(region, size: Int(size), extend: extend != 0, result)
    }

    override func shmLock(_ offset: Int32, _ count: Int32, _ flags: Int32) -> Int32 {
        readAhead.forget()
        // Whoever takes the write lock (the first) must not trust what was so when it last had it.
        if offset == 0, flags & SQLITE_SHM_LOCK != 0, flags & SQLITE_SHM_EXCLUSIVE != 0 { context.log?.forgetTail() }
        if offset == 0, flags & SQLITE_SHM_UNLOCK != 0, let log = context.log {
            let code = log.settle()
            guard code == SQLITE_OK else { return code }
        }
        return base.shmLock(offset, count, flags)
    }

    override func shmBarrier() {
        _ = context.log?.settle()
        base.shmBarrier()
    }

    override func shmUnmap(_ delete: Int32) -> Int32 {
        sharedMemory?.unmap(delete: delete != 0)
        sharedMemory = nil
        return base.shmUnmap(delete)
    }
}

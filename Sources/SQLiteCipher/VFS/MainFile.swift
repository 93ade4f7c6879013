import Foundation
import GRDBSQLite

/// The database file.
///
/// SQLite reads and writes whole pages, with two exceptions. It reads the first 100 bytes when it opens a database. It
/// reads 16 bytes at offset 24 to detect the writes of other connections.
final class MainFile: VFSFile {
    let context: ConnectionContext
    let pageSize: Int
    let scratch: UnsafeMutableRawPointer
    private var sharedMemory: SharedMemory?
    let readAhead: ReadAhead
    /// Whether the file was empty when it was opened. Another process may write page 1, with its own salt, before this
    /// one.
    var saltMayChange: Bool
    /// The lock that SQLite holds.
    private(set) var heldLevel = SQLITE_LOCK_NONE
    /// Whether SQLite is rolling back a hot journal.
    var isTakingBack = false
    /// Whether the first 100 bytes are made up for a file that is still empty. `VACUUM INTO` needs them empty.
    let announcesFormat: Bool
    /// Bytes 24 to 39 of page 1 in plaintext, and the nonce that page 1 had.
    var change: (nonce: (UInt64, UInt64), bytes: (UInt64, UInt64))?

    init(base: BaseFile, context: ConnectionContext, announcesFormat: Bool) throws {
        self.context = context
        self.announcesFormat = announcesFormat
        pageSize = context.pageSize
        saltMayChange = true
        scratch = .allocate(byteCount: pageSize, alignment: 16)
        readAhead = ReadAhead(context: context)
        super.init(base: base)
        try findSalt()
    }

    deinit {
        UnsafeMutableRawBufferPointer(start: scratch, count: pageSize).wipe()
        scratch.deallocate()
    }

    /// Uses the salt on disk, or the salt that a new file will get.
    private func findSalt() throws {
        if try !readSalt() { context.use(salt: try context.entry.newSalt(for: context.path)) }
    }

    /// Uses the salt on disk, if the file has one. A process that was killed while it created a database may have left
    /// zeros in the first page.
    private func readSalt() throws -> Bool {
        var salt = [UInt8](repeating: 0, count: PageLayout.saltSize)
        let code = salt.withUnsafeMutableBytes { base.read($0.baseAddress!, count: $0.count, at: 0) }
        if code == SQLITE_IOERR_SHORT_READ {
            guard let size = base.size(), size > 0 else { return false }
        } else if code != SQLITE_OK {
            throw CipherError(.ioFailure, message: "The file can't be read.", path: context.path, sqliteCode: code)
        }
        if salt.allSatisfy({ $0 == 0 }) { return false }
        saltMayChange = false
        context.use(salt: salt)
        return true
    }

    /// Reads the salt again. Returns whether it differs from the previous one, because the file was created again.
    func refreshSalt() throws -> Bool {
        let old = context.salt
        return try readSalt() && context.salt != old
    }

    override func close() -> Int32 {
        readAhead.forget()
        let index = sharedMemory?.unmap(delete: false)
        defer { withExtendedLifetime(index) {} }
        sharedMemory = nil
        context.main = nil
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
                    message: "The database file was replaced: its key was changed, or a backup was restored.",
                    advice: "Close this connection, and open the database again."),
                code: SQLITE_CANTOPEN)
        }
        if isForHotJournal(level) { isTakingBack = true }
        let before = heldLevel
        heldLevel = max(heldLevel, level)
        guard saltMayChange else { return SQLITE_OK }
        do {
            try findSalt()
            return SQLITE_OK
        } catch {
            // SQLite expects that it holds no lock after an error.
            if before == SQLITE_LOCK_NONE {
                _ = base.unlock(SQLITE_LOCK_NONE)
                heldLevel = SQLITE_LOCK_NONE
            }
            return context.fail(error, code: SQLITE_IOERR_READ)
        }
    }

    override func unlock(_ level: Int32) -> Int32 {
        readAhead.forget()
        isTakingBack = false
        heldLevel = min(heldLevel, level)
        return base.unlock(level)
    }

    /// Discards pages that were read ahead, because a transaction may begin.
    func forgetReadAhead() { readAhead.forget() }

    // MARK: - Pages

    override func read(_ target: UnsafeMutableRawPointer, count: Int, at offset: Int64) -> Int32 {
        if count == pageSize, offset % Int64(pageSize) == 0 { return readPage(target, at: offset) }
        if count == 100, offset == 0 { return readFormat(target) }
        if count == 16, offset == 24 { return readChange(target) }
        return context.refuse("reads", count: count, at: offset, in: "database")
    }

    override func write(_ source: UnsafeRawPointer, count: Int, at offset: Int64) -> Int32 {
        guard count == pageSize, offset % Int64(pageSize) == 0 else {
            return context.refuse("writes", count: count, at: offset, in: "database")
        }
        readAhead.forget()
        return writePage(source, at: offset)
    }

    override func truncate(_ size: Int64) -> Int32 {
        readAhead.forget()
        if let refusal = refusalOfRollback() { return refusal }
        // A rolled back creation leaves an empty file, and another process may be the first to fill it.
        if size == 0 { saltMayChange = true }
        return base.truncate(size)
    }

    // MARK: - Control and shared memory

    override func control(_ op: Int32, argument: UnsafeMutableRawPointer?) -> Int32 {
        switch op {
        case SQLITE_FCNTL_MMAP_SIZE:
            // Reads of a mapped page would bypass this VFS and return ciphertext.
            argument?.storeBytes(of: 0, as: sqlite3_int64.self)
            return SQLITE_OK
        case SQLITE_FCNTL_CHUNK_SIZE:
            return SQLITE_OK
        case SQLITE_FCNTL_BEGIN_ATOMIC_WRITE, SQLITE_FCNTL_COMMIT_ATOMIC_WRITE, SQLITE_FCNTL_ROLLBACK_ATOMIC_WRITE:
            return SQLITE_NOTFOUND
        case SQLITE_FCNTL_CKPT_START:
            context.isCheckpointing = true
            context.checkpointPage = 0
            return base.control(op, argument: argument)
        case SQLITE_FCNTL_CKPT_DONE:
            context.isCheckpointing = false
            return base.control(op, argument: argument)
        default:
            return base.control(op, argument: argument)
        }
    }

    override func shmMap(
        _ region: Int32, size: Int32, extend: Int32,
        result: UnsafeMutablePointer<UnsafeMutableRawPointer?>
    ) -> Int32 {
        let memory = sharedMemory ?? SharedMemory(base: base, context: context)
        sharedMemory = memory
        return memory.map(region, size: Int(size), extend: extend != 0, result: result)
    }

    override func shmLock(_ offset: Int32, count: Int32, flags: Int32) -> Int32 {
        readAhead.forget()
        // Offset 0 is the write lock.
        guard offset == 0, let log = context.log else { return base.shmLock(offset, count: count, flags: flags) }
        var flushCode = SQLITE_OK
        if flags & SQLITE_SHM_UNLOCK != 0 {
            flushCode = log.flushPendingFrames()
            log.leaveTail(flushCode == SQLITE_OK ? sharedMemory?.index : nil)
        }
        // Release the lock even after an error, because others wait for it.
        let code = base.shmLock(offset, count: count, flags: flags)
        if code == SQLITE_OK, flags & SQLITE_SHM_LOCK != 0 { log.checkTail(sharedMemory?.index) }
        return flushCode == SQLITE_OK ? code : flushCode
    }

    override func shmBarrier() {
        _ = context.log?.flushPendingFrames()
        base.shmBarrier()
    }

    /// Returns the page in a frame of the log according to the log's index, or `nil` if that is unknown.
    func indexedPage(ofFrame frame: Int) -> UInt32? { sharedMemory?.page(ofFrame: frame) }

    override func shmUnmap(_ delete: Int32) -> Int32 {
        let index = sharedMemory?.unmap(delete: delete != 0)
        defer { withExtendedLifetime(index) {} }
        sharedMemory = nil
        return base.shmUnmap(delete)
    }
}

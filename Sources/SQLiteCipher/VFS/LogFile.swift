import Foundation
import GRDBSQLite

/// The write-ahead log: a header of 32 bytes, then frames of 24 bytes and a page.
///
/// Pages are encrypted as in the database itself. SQLite computes the frames' checksums over plaintext. On disk,
/// checksums over ciphertext replace them, so the file has SQLCipher's format.
///
/// SQLite never sees both kinds. To recover the log's index, and to recompute the checksums of a transaction, it reads
/// whole frames. It uses nothing of their pages except the checksum, so these reads return ciphertext and checksum as
/// on disk. SQLite uses the content of a page only if it reads the page alone. That read is decrypted.
final class LogFile: VFSFile {
    static let headerSize = 32
    static let frameHeaderSize = 24

    let context: ConnectionContext
    let pageSize: Int
    let frameSize: Int
    /// A buffer for a frame: its header and its page in ciphertext.
    let scratch: UnsafeMutableRawPointer
    /// The frames of the current transaction. The queue is created with the first frame.
    var queue: FrameQueue?
    /// Whether the queued frames have no checksums.
    var isQueueBlank = false
    /// The first frame of this transaction that SQLite considers written although the write failed. A read can detect
    /// the failure, and SQLite does not roll back because of a read. Later frames must therefore fail too.
    var lost: Int?
    /// A frame's header that SQLite has written, and whose page has not arrived yet.
    private var held: (frame: Int, header: FrameHeader)?
    /// The frame that was last read as a whole. If a transaction that wrote a page twice writes its header next, only
    /// the checksum was recomputed.
    private var recomputed: Int?
    /// Whether the transaction wrote a page twice. Recovery of the log also reads whole frames, but then the next
    /// header belongs to a new frame.
    private var hasOverwritten = false
    /// The frame that this connection wrote last, with its checksum on disk.
    var written: (frame: Int, checksum: FrameChecksum)?
    /// The index's header when this connection released the write lock, if this connection wrote the last frame.
    private var left: IndexHeader?
    /// Whether the log's byte order differs from this machine's. It is `nil` until it was read.
    var swapped: Bool?

    init(base: BaseFile, context: ConnectionContext) {
        self.context = context
        pageSize = context.pageSize
        frameSize = Self.frameHeaderSize + context.pageSize
        scratch = .allocate(byteCount: Self.frameHeaderSize + context.pageSize, alignment: 16)
        super.init(base: base)
        context.log = self
        // SQLite took the exclusive lock for the log, and not for a journal.
        context.main?.isTakingBack = false
    }

    deinit {
        scratch.deallocate()
    }

    /// Returns the number of the frame (the first is 1) at an offset, and the offset within it.
    private func framePosition(_ offset: Int64) -> (frame: Int, within: Int)? {
        guard offset >= Int64(Self.headerSize) else { return nil }
        let distance = Int(offset) - Self.headerSize
        return (distance / frameSize + 1, distance % frameSize)
    }

    func offset(_ frame: Int) -> Int64 { Int64(Self.headerSize + (frame - 1) * frameSize) }

    /// Called after the write lock was acquired. Discards the cached last frame, unless the index proves that no other
    /// connection has written since.
    func checkTail(_ index: UnsafeRawPointer?) {
        hasOverwritten = false
        recomputed = nil
        lost = nil
        if let left, let index, IndexHeader(index) == left { return }
        written = nil
    }

    /// Called before the write lock is released. After that, others may write.
    func leaveTail(_ index: UnsafeRawPointer?) {
        lost = nil
        left = written == nil ? nil : index.flatMap { IndexHeader($0) }
        // Frames of a rolled back transaction do not belong to the log.
        if left?.lastFrame != written?.frame { left = nil }
    }

    // MARK: - Writing

    override func write(_ source: UnsafeRawPointer, count: Int, at offset: Int64) -> Int32 {
        defer { recomputed = nil }
        if count == Self.headerSize, offset == 0 {
            let code = flush()
            guard code == SQLITE_OK else { return code }
            written = nil
            swapped = nil
            lost = nil
            return base.write(source, count: count, at: 0)
        }
        guard let (frame, within) = framePosition(offset) else {
            return context.refuse("writes", count: count, at: offset, in: "log")
        }
        if count == Self.frameHeaderSize, within == 0 {
            let code = held == nil ? SQLITE_OK : flush()
            guard code == SQLITE_OK else { return code }
            if hasOverwritten, frame == recomputed {
                // SQLite writes this header last in a transaction, and nothing needs to follow. The queue is empty,
                // because SQLite read the frame before.
                written = nil
                return base.write(source, count: count, at: offset)
            }
            held = (frame, FrameHeader(source))
            return SQLITE_OK
        }
        guard count == pageSize, within == Self.frameHeaderSize else {
            return context.refuse("writes", count: count, at: offset, in: "log")
        }
        if let held, held.frame == frame {
            self.held = nil
            return append(frame, header: held.header, page: source)
        }
        let code = flush()
        guard code == SQLITE_OK else { return code }
        if isLost(frame) { return failAsLost(SQLITE_IOERR_WRITE) }
        return overwrite(frame, page: source)
    }

    /// Overwrites a page alone. The same transaction wrote it before, and recomputes checksums from here on.
    private func overwrite(_ frame: Int, page: UnsafeRawPointer) -> Int32 {
        do {
            hasOverwritten = true
            let header = try readHeader(frame)
            guard isInItsPlace(header.page, frame: frame) else {
                return context.damaged(page: header.page, place: "in frame \(frame) of the write-ahead log")
            }
            written = nil
            try context.readyCodec().encrypt(page, page: header.page, into: scratch)
            return base.write(scratch, count: pageSize, at: offset(frame) + Int64(Self.frameHeaderSize))
        } catch {
            return context.fail(error, code: SQLITE_IOERR_WRITE)
        }
    }

    /// Writes the queue and a held header whose page never arrived. Such a header is a recomputed checksum over
    /// ciphertext that was read as on disk.
    private func flush() -> Int32 {
        let code = writeQueue()
        guard code == SQLITE_OK, let (frame, header) = held else { return code }
        held = nil
        written = nil
        return withUnsafeTemporaryAllocation(byteCount: Self.frameHeaderSize, alignment: 8) { memory in
            guard let start = memory.baseAddress else { return SQLITE_NOMEM }
            header.store(at: start)
            return base.write(start, count: Self.frameHeaderSize, at: offset(frame))
        }
    }

    // MARK: - Reading

    override func read(_ target: UnsafeMutableRawPointer, count: Int, at offset: Int64) -> Int32 {
        let code = flush()
        recomputed = nil
        guard code == SQLITE_OK else { return code }
        if offset == 0, count == Self.headerSize { return readHeader(into: target) }
        if offset == 24, count == 8 { return base.read(target, count: count, at: 24) }
        guard let (frame, within) = framePosition(offset) else {
            return context.refuse("reads", count: count, at: offset, in: "log")
        }
        if isLost(frame) { return failAsLost(SQLITE_IOERR_READ) }
        switch (within, count) {
        case (Self.frameHeaderSize, pageSize): return readPage(frame, into: target)
        case (0, frameSize):
            recomputed = frame
            return base.read(target, count: count, at: offset)
        case (16, 8): return base.read(target, count: count, at: offset)
        default: return context.refuse("reads", count: count, at: offset, in: "log")
        }
    }

    /// Reads the log's header. A page size other than the profile's means a wrong option, or another database's log.
    private func readHeader(into target: UnsafeMutableRawPointer) -> Int32 {
        context.main?.forgetReadAhead()
        let code = base.read(target, count: Self.headerSize, at: 0)
        guard code == SQLITE_OK else { return code }
        let size = UInt32(bigEndian: target.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
        if size != 0, size != UInt32(pageSize), let finding = context.main?.findingAboutKey() {
            context.entry.record(finding, code: SQLITE_NOTADB)
            return SQLITE_NOTADB
        }
        return SQLITE_OK
    }

    private func readPage(_ frame: Int, into target: UnsafeMutableRawPointer) -> Int32 {
        let code = base.read(scratch, count: frameSize, at: offset(frame))
        guard code == SQLITE_OK else { return code }
        let header = FrameHeader(scratch)
        let stored = scratch + Self.frameHeaderSize
        guard isInItsPlace(header.page, frame: frame) else {
            memset(target, 0, pageSize)
            return context.damaged(page: header.page, place: "in frame \(frame) of the write-ahead log")
        }
        if context.isCheckpointing {
            target.copyMemory(from: stored, byteCount: pageSize)
            context.checkpointPage = header.page
            context.checkpointTrailer = (stored + pageSize - 16).loadUnaligned(as: (UInt64, UInt64).self)
            return SQLITE_OK
        }
        do {
            if try decrypt(stored, page: header.page, into: target) {
                context.isProven = true
                return SQLITE_OK
            }
        } catch {
            return context.fail(error, code: SQLITE_IOERR_READ)
        }
        memset(target, 0, pageSize)
        if !context.isProven, let finding = context.main?.findingAboutKey() {
            context.entry.record(finding, code: SQLITE_NOTADB)
            return SQLITE_NOTADB
        }
        return context.damaged(page: header.page, place: "in frame \(frame) of the write-ahead log")
    }

    /// Whether a frame holds the page that SQLite expects. The page number in a frame's header is not authenticated. An
    /// attacker with write access to the open log could put another authentic page of the database into a frame.
    private func isInItsPlace(_ page: UInt32, frame: Int) -> Bool {
        guard let expected = context.main?.indexedPage(ofFrame: frame) else { return true }
        return expected == page
    }

    func decrypt(_ stored: UnsafeRawPointer, page: UInt32, into target: UnsafeMutableRawPointer) throws -> Bool {
        if try context.readyCodec().decrypt(stored, page: page, into: target) { return true }
        // Another process may have created the database again, with another salt.
        guard page == 1, let main = context.main, try main.refreshSalt() else { return false }
        return try context.readyCodec().decrypt(stored, page: page, into: target)
    }

    // MARK: - The rest

    override func sync(_ flags: Int32) -> Int32 {
        let code = flush()
        return code == SQLITE_OK ? base.sync(flags) : code
    }

    override func truncate(_ size: Int64) -> Int32 {
        let code = flush()
        guard code == SQLITE_OK else { return code }
        written = nil
        swapped = nil
        lost = nil
        return base.truncate(size)
    }

    override func fileSize(_ result: UnsafeMutablePointer<sqlite3_int64>) -> Int32 {
        let code = flush()
        return code == SQLITE_OK ? base.fileSize(result) : code
    }

    override func close() -> Int32 {
        let code = flush()
        if context.log === self { context.log = nil }
        let closed = base.close()
        return code == SQLITE_OK ? closed : code
    }

    /// Writes pending frames before other connections may look: when the write lock is released, and at a barrier.
    func flushPendingFrames() -> Int32 { flush() }
}

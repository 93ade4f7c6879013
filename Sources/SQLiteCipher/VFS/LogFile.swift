import Foundation
import GRDBSQLite

/// The write-ahead log: a header of 32 bytes, then frames of 24 bytes and a page.
///
/// Pages are encrypted as in the database itself. The frames' checksums, which SQLite computes over plaintext, are
/// replaced on disk by those over ciphertext, which makes the file what SQLCipher writes.
///
/// SQLite never sees the two meet. To recover the log's index, and to compute the checksums of a transaction anew, it
/// reads whole frames, and looks at nothing of their pages but the checksum: these reads get the ciphertext and its
/// checksum as they are on disk. Only a page by itself is read for what it holds, and that is decrypted.
final class LogFile: VFSFile {
    static let headerSize = 32
    static let frameHeaderSize = 24

    let context: ConnectionContext
    let pageSize: Int
    let frameSize: Int
    /// Room for a frame: its header and its page in ciphertext.
    let scratch: UnsafeMutableRawPointer
    /// The frames of a transaction that has not ended; made when the first is written.
    var queue: FrameQueue?
    /// Whether the frames in the queue are without checksums.
    var isQueueBlank = false
    /// The first frame of this transaction that SQLite takes for written and that could not be. A read can be what finds
    /// that out, and SQLite does not take a transaction back because of a read: nothing may be built on these frames.
    var lost: Int?
    /// A frame's header that SQLite has written and whose page has not come yet.
    private var held: (frame: Int, header: FrameHeader)?
    /// The frame that was read last, whole. If its header is written next in a transaction that wrote a page twice, that
    /// is all: its checksum was computed anew.
    private var recomputed: Int?
    /// Whether the transaction wrote a page twice. Whole frames are read to recover the log, too, and the next header is
    /// then that of a frame to come.
    private var hasOverwritten = false
    /// The frame that this connection wrote last, with its checksum on disk.
    var written: (frame: Int, checksum: FrameChecksum)?
    /// The index's header when this connection gave up the write lock, if `written` is the last frame by it.
    private var left: IndexHeader?
    /// Whether the log's words have the other byte order than this machine's, once it was looked up.
    var swapped: Bool?

    init(base: BaseFile, context: ConnectionContext) {
        self.context = context
        pageSize = context.pageSize
        frameSize = Self.frameHeaderSize + context.pageSize
        scratch = .allocate(byteCount: Self.frameHeaderSize + context.pageSize, alignment: 16)
        super.init(base: base)
        context.log = self
        // SQLite took the exclusive lock for the log, not for a journal.
        context.main?.isTakingBack = false
    }

    deinit {
        scratch.deallocate()
    }

    /// The frame (1 is the first) that an offset lies in, and where in it.
    private func place(_ offset: Int64) -> (frame: Int, within: Int)? {
        guard offset >= Int64(Self.headerSize) else { return nil }
        let distance = Int(offset) - Self.headerSize
        return (distance / frameSize + 1, distance % frameSize)
    }

    func offset(_ frame: Int) -> Int64 { Int64(Self.headerSize + (frame - 1) * frameSize) }

    /// The write lock was taken: what is known of the last frame is void, unless the index shows that nobody has
    /// written since.
    func checkTail(_ index: UnsafeRawPointer?) {
        hasOverwritten = false
        recomputed = nil
        lost = nil
        if let left, let index, IndexHeader(index) == left { return }
        written = nil
    }

    /// The write lock is given up: from here on others may write.
    func leaveTail(_ index: UnsafeRawPointer?) {
        lost = nil
        left = written == nil ? nil : index.flatMap { IndexHeader($0) }
        // Frames of a transaction that was rolled back are not the log's.
        if left?.lastFrame != written?.frame { left = nil }
    }

    // MARK: - Writing

    override func write(_ source: UnsafeRawPointer, _ count: Int, at offset: Int64) -> Int32 {
        defer { recomputed = nil }
        if count == Self.headerSize, offset == 0 {
            let code = flush()
            guard code == SQLITE_OK else { return code }
            written = nil
            swapped = nil
            lost = nil
            return base.write(source, count, at: 0)
        }
        guard let (frame, within) = place(offset) else {
            return context.refuse("writes", count, at: offset, in: "log")
        }
        if count == Self.frameHeaderSize, within == 0 {
            let code = held == nil ? SQLITE_OK : flush()
            guard code == SQLITE_OK else { return code }
            if hasOverwritten, frame == recomputed {
                // SQLite writes this last of a transaction, and nothing need come behind it. It has read the frame
                // before, and so the queue is empty.
                written = nil
                return base.write(source, count, at: offset)
            }
            held = (frame, FrameHeader(source))
            return SQLITE_OK
        }
        guard count == pageSize, within == Self.frameHeaderSize else {
            return context.refuse("writes", count, at: offset, in: "log")
        }
        if let held, held.frame == frame {
            self.held = nil
            return append(frame, held.header, page: source)
        }
        let code = flush()
        guard code == SQLITE_OK else { return code }
        if isLost(frame) { return failAsLost(SQLITE_IOERR_WRITE) }
        return overwrite(frame, page: source)
    }

    /// A page alone: the same transaction wrote it before, and will compute checksums anew from here on.
    private func overwrite(_ frame: Int, page: UnsafeRawPointer) -> Int32 {
        do {
            hasOverwritten = true
            let header = try readHeader(frame)
            guard isInItsPlace(header.page, frame) else {
                return context.damaged(page: header.page, "in frame \(frame) of the write-ahead log")
            }
            written = nil
            try context.readyCodec().encrypt(page, page: header.page, into: scratch)
            return base.write(scratch, pageSize, at: offset(frame) + Int64(Self.frameHeaderSize))
        } catch {
            return context.fail(error, code: SQLITE_IOERR_WRITE)
        }
    }

    /// Writes what waits: the queue, and a header whose page never came, which is a checksum computed anew, over
    /// ciphertext that was read as it is.
    private func flush() -> Int32 {
        let code = writeQueue()
        guard code == SQLITE_OK, let (frame, header) = held else { return code }
        held = nil
        written = nil
        return withUnsafeTemporaryAllocation(byteCount: Self.frameHeaderSize, alignment: 8) { memory in
            guard let start = memory.baseAddress else { return SQLITE_NOMEM }
            header.store(at: start)
            return base.write(start, Self.frameHeaderSize, at: offset(frame))
        }
    }

    // MARK: - Reading

    override func read(_ target: UnsafeMutableRawPointer, _ count: Int, at offset: Int64) -> Int32 {
        let code = flush()
        recomputed = nil
        guard code == SQLITE_OK else { return code }
        if offset == 0, count == Self.headerSize { return readHeader(into: target) }
        if offset == 24, count == 8 { return base.read(target, count, at: 24) }
        guard let (frame, within) = place(offset) else {
            return context.refuse("reads", count, at: offset, in: "log")
        }
        if isLost(frame) { return failAsLost(SQLITE_IOERR_READ) }
        switch (within, count) {
        case (Self.frameHeaderSize, pageSize): return readPage(frame, into: target)
        case (0, frameSize):
            recomputed = frame
            return base.read(target, count, at: offset)
        case (16, 8): return base.read(target, count, at: offset)
        default: return context.refuse("reads", count, at: offset, in: "log")
        }
    }

    /// The log's header. A page size that is not the profile's is a wrong option, or another database's log.
    private func readHeader(into target: UnsafeMutableRawPointer) -> Int32 {
        context.main?.forgetReadAhead()
        let code = base.read(target, Self.headerSize, at: 0)
        guard code == SQLITE_OK else { return code }
        let size = UInt32(bigEndian: target.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
        if size != 0, size != UInt32(pageSize), let finding = context.main?.findingAboutKey() {
            context.entry.note(finding, code: SQLITE_NOTADB)
            return SQLITE_NOTADB
        }
        return SQLITE_OK
    }

    private func readPage(_ frame: Int, into target: UnsafeMutableRawPointer) -> Int32 {
        let code = base.read(scratch, frameSize, at: offset(frame))
        guard code == SQLITE_OK else { return code }
        let header = FrameHeader(scratch)
        let stored = scratch + Self.frameHeaderSize
        guard isInItsPlace(header.page, frame) else {
            memset(target, 0, pageSize)
            return context.damaged(page: header.page, "in frame \(frame) of the write-ahead log")
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
            context.entry.note(finding, code: SQLITE_NOTADB)
            return SQLITE_NOTADB
        }
        return context.damaged(page: header.page, "in frame \(frame) of the write-ahead log")
    }

    /// Whether a frame holds the page that SQLite takes it to hold. The number in the frame's header is no secret's: who
    /// writes to the log while it is open could put another page of the database, authentic by itself, in a frame.
    private func isInItsPlace(_ page: UInt32, _ frame: Int) -> Bool {
        guard let expected = context.main?.indexedPage(ofFrame: frame) else { return true }
        return expected == page
    }

    func decrypt(_ stored: UnsafeRawPointer, page: UInt32, into target: UnsafeMutableRawPointer) throws -> Bool {
        if try context.readyCodec().decrypt(stored, page: page, into: target) { return true }
        // The database may have been made anew by another process, with another salt.
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

    /// Called before others may look: the write lock's release, a barrier.
    func settle() -> Int32 { flush() }
}

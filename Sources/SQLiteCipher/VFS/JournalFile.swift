import Foundation
import GRDBSQLite

/// The rollback journal: plaintext headers, then records of a page number, the original page, and a checksum
/// (https://www.sqlite.org/fileformat2.html#the_rollback_journal).
///
/// The checksum is a sum of every 200th byte of plaintext. On disk it covers ciphertext instead, as in SQLCipher.
final class JournalFile: VFSFile {
    private static let headerSize = 512
    static let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]

    private enum Step: Equatable {
        case between
        case page(UInt32, at: Int64)
        case checksum(delta: UInt32, at: Int64)
        /// The name of a super-journal follows, up to the journal's end.
        case trailer(from: Int64)
    }

    private let context: ConnectionContext
    private let pageSize: Int
    private let scratch: UnsafeMutableRawPointer
    private var writing = Step.between
    /// The offset of the checksum that SQLite reads next, and the difference between plaintext and ciphertext
    /// checksums. If the page is authentic and its record is promised, `expected` is returned instead. SQLite would
    /// read a wrong checksum as the journal's end.
    private var reading: (offset: Int64, delta: UInt32, expected: UInt32?)?
    /// The offset of a header whose magic number was read. The number of its records comes next.
    private var header: Int64?
    /// The current header: its offset, and the number of records that it promises.
    private var promised: (header: Int64, records: UInt32)?
    /// Whether the file has unflushed writes.
    private var isDirty = false

    init(base: BaseFile, context: ConnectionContext) {
        self.context = context
        pageSize = context.pageSize
        scratch = .allocate(byteCount: context.pageSize, alignment: 16)
        super.init(base: base)
        context.journal = self
    }

    var size: Int64 { base.size() ?? 0 }

    /// Notes that the journal is not hot any more, because it is written, truncated or closed.
    private func isOver() { context.main?.isTakingBack = false }

    deinit {
        scratch.deallocate()
    }

    /// Returns the page's part of SQLite's checksum: `pager_cksum` in pager.c.
    private func sum(_ page: UnsafeRawPointer) -> UInt32 {
        var sum: UInt32 = 0
        for offset in stride(from: pageSize - 200, to: 0, by: -200) {
            sum &+= UInt32(page.load(fromByteOffset: offset, as: UInt8.self))
        }
        return sum
    }

    private var lockPage: UInt32 { UInt32(0x4000_0000 / pageSize) + 1 }

    // MARK: - Writing

    override func write(_ source: UnsafeRawPointer, count: Int, at offset: Int64) -> Int32 {
        isOver()
        if count == 12, isDirty {
            // These are a header's magic number and its record count. With `synchronous = NORMAL`, SQLite flushes them
            // together with the records. A power failure could then store the count without the records, which would be
            // reported as damage.
            let code = sync(SQLITE_SYNC_NORMAL)
            guard code == SQLITE_OK else { return code }
        }
        isDirty = true
        switch writing {
        case .trailer(let start) where offset >= start && count <= 4096:
            return base.write(source, count: count, at: offset)
        case .page(let page, let place) where place == offset && count == pageSize:
            return writePage(source, page: page, at: offset)
        case .checksum(let delta, let place) where place == offset && count == 4:
            writing = .between
            return writeWord(UInt32(bigEndian: source.loadUnaligned(as: UInt32.self)) &+ delta, at: offset)
        default:
            break
        }
        writing = .between
        switch count {
        case 4 where offset >= Self.headerSize:
            let page = UInt32(bigEndian: source.loadUnaligned(as: UInt32.self))
            // The page that holds SQLite's locks is never journalled. Its number announces a super-journal's name.
            writing = page == lockPage ? .trailer(from: offset + 4) : .page(page, at: offset + 4)
            return base.write(source, count: 4, at: offset)
        case Self.headerSize where offset % Int64(Self.headerSize) == 0 && isHeader(source),
            12 where offset % Int64(Self.headerSize) == 0, 28 where offset == 0, 1:
            return base.write(source, count: count, at: offset)
        default:
            return context.refuse("writes", count: count, at: offset, in: "journal")
        }
    }

    /// Whether the bytes begin like a header: with the magic number, or with zeros until it is synced. The bytes after
    /// the fields are zeros or uninitialized memory, so only the fields are kept.
    private func isHeader(_ bytes: UnsafeRawPointer) -> Bool {
        let start = UnsafeRawBufferPointer(start: bytes, count: 8)
        return start.elementsEqual(Self.magic) || start.allSatisfy { $0 == 0 }
    }

    private func writePage(_ source: UnsafeRawPointer, page: UInt32, at offset: Int64) -> Int32 {
        do {
            try context.readyCodec().encrypt(source, page: page, into: scratch)
        } catch {
            return context.fail(error, code: SQLITE_IOERR_WRITE)
        }
        writing = .checksum(delta: sum(scratch) &- sum(source), at: offset + Int64(pageSize))
        return base.write(scratch, count: pageSize, at: offset)
    }

    private func writeWord(_ word: UInt32, at offset: Int64) -> Int32 {
        withUnsafeBytes(of: word.bigEndian) { bytes in
            guard let start = bytes.baseAddress else { return SQLITE_NOMEM }
            return base.write(start, count: 4, at: offset)
        }
    }

    private func readWord(at offset: Int64) -> UInt32? {
        var word: UInt32 = 0
        let code = withUnsafeMutableBytes(of: &word) { bytes in
            guard let start = bytes.baseAddress else { return SQLITE_NOMEM }
            return base.read(start, count: 4, at: offset)
        }
        return code == SQLITE_OK ? UInt32(bigEndian: word) : nil
    }

    // MARK: - Reading

    override func read(_ target: UnsafeMutableRawPointer, count: Int, at offset: Int64) -> Int32 {
        if count == pageSize, offset >= Self.headerSize + 4 { return readPage(target, at: offset) }
        let code = base.read(target, count: count, at: offset)
        guard code == SQLITE_OK else { return code }
        if count == 4, let reading, reading.offset == offset {
            let stored = UInt32(bigEndian: target.loadUnaligned(as: UInt32.self))
            let word = reading.expected ?? stored &+ reading.delta
            target.storeBytes(of: word.bigEndian, as: UInt32.self)
            self.reading = nil
        } else if count == 8, offset % Int64(Self.headerSize) == 0 {
            header = offset
        } else if count == 4, let header, offset == header + 8 {
            promised = (offset - 8, UInt32(bigEndian: target.loadUnaligned(as: UInt32.self)))
            return expectRecords()
        }
        return SQLITE_OK
    }

    /// Checks that the file is long enough for the records that a header promises.
    ///
    /// The records were flushed before the header counted them. SQLite reads the end of the file as the journal's end,
    /// and would roll back only part of a transaction.
    private func expectRecords() -> Int32 {
        guard let promised, promised.records != .max else { return SQLITE_OK }
        guard let size = base.size() else { return SQLITE_IOERR_FSTAT }
        let room = size - promised.header - Int64(Self.headerSize)
        if Int64(promised.records) * Int64(pageSize + 8) <= max(0, room) { return SQLITE_OK }
        context.entry.record(
            CipherError(
                .damagedFile, message: "The rollback journal is truncated: it lacks records that its header counts.",
                advice: "Restore a backup, or salvage the readable rows.", path: context.path + "-journal"),
            code: SQLITE_CORRUPT)
        return SQLITE_CORRUPT
    }

    private func readPage(_ target: UnsafeMutableRawPointer, at offset: Int64) -> Int32 {
        guard let page = readWord(at: offset - 4) else { return SQLITE_IOERR_SHORT_READ }
        let code = base.read(scratch, count: pageSize, at: offset)
        guard code == SQLITE_OK else { return code }
        reading = nil
        do {
            if try context.readyCodec().decrypt(scratch, page: page, into: target) {
                context.isProven = true
                let start = isPromised(offset) ? promised.flatMap { readWord(at: $0.header + 12) } : nil
                let plain = sum(target)
                reading = (offset + Int64(pageSize), plain &- sum(scratch), start.map { $0 &+ plain })
                return SQLITE_OK
            }
        } catch {
            return context.fail(error, code: SQLITE_IOERR_READ)
        }
        memset(target, 0, pageSize)
        // With a wrong key every record looks torn. Ending the journal there would destroy the database.
        if !context.isProven, let finding = context.main?.findingAboutKey(), finding.code != .damagedPage {
            context.entry.record(finding, code: SQLITE_NOTADB)
            return SQLITE_NOTADB
        }
        if isPromised(offset) { return context.damaged(page: page, place: "in the rollback journal") }
        // The record was never synced, so it may be torn, and the database is still unchanged. SQLite ends the journal
        // here, as for a torn record without encryption. Do not return zeros: an attacker that can write a journal can
        // write a matching checksum.
        return SQLITE_IOERR_SHORT_READ
    }

    /// Whether a synced header states that the record is complete. Pages of the database may then have been
    /// overwritten. Stopping at a damaged record would leave a mixture of old and new pages.
    private func isPromised(_ offset: Int64) -> Bool {
        guard let promised, promised.records != .max else { return false }
        let first = promised.header + Int64(Self.headerSize)
        let index = (offset - 4 - first) / Int64(pageSize + 8)
        return index >= 0 && index < Int64(promised.records)
    }

    override func sync(_ flags: Int32) -> Int32 {
        let code = base.sync(flags)
        if code == SQLITE_OK { isDirty = false }
        return code
    }

    override func truncate(_ size: Int64) -> Int32 {
        isOver()
        writing = .between
        return base.truncate(size)
    }

    override func close() -> Int32 {
        isOver()
        return base.close()
    }
}

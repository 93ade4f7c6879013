import Foundation
import GRDBSQLite

/// The rollback journal: headers in the clear, then records of a page number, the page as it was, and a checksum
/// (https://www.sqlite.org/fileformat2.html#the_rollback_journal).
///
/// The checksum is a sum of every 200th byte of plaintext. On disk it is that of ciphertext, as SQLCipher has it.
final class JournalFile: VFSFile {
    private static let headerSize = 512
    static let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]

    private enum Step: Equatable {
        case between
        case page(UInt32, at: Int64)
        case checksum(delta: UInt32, at: Int64)
        /// The name of a super-journal follows, to the journal's end.
        case trailer(from: Int64)
    }

    private let context: ConnectionContext
    private let pageSize: Int
    private let scratch: UnsafeMutableRawPointer
    private var writing = Step.between
    /// The checksum that SQLite will read next, and what to add to it; or, where the page proved authentic and its
    /// record is promised, the checksum that it must be. SQLite would take a wrong one for the journal's end.
    private var reading: (offset: Int64, delta: UInt32, expected: UInt32?)?
    /// Where a header's magic number was read; the number of its records comes next.
    private var header: Int64?
    /// The header of the records being read: where it lies, and how many records it promises.
    private var promised: (header: Int64, records: UInt32)?
    /// Whether anything was written that was not flushed.
    private var isDirty = false

    init(base: BaseFile, context: ConnectionContext) {
        self.context = context
        pageSize = context.pageSize
        scratch = .allocate(byteCount: context.pageSize, alignment: 16)
        super.init(base: base)
        context.journal = self
    }

    var size: Int64 { base.size() ?? 0 }

    /// A journal that is written to, cut or closed is not a hot one any more.
    private func isOver() { context.main?.isTakingBack = false }

    deinit {
        scratch.deallocate()
    }

    /// The part of SQLite's checksum that comes of the page: `pager_cksum` in its pager.c.
    private func sum(_ page: UnsafeRawPointer) -> UInt32 {
        var sum: UInt32 = 0
        for offset in stride(from: pageSize - 200, to: 0, by: -200) {
            sum &+= UInt32(page.load(fromByteOffset: offset, as: UInt8.self))
        }
        return sum
    }

    private var lockPage: UInt32 { UInt32(0x4000_0000 / pageSize) + 1 }

    // MARK: - Writing

    override func write(_ source: UnsafeRawPointer, _ count: Int, at offset: Int64) -> Int32 {
        isOver()
        if count == 12, isDirty {
            // A header's magic number and the number of its records. With `synchronous = NORMAL` SQLite flushes both at
            // once; then a power failure could leave a promise and not the records, and we would call that damage.
            let code = sync(SQLITE_SYNC_NORMAL)
            guard code == SQLITE_OK else { return code }
        }
        isDirty = true
        switch writing {
        case .trailer(let start) where offset >= start && count <= 4096:
            return base.write(source, count, at: offset)
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
            // The page that holds SQLite's locks is never journalled; its number announces a super-journal's name.
            writing = page == lockPage ? .trailer(from: offset + 4) : .page(page, at: offset + 4)
            return base.write(source, 4, at: offset)
        case Self.headerSize where offset % Int64(Self.headerSize) == 0 && isHeader(source),
            12 where offset % Int64(Self.headerSize) == 0, 28 where offset == 0, 1:
            return base.write(source, count, at: offset)
        default:
            return context.refuse("writes", count, at: offset, in: "journal")
        }
    }

    /// A header begins with the magic number, or with zeros until it is synced; what follows its fields is zeros or
    /// whatever memory held, so only its fields are kept.
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
        return base.write(scratch, pageSize, at: offset)
    }

    private func writeWord(_ word: UInt32, at offset: Int64) -> Int32 {
        withUnsafeBytes(of: word.bigEndian) { bytes in
            guard let start = bytes.baseAddress else { return SQLITE_NOMEM }
            return base.write(start, 4, at: offset)
        }
    }

    private func readWord(at offset: Int64) -> UInt32? {
        var word: UInt32 = 0
        let code = withUnsafeMutableBytes(of: &word) { bytes in
            guard let start = bytes.baseAddress else { return SQLITE_NOMEM }
            return base.read(start, 4, at: offset)
        }
        return code == SQLITE_OK ? UInt32(bigEndian: word) : nil
    }

    // MARK: - Reading

    override func read(_ target: UnsafeMutableRawPointer, _ count: Int, at offset: Int64) -> Int32 {
        if count == pageSize, offset >= Self.headerSize + 4 { return readPage(target, at: offset) }
        let code = base.read(target, count, at: offset)
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

    /// Whether the file is long enough for the records that a header promises.
    ///
    /// They were flushed before the header said so. SQLite takes the file's end for the journal's, and would roll back
    /// a part of a transaction.
    private func expectRecords() -> Int32 {
        guard let promised, promised.records != .max else { return SQLITE_OK }
        guard let size = base.size() else { return SQLITE_IOERR_FSTAT }
        let room = size - promised.header - Int64(Self.headerSize)
        if Int64(promised.records) * Int64(pageSize + 8) <= max(0, room) { return SQLITE_OK }
        context.entry.note(
            CipherError(
                .damagedFile, "The rollback journal was cut: records are missing that it says it has.",
                advice: "Restore a backup, or salvage what can still be read.", path: context.path + "-journal"),
            code: SQLITE_CORRUPT)
        return SQLITE_CORRUPT
    }

    private func readPage(_ target: UnsafeMutableRawPointer, at offset: Int64) -> Int32 {
        guard let page = readWord(at: offset - 4) else { return SQLITE_IOERR_SHORT_READ }
        let code = base.read(scratch, pageSize, at: offset)
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
        // With a wrong key every record looks torn; to end the journal for that would destroy the database.
        if !context.isProven, let finding = context.main?.findingAboutKey(), finding.code != .damagedPage {
            context.entry.note(finding, code: SQLITE_NOTADB)
            return SQLITE_NOTADB
        }
        if isPromised(offset) { return context.damaged(page: page, "in the rollback journal") }
        // Never synced, so it may be torn, and the database was not changed yet: SQLite ends the journal here, as it does
        // for a torn record without encryption. It must not be handed zeros: whoever can write a journal can write a
        // checksum that fits them.
        return SQLITE_IOERR_SHORT_READ
    }

    /// Whether a header that was synced says that the record is there whole. Then pages of the database may have been
    /// overwritten on its strength, and to stop at a damaged record would leave a mixture of old and new pages.
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

import Dispatch
import Foundation
import GRDBSQLite

/// Reads pages ahead when SQLite reads them one after another, and has them decrypted on another core meanwhile.
///
/// Two batches are held: the one that SQLite is in, and the one after it, which is read while SQLite is in the first.
/// A run begins with few pages, decrypted as they are wanted, so that a short scan pays nothing for pages it does not
/// reach; each further batch has twice as many, up to 256 KiB, and goes to a helper. Only the connection's thread reads
/// the file. It does not depend on the helper: a page that the helper has not begun it decrypts itself, and while the
/// helper is at the page that it wants, it decrypts the next.
///
/// Batches may be held only within one read transaction. There SQLite reads from the database file only pages that
/// nobody changes meanwhile: in a rollback journal mode its lock sees to that, and with a write-ahead log a checkpoint
/// writes only pages that this transaction takes from the log. So `forget()` is called whenever a transaction can begin
/// or end (a lock is taken or released, the log's header is read) and whenever this connection writes. A batch that is
/// forgotten while the helper has it is never used again: the helper drops it, and it is overwritten then.
///
/// What is held is plaintext, at most two batches, and is overwritten when it is forgotten.
final class ReadAhead {
    /// The bytes of a batch.
    static let batchSize = 256 << 10
    private static let firstCount = 8
    /// How far apart two pages may lie that still count as one after another: between the leaves of a tree lie pages of
    /// its inner levels.
    private static let gap: UInt32 = 4

    private let context: ConnectionContext
    private let pageSize: Int
    private let capacity: Int
    private let mayHaveHelper: Bool
    private var helper: Helper?
    private var current: PageBatch?
    private var next: PageBatch?
    private var spare: PageBatch?
    /// The page that was wanted last, and how many before it came one after another.
    private var last = UInt32.max
    private var run = 0
    /// The file's pages when the run began.
    private var end: UInt32 = 0

    init(context: ConnectionContext, mayHaveHelper: Bool = Helper.isUseful) {
        self.context = context
        self.mayHaveHelper = mayHaveHelper
        pageSize = context.pageSize
        capacity = max(2, Self.batchSize / context.pageSize)
    }

    deinit {
        current?.abandon()
        next?.abandon()
    }

    /// Drops all pages, and the run: what is read from here on is read anew.
    func forget() {
        last = .max
        guard current != nil || spare != nil else { return }
        let held = [current, next, spare].compactMap(\.self)
        (current, next, spare) = (nil, nil, nil)
        for batch in held {
            batch.abandon()
            // One that the helper still has goes, and is overwritten, when the helper lets go of it.
            if batch.isLent { continue }
            batch.wipe()
            spare = batch
        }
    }

    /// Gives a page's plaintext, if it is here or worth fetching with those that follow. If not, or if it is damaged,
    /// the page must be read by itself.
    func read(_ page: UInt32, into target: UnsafeMutableRawPointer, from base: BaseFile) -> Bool {
        defer { last = page }
        if let batch = next, batch.index(of: page) != nil {
            spare = current
            current = batch
            next = nil
        }
        if let batch = current, let index = batch.index(of: page) {
            return take(index, of: batch, to: target, from: base)
        }
        run = page > last && page - last <= Self.gap ? run + 1 : 0
        guard run >= 2, let batch = begin(at: page, from: base) else { return false }
        return take(0, of: batch, to: target, from: base)
    }

    private func take(
        _ index: Int, of batch: PageBatch, to target: UnsafeMutableRawPointer, from base: BaseFile
    ) -> Bool {
        guard let codec = try? context.readyCodec() else { return false }
        if next == nil, index >= batch.count / 4 { fetchNext(after: batch, from: base) }
        return batch.take(index, to: target, with: codec) {
            batch.decryptOne(from: index + 1, with: codec) || next?.decryptOne(from: 0, with: codec) == true
        }
    }

    private func begin(at page: UInt32, from base: BaseFile) -> PageBatch? {
        forget()
        guard let size = base.size() else { return nil }
        end = UInt32(clamping: size / Int64(pageSize))
        guard page < end else { return nil }
        let batch = unusedBatch()
        guard batch.fill(from: base, first: page, count: min(Self.firstCount, capacity, Int(end - page) + 1)) else {
            return nil
        }
        current = batch
        return batch
    }

    private func fetchNext(after batch: PageBatch, from base: BaseFile) {
        let first = batch.first + UInt32(batch.count)
        guard first <= end else { return }
        let fetched = unusedBatch()
        guard fetched.fill(from: base, first: first, count: min(batch.count * 2, capacity, Int(end - first) + 1))
        else { return }
        next = fetched
        if let helper = readyHelper() { helper.take(fetched) }
    }

    private func unusedBatch() -> PageBatch {
        defer { spare = nil }
        if let spare, !spare.isLent { return spare }
        return PageBatch(capacity: capacity, pageSize: pageSize)
    }

    /// The helper, with a codec of its own for the salt that the file has.
    private func readyHelper() -> Helper? {
        // After a fork there is one thread, and no queue to be had.
        guard mayHaveHelper, Fork.generation == 0, let salt = context.salt else { return nil }
        if let helper, helper.salt == salt { return helper }
        helper = (try? context.makeCodec()).map { Helper(codec: $0, salt: salt) }
        return helper
    }
}

/// Decrypts batches on another thread, one after another.
///
/// `@unchecked Sendable`: `codec`, the only part that is not, is used in blocks of a serial queue alone.
final class Helper: @unchecked Sendable {
    static let isUseful = ProcessInfo.processInfo.activeProcessorCount > 1

    let salt: [UInt8]
    private let codec: any PageCodec
    private let queue = DispatchQueue(label: "SQLiteCipher.ReadAhead", qos: .userInitiated)

    init(codec: any PageCodec, salt: [UInt8]) {
        self.codec = codec
        self.salt = salt
    }

    func take(_ batch: PageBatch) {
        batch.lend()
        queue.async { batch.work(self.codec) }
    }
}

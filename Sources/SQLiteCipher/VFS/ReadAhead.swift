import Foundation
import GRDBSQLite

/// Reads pages ahead when SQLite reads them one after another, and has them decrypted on another core meanwhile.
///
/// There are two batches: the one that SQLite is in, and the one after it, which is read while SQLite is in the first.
/// A run begins with few pages, decrypted as they are wanted, so that a short scan pays nothing for pages it does not
/// reach; each further batch has twice as many, up to 256 KiB, and goes to a helper. Only the connection's thread reads
/// the file. It does not depend on the helper: a page that the helper has not begun it decrypts itself, and while the
/// helper is at the page that it wants, it decrypts the next. The helper has one batch at a time; where it has no core
/// to run on, the connection's thread goes on without it.
///
/// Batches may be held only within one read transaction. There SQLite reads from the database file only pages that
/// nobody changes meanwhile: in a rollback journal mode its lock sees to that, and with a write-ahead log a checkpoint
/// writes only pages that this transaction takes from the log. So `forget()` is called whenever a transaction can begin
/// or end (a lock is taken or released, the log's header is read) and whenever this connection writes. A batch that the
/// helper has then is not used again until the helper has left it.
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
    /// All that there are, two at most.
    private var batches: [PageBatch] = []
    private var current: PageBatch?
    private var next: PageBatch?
    /// The page that was wanted last, and how many before it came one after another.
    private var last = UInt32.max
    private var run = 0
    /// The file's pages when the run began.
    private var end: UInt32 = 0

    init(context: ConnectionContext, mayHaveHelper: Bool = true) {
        self.context = context
        self.mayHaveHelper = mayHaveHelper
        pageSize = context.pageSize
        capacity = max(2, Self.batchSize / context.pageSize)
    }

    deinit {
        forget()
    }

    /// Drops all pages, and the run: what is read from here on is read anew.
    func forget() {
        last = .max
        guard current != nil else { return }
        current = nil
        next = nil
        for batch in batches { batch.abandon() }
    }

    /// Gives a page's plaintext, if it is here or worth fetching with those that follow. If not, or if it is damaged,
    /// the page must be read by itself.
    func read(_ page: UInt32, into target: UnsafeMutableRawPointer, from base: BaseFile) -> Bool {
        defer { last = page }
        if let batch = next, batch.index(of: page) != nil {
            current?.release()
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
        if let next, !next.wasLent, !batch.isLent { lend(next) }
        return batch.take(index, to: target, with: codec) {
            batch.decryptOne(from: index + 1, with: codec) || next?.decryptOne(from: 0, with: codec) == true
        }
    }

    /// Reads the first batch of a run, or goes on with a run whose next batch could not be read in time: the helper had
    /// not left the memory for it.
    private func begin(at page: UInt32, from base: BaseFile) -> PageBatch? {
        let goesOn = current.map { page >= $0.first && page - $0.first <= UInt32($0.count) + Self.gap } ?? false
        let count = goesOn ? capacity : Self.firstCount
        forget()
        guard let size = base.size() else { return nil }
        end = UInt32(clamping: size / Int64(pageSize))
        guard page < end, let batch = freeBatch(),
            batch.fill(from: base, first: page, count: min(count, capacity, Int(end - page) + 1))
        else { return nil }
        current = batch
        return batch
    }

    private func fetchNext(after batch: PageBatch, from base: BaseFile) {
        let first = batch.first + UInt32(batch.count)
        guard first <= end, let free = freeBatch(),
            free.fill(from: base, first: first, count: min(batch.count * 2, capacity, Int(end - first) + 1))
        else { return }
        next = free
    }

    private func freeBatch() -> PageBatch? {
        if let free = batches.first(where: { $0 !== current && !$0.isLent }) { return free }
        guard batches.count < 2 else { return nil }
        let batch = PageBatch(capacity: capacity, pageSize: pageSize)
        batches.append(batch)
        return batch
    }

    private func lend(_ batch: PageBatch) {
        if mayHaveHelper { context.readyHelper()?.take(batch) }
    }
}

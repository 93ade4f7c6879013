import Foundation
import GRDBSQLite

/// Read-ahead of pages when SQLite reads in sequence. Another core decrypts them in the meantime.
///
/// There are two batches: the current one, and the next one, which is read while SQLite uses the current one. A run
/// begins with few pages, which are decrypted on demand, so a short scan has no extra cost. Each further batch has
/// twice as many pages, up to 256 KiB, and goes to a worker. Only the connection's thread reads the file. It does not
/// depend on the worker. It decrypts each page that the worker has not begun. While it waits for the worker's page, it
/// decrypts the next one. The worker has one batch at a time. If the worker gets no core, the connection's thread
/// continues without it.
///
/// Batches are valid only within one read transaction. During it, no other connection changes the pages that SQLite
/// reads from the database file. In a rollback journal mode, SQLite's lock ensures that. With a write-ahead log, a
/// checkpoint writes only pages that this transaction reads from the log. `forget()` is therefore called whenever a
/// transaction can begin or end, and whenever this connection writes. A transaction can begin or end when a lock is
/// taken or released, or when the log's header is read. A batch that the worker has at that time is not used again
/// until the worker has left it.
///
/// At most two batches of plaintext exist, and they are overwritten when they are dropped.
final class ReadAhead {
    /// The size of a batch in bytes.
    static let batchSize = 256 << 10
    private static let firstCount = 8
    /// The maximum distance of two pages that still count as sequential. Interior pages lie between a tree's leaves.
    private static let gap: UInt32 = 4

    private let context: ConnectionContext
    private let pageSize: Int
    private let capacity: Int
    private let mayHaveWorker: Bool
    /// All batches, at most two.
    private var batches: [PageBatch] = []
    private var current: PageBatch?
    private var next: PageBatch?
    /// The page that was read last, and the number of sequential reads before it.
    private var last = UInt32.max
    private var run = 0
    /// The file's page count when the run began.
    private var end: UInt32 = 0

    init(context: ConnectionContext, mayHaveWorker: Bool = true) {
        self.context = context
        self.mayHaveWorker = mayHaveWorker
        pageSize = context.pageSize
        capacity = max(2, Self.batchSize / context.pageSize)
    }

    deinit {
        forget()
    }

    /// Drops all pages and ends the run. Later reads go to the file.
    func forget() {
        last = .max
        guard current != nil else { return }
        current = nil
        next = nil
        for batch in batches { batch.abandon() }
    }

    /// Copies a page's plaintext, if it is cached or worth fetching together with the following pages. If this returns
    /// `false`, the caller must read the page alone.
    func read(_ page: UInt32, into target: UnsafeMutableRawPointer, from base: BaseFile) -> Bool {
        defer { last = page }
        if let batch = next, batch.index(of: page) != nil {
            current?.release()
            current = batch
            next = nil
        }
        if let batch = current, let index = batch.index(of: page) {
            return copyPage(index, of: batch, to: target, from: base)
        }
        run = page > last && page - last <= Self.gap ? run + 1 : 0
        guard run >= 2, let batch = begin(at: page, from: base) else { return false }
        return copyPage(0, of: batch, to: target, from: base)
    }

    private func copyPage(
        _ index: Int, of batch: PageBatch, to target: UnsafeMutableRawPointer, from base: BaseFile
    ) -> Bool {
        guard let codec = try? context.readyCodec() else { return false }
        if next == nil, index >= batch.count / 4 { fetchNext(after: batch, from: base) }
        if let next, !next.wasLent, !batch.isLent { lend(next) }
        return batch.copyPage(index, to: target, with: codec) {
            batch.decryptOne(from: index + 1, with: codec) || next?.decryptOne(from: 0, with: codec) == true
        }
    }

    /// Reads the first batch of a run.
    ///
    /// It also continues a run whose next batch could not be read in time. In that case the worker had not left the
    /// memory.
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
        if mayHaveWorker { context.readyWorker()?.enqueue(batch) }
    }
}

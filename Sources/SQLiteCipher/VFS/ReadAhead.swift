import GRDBSQLite

/// Reads stored pages of the database in runs, when SQLite reads one after another: a scan then costs one system call
/// for sixteen pages. What it holds is ciphertext.
///
/// It may hold pages only within one read transaction. There SQLite reads from the database file only pages that nobody
/// changes meanwhile: in a rollback journal mode its lock sees to that, and with a write-ahead log a checkpoint writes
/// only pages that this transaction takes from the log. So `forget()` is called whenever a transaction can begin (a lock
/// is taken, the log's header is read) and whenever this connection writes.
final class ReadAhead {
    static let pages = 16
    private let pageSize: Int
    private var memory: UnsafeMutableRawPointer?
    private var start: Int64 = 0
    private var end: Int64 = 0
    private var expected: Int64 = -1
    private var run = 0

    init(pageSize: Int) {
        self.pageSize = pageSize
    }

    deinit {
        memory?.deallocate()
    }

    func forget() {
        end = start
        expected = -1
    }

    /// Where a page's stored bytes are, if they are here or worth fetching with those that follow.
    func page(at offset: Int64, from base: BaseFile) -> UnsafeRawPointer? {
        run = offset == expected ? run + 1 : 0
        expected = offset + Int64(pageSize)
        if offset >= start, offset + Int64(pageSize) <= end, let memory {
            return UnsafeRawPointer(memory + Int(offset - start))
        }
        guard run >= 2 else { return nil }
        let size = Self.pages * pageSize
        let target = memory ?? .allocate(byteCount: size, alignment: 4096)
        memory = target
        start = offset
        end = offset
        // At the file's end the run is shorter than asked for, and the pages are read one by one.
        guard base.read(target, size, at: offset) == SQLITE_OK else { return nil }
        end = offset + Int64(size)
        return UnsafeRawPointer(target)
    }
}

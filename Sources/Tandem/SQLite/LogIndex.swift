import GRDBSQLite
import Synchronization

/// A view of the write-ahead log's index, in the memory that SQLite shares with all processes that use the database.
///
/// SQLite writes a header in two copies, the second one first. A reader accepts the header only if both copies are
/// equal. A commit is therefore visible to readers only after the first copy has changed.
///
/// Proof of `@unchecked Sendable`: the memory is only read, and by atomic loads. The user of a view must stop before
/// the connection that it came from is closed, which unmaps the memory.
struct LogIndex: @unchecked Sendable {
    /// The two copies of the header, of six words each.
    private let words: UnsafeMutablePointer<Atomic<UInt64>>

    private static let copySize = 6
    /// The size of the parts in which SQLite maps an index.
    private static let regionSize: Int32 = 32_768

    fileprivate init(_ start: UnsafeMutableRawPointer) {
        words = start.assumingMemoryBound(to: Atomic<UInt64>.self)
    }

    /// Returns the header, or `nil` if a commit is changing it.
    func header() -> LogIndexHeader? {
        // A writer writes the second copy first. If the first one is new, the second one therefore is too.
        let header = copy(at: 0)
        guard header == copy(at: Self.copySize), header.isInitialized else { return nil }
        return header
    }

    /// Returns whether no commit has ended since a header was read.
    ///
    /// It reads only the first copy, which changes last. A commit that has ended before this call has changed it.
    @inline(__always)
    func holds(_ expected: LogIndexHeader.Words) -> Bool {
        words[0].load(ordering: .acquiring) == expected.0 && words[1].load(ordering: .acquiring) == expected.1
            && words[2].load(ordering: .acquiring) == expected.2 && words[3].load(ordering: .acquiring) == expected.3
            && words[4].load(ordering: .acquiring) == expected.4 && words[5].load(ordering: .acquiring) == expected.5
    }

    private func copy(at start: Int) -> LogIndexHeader {
        func word(_ index: Int) -> UInt64 { words[start + index].load(ordering: .acquiring) }
        return LogIndexHeader(words: (word(0), word(1), word(2), word(3), word(4), word(5)))
    }

    /// Maps the index through a connection's own file object, which may be SQLite's or SQLiteCipher's.
    ///
    /// The `-shm` file must not be opened another way: closing it would release SQLite's locks on it (POSIX).
    ///
    /// - Parameter acceptsReadOnly: Whether to map a read-only index too. SQLite may map such an index again, so use
    ///   the view immediately.
    static func map(_ sqlite: OpaquePointer, acceptsReadOnly: Bool = false) -> LogIndex? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(sqlite, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
            let methods = file.pointee.pMethods, methods.pointee.iVersion >= 2, let map = methods.pointee.xShmMap
        else { return nil }
        var start: UnsafeMutableRawPointer?
        let code = map(file, 0, regionSize, 0, &start)
        guard code == SQLITE_OK || acceptsReadOnly && code == SQLITE_READONLY, let start else { return nil }
        return LogIndex(start)
    }
}

extension Connection {
    /// Returns a view of the log's index, which is valid until this connection is closed.
    ///
    /// Returns `nil` if the database has no log, or if this process can't write to the index.
    func logIndex() throws -> LogIndex? {
        guard try value("PRAGMA journal_mode") == .text("wal") else { return nil }
        // SQLite maps the index in its first read transaction.
        _ = try value("PRAGMA data_version")
        return LogIndex.map(sqlite)
    }
}

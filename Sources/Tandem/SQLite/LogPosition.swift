import GRDBSQLite
import Synchronization

/// The end of a commit in the write-ahead log.
///
/// The log is only appended to, until it begins again with other salts. Salts and the number of a frame therefore
/// identify a committed state of the database for all time.
struct LogPosition: Sendable, Equatable {
    /// The eight bytes of the log's salts, as in the header of each frame.
    let salts: UInt64
    /// The number of the commit's last frame. It is 0 if the log is empty.
    let frame: UInt32
    /// The number of bytes of a page.
    let pageSize: Int

    func at(_ frame: UInt32) -> LogPosition { LogPosition(salts: salts, frame: frame, pageSize: pageSize) }

    /// Returns whether this position is known not to be after another one. Positions in logs with different salts can't
    /// be compared: an empty log may get random salts.
    func isUpTo(_ other: LogPosition) -> Bool { salts == other.salts && frame <= other.frame }

    /// The bytes that identify the position in a stored entry.
    var bytes: [UInt8] {
        withUnsafeBytes(of: salts) { Array($0) } + withUnsafeBytes(of: frame.littleEndian) { Array($0) }
    }
}

extension LogPosition {
    /// A header of the log's index: 12 words of 4 bytes.
    private typealias Header = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

    /// Reads the header of the log's index (https://www.sqlite.org/walformat.html), which all processes share in
    /// memory. Returns `nil` if a writer is changing it, or its format is unknown.
    ///
    /// There are two copies. A writer changes the second one first, and a reader reads it last.
    fileprivate init?(index: UnsafeRawPointer) {
        let header = index.loadUnaligned(as: Header.self)
        atomicMemoryFence(ordering: .acquiringAndReleasing)
        let second = index.loadUnaligned(fromByteOffset: MemoryLayout<Header>.size, as: Header.self)
        guard header == second else { return nil }
        let known: LogPosition? = withUnsafeBytes(of: header) { bytes in
            func word(_ number: Int) -> UInt32 { bytes.load(fromByteOffset: number * 4, as: UInt32.self) }
            var (sum, other): (UInt32, UInt32) = (0, 0)
            for number in stride(from: 0, to: 10, by: 2) {
                sum &+= word(number) &+ other
                other &+= word(number + 1) &+ sum
            }
            guard word(0) == 3_007_000, sum == word(10), other == word(11) else { return nil }
            let size = bytes.load(fromByteOffset: 14, as: UInt16.self)
            return LogPosition(
                salts: bytes.load(fromByteOffset: 32, as: UInt64.self), frame: word(4),
                pageSize: size == 1 ? 65_536 : Int(size))
        }
        guard let known else { return nil }
        self = known
    }
}

extension Connection {
    /// The end of the last commit of any process, or `nil` if it can't be determined.
    ///
    /// While this connection has the write lock, it is the state that the transaction began with. Otherwise another
    /// process may commit at any time. The connection must have read before, so that SQLite has opened the log.
    var logPosition: LogPosition? {
        // Without an open log there is no index, and asking for it would create one.
        guard file(SQLITE_FCNTL_JOURNAL_POINTER)?.pointee.pMethods != nil, let file = file(SQLITE_FCNTL_FILE_POINTER),
            let methods = file.pointee.pMethods, methods.pointee.iVersion >= 2, let map = methods.pointee.xShmMap
        else { return nil }
        var index: UnsafeMutableRawPointer?
        let code = map(file, 0, 32_768, 0, &index)
        guard code == SQLITE_OK || code == SQLITE_READONLY, let index else { return nil }
        for _ in 0..<100 {
            if let position = LogPosition(index: index) { return position }
        }
        return nil
    }

    private func file(_ control: Int32) -> UnsafeMutablePointer<sqlite3_file>? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        return sqlite3_file_control(sqlite, "main", control, &file) == SQLITE_OK ? file : nil
    }

    /// The number of pages that this connection has written to the log. A transaction that has written none commits
    /// nothing.
    var writtenPages: Int32 {
        var (current, highest): (Int32, Int32) = (0, 0)
        sqlite3_db_status(sqlite, SQLITE_DBSTATUS_CACHE_WRITE, &current, &highest, 0)
        return current
    }
}

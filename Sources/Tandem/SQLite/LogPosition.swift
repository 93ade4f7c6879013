import GRDBSQLite

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
    /// Creates the position that a header of the log's index describes. Returns `nil` if its format is unknown.
    fileprivate init?(_ header: LogIndexHeader) {
        let known: LogPosition? = withUnsafeBytes(of: header.words) { bytes in
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
        var log: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(sqlite, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) == SQLITE_OK,
            log?.pointee.pMethods != nil, let index = LogIndex.map(sqlite, acceptsReadOnly: true)
        else { return nil }
        for _ in 0..<100 {
            if let header = index.header(), let position = LogPosition(header) { return position }
        }
        return nil
    }

    /// The number of pages that this connection has written to the log. A transaction that has written none commits
    /// nothing.
    var writtenPages: Int32 {
        var (current, highest): (Int32, Int32) = (0, 0)
        sqlite3_db_status(sqlite, SQLITE_DBSTATUS_CACHE_WRITE, &current, &highest, 0)
        return current
    }
}

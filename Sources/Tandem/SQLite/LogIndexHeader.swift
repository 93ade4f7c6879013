/// The header of the write-ahead log's index (https://www.sqlite.org/walformat.html#the_wal_index_header). It
/// identifies a state of the database: each commit of any process changes it.
///
/// SQLite itself compares headers to decide whether its cached pages are valid. A header holds a count of the commits,
/// the log's salts, and the number of the log's last frame. It also holds the cumulative checksum of the frames.
struct LogIndexHeader: Equatable, Sendable {
    typealias Words = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

    let words: Words

    /// The number of commits since the index was created. The index has this machine's byte order.
    var commitCount: UInt32 { withUnsafeBytes(of: words) { $0.load(fromByteOffset: 8, as: UInt32.self) } }

    /// Whether SQLite has initialized the index.
    var isInitialized: Bool { withUnsafeBytes(of: words) { $0[12] } != 0 }

    static func == (one: LogIndexHeader, other: LogIndexHeader) -> Bool { one.words == other.words }
}
